/* SPDX-License-Identifier: MIT */
/* A script's text, and the generations for which it runs. */
#ifndef UERUDP_TOOLS_SCRIPT_SCRIPT_FILE_H
#define UERUDP_TOOLS_SCRIPT_SCRIPT_FILE_H

#include "tools/script/testbed.h"

#define SCRIPT_FILE_BYTES_MAX (1u << 20)
#define SCRIPT_LINE_BYTES_MAX 16384

/* Lines have no line ends and are valid UTF-8 without control characters. */
struct script_file {
    char *name; /* as given; "-" is standard input */
    char *text;
    GPtrArray *lines;
};

/* A generation for which a script runs: one of the acknowledgement machinery with the fixture of docs/script.md, or an
   engine release. */
struct script_generation {
    const char *name; /* static: "A", "B", "C", "L", or the release */
    char letter;      /* of its acks, as in "@AB" */
    struct script_testbed_config config;
};

/* NULL with a sentence in *problem, which the caller frees. */
struct script_file *script_file_read(const char *path, char **problem);
/* The same for a text in memory. */
struct script_file *script_file_parse(const char *name, const char *text, size_t size_bytes, char **problem);
void script_file_free(struct script_file *script);

/* Appends a generation by name to an array of struct script_generation; "all": each one that changed the wire format.
   False: unknown name. */
bool script_generation_add(GArray *generations, const char *name);

/* Appends the generations of the script's line "generation", if it has one. False with an error in *line (from 1). */
bool script_generation_add_declared(GArray *generations, const struct script_file *script, size_t *line, size_t *column,
                                    struct script_error *error);

/* Whether this is the line that script_generation_add_declared reads: the first of its kind. */
bool script_file_is_generation_line(const struct script_file *script, size_t line);

/* Applies "KEY=VALUE...", after an optional "C" or "S" for one side only: settings (protocol.md 18), limits, options.
   False with an error. */
bool script_config_parse(struct script_testbed_config *config, char *line, struct script_error *error);

#endif
