/* SPDX-License-Identifier: MIT */
/* A file that a subcommand writes: it appears under its name only when it is complete. Until then it is a file of a name
   of its own beside it, which also goes when a signal ends the program. */
#ifndef UERUDP_TOOLS_CLI_OUTPUT_FILE_H
#define UERUDP_TOOLS_CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct output_file {
    FILE *file;
    char *path; /* NULL: standard output */
    char *part; /* written to, and renamed once all is well; NULL: standard output or a device */
    char *buffer;
};

/* Opens path, or standard output for NULL and "-"; false, with a message, when it cannot be written. */
bool output_file_open(struct output_file *output, const char *path);

/* Whether it would fill somebody's terminal with bytes. */
bool output_file_is_terminal(const struct output_file *output);

/* Ends the file. is_good false: what was there before stays there, and nothing new is left behind. Returns whether all
   is well: is_good, and everything was written; complains when the writing failed. */
bool output_file_close(struct output_file *output, bool is_good);

#endif
