/* SPDX-License-Identifier: MIT */
/* Rewrites the expected lines of a script with what came. */
#ifndef UERUDP_TOOLS_SCRIPT_EXPECTATION_UPDATE_H
#define UERUDP_TOOLS_SCRIPT_EXPECTATION_UPDATE_H

#include "tools/script/player.h"

/* What came in one generation. */
struct script_generation_output {
    const struct script_generation *generation;
    GArray *records; /* struct script_command_output */
    bool is_new;     /* something else came than is expected, and is recorded */
};

GArray *script_command_outputs_new(void);

/* Writes the script's file anew; takes: an array of struct script_generation_output, of all generations of the script. Remarks and
   commands stay; lines that come in some generations only get their letters. False with a sentence in *problem, which
   the caller frees, and the file as it was. */
bool script_file_update(const struct script_file *script, const GArray *takes, char **problem);

#endif
