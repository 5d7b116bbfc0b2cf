/* SPDX-License-Identifier: MIT */
/* A script's text, and the generations that it is played in. */
#ifndef UERUDP_TOOLS_SCRIPT_SCRIPT_FILE_H
#define UERUDP_TOOLS_SCRIPT_SCRIPT_FILE_H

#include "tools/script/testbed.h"

#define SCRIPT_FILE_BYTES_MAX (1u << 20)
#define SCRIPT_LINE_BYTES_MAX 16384

/* Lines are without their ends, valid UTF-8 without control characters. */
struct script_file {
    char *name; /* as given; "-" is standard input */
    char *text;
    GPtrArray *lines;
};

/* What a script is played in: a generation of the ack machinery with the fixture of docs/script.md, or an engine release as
   it is. */
struct script_generation {
    const char *name; /* static: "A", "B", "C", "L", or the release */
    char letter;      /* of its acks, as "@AB" has them */
    struct script_testbed_config config;
};

/* NULL with a sentence in *problem, which the caller frees. */
struct script_file *script_file_read(const char *path, char **problem);
/* The same of a text in memory. */
struct script_file *script_file_parse(const char *name, const char *text, size_t size_bytes, char **problem);
void script_file_free(struct script_file *script);

/* Appends the generation of that name to an array of struct script_generation, or for "all" each that changed the
   wire; false: there is none. */
bool script_generation_add(GArray *generations, const char *name);

/* Appends those of the script's line "generation"; none where there is no such line. False with a mistake in *line
   (from 1). */
bool script_generation_add_declared(GArray *generations, const struct script_file *script, size_t *line, size_t *column,
                                   struct script_error *mistake);

/* Whether a line is the one that the function above reads: the first of its kind. */
bool script_file_is_generation_line(const struct script_file *script, size_t line);

/* Applies "KEY=VALUE...", perhaps behind "C" or "S" for one side only: settings (protocol.md 18), limits, options.
   False with a mistake. */
bool script_config_parse(struct script_testbed_config *config, char *line, struct script_error *mistake);

#endif
