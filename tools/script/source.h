/* SPDX-License-Identifier: MIT */
/* A script's text, and the generations that it is played in. */
#ifndef UE_SCRIPT_SOURCE_H
#define UE_SCRIPT_SOURCE_H

#include "tools/script/stage.h"

#define UE_SCRIPT_BYTES_MAX (4u << 20)

/* Lines are without their ends, valid UTF-8 without control characters. */
struct ue_script {
    char *name; /* as given; "-" is standard input */
    char *text;
    GPtrArray *lines;
};

/* What a script is played in: a generation of the ack machinery with the fixture of spec 6.20, or an engine release as
   it is. */
struct ue_script_generation {
    const char *name; /* "A", "B", "C", "L", or the release */
    char letter;      /* of its acks, as "@AB" has them */
    struct ue_stage_config config;
};

/* NULL with a sentence in *problem, which the caller frees. */
struct ue_script *ue_script_read(const char *path, char **problem);
/* The same of a text in memory. */
struct ue_script *ue_script_parse(const char *name, const char *text, size_t size_bytes, char **problem);
void ue_script_free(struct ue_script *script);

/* Appends the generation of that name to an array of struct ue_script_generation; false: there is none. name must
   outlive the array. */
bool ue_script_add_generation(GArray *generations, const char *name);

/* What stands behind the script's line "generation ", or NULL: A, B and C. */
const char *ue_script_generations(const struct ue_script *script);

/* Applies "KEY=VALUE...", perhaps behind "C" or "S" for one side only: settings (fields.md), limits, options. False
   with a mistake. */
bool ue_script_configure(struct ue_stage_config *config, char *line, struct ue_mistake *mistake);

/* The keys besides those of settings; NULL behind the last. */
const char *ue_script_key_at(size_t index);

#endif
