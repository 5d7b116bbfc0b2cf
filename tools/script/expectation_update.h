/* SPDX-License-Identifier: MIT */
/* Rewrites the expected lines of a script with the output that came (--update). */
#ifndef UERUDP_TOOLS_SCRIPT_EXPECTATION_UPDATE_H
#define UERUDP_TOOLS_SCRIPT_EXPECTATION_UPDATE_H

#include "tools/script/player.h"

/* The output of one generation. */
struct script_generation_output {
    const struct script_generation *generation;
    GArray *records; /* struct script_command_output */
    bool is_new;     /* the output differs from the expectation, and is recorded */
};

GArray *script_command_outputs_new(void);

/* Writes the script's file. takes: an array of struct script_generation_output for all generations of the script.
   Comments and commands stay; lines of some generations only get their letters. False with a sentence in *problem,
   which the caller frees; the file is then unchanged. */
bool script_file_update(const struct script_file *script, const GArray *outputs, char **problem);

#endif
