/* SPDX-License-Identifier: MIT */
/* Rewrites the expected lines of a script with what came. */
#ifndef UERUDP_TOOLS_SCRIPT_EXPECTATION_UPDATE_H
#define UERUDP_TOOLS_SCRIPT_EXPECTATION_UPDATE_H

#include "tools/script/player.h"

/* What came in one generation. */
struct ue_take {
    const struct ue_script_generation *generation;
    GArray *records; /* struct ue_play_record */
    bool is_new;     /* something else came than is expected, and is recorded */
};

GArray *ue_records_new(void);

/* Writes the script's file anew; takes: an array of struct ue_take, of all generations of the script. Remarks and
   commands stay; lines that come in some generations only get their letters. False with a sentence in *problem, which
   the caller frees, and the file as it was. */
bool ue_script_update(const struct ue_script *script, const GArray *takes, char **problem);

#endif
