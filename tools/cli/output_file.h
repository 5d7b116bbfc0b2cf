/* SPDX-License-Identifier: MIT */
/* An output file that appears under its name only when it is complete. Until then it has a temporary name in the
   same folder, and is removed if a signal ends the program. */
#ifndef UERUDP_TOOLS_CLI_OUTPUT_FILE_H
#define UERUDP_TOOLS_CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct output_file {
    FILE *file;
    char *path; /* NULL: standard output */
    char *part; /* the temporary file, renamed at the end; NULL: standard output or a device */
    char *buffer;
};

/* Names the files that the command reads: no output may replace one of them. Call it before an output is opened; the
   paths must outlive the outputs. */
void output_file_protect(int path_count, char **paths);

/* Whether path is none of the protected files, also by another name; false after a message. */
bool output_file_is_allowed(const char *path);

/* Opens path, or standard output for NULL and "-"; false after a message if it cannot be written, or is
   protected. */
bool output_file_open(struct output_file *output, const char *path);

/* Whether the output is a terminal, which binary data would garble. */
bool output_file_is_terminal(const struct output_file *output);

/* Completes the file; is_good false discards it and keeps an older file of that name. Returns is_good if everything
   was written, else false after a message. */
bool output_file_close(struct output_file *output, bool is_good);

#endif
