/* SPDX-License-Identifier: MIT */
/* What became of a script, for people and for programs. */
#ifndef UERUDP_TOOLS_SCRIPT_RESULT_H
#define UERUDP_TOOLS_SCRIPT_RESULT_H

#include "tools/script/player.h"

/* On stderr: file, line and column, what was expected, what came, and the field and bit; nothing when all came. */
void ue_verdict_complain(const struct ue_script *script, const struct ue_script_generation *generation,
                         const struct ue_play_end *end);

/* One JSON object on stdout, in either case. */
void ue_verdict_print(const struct ue_script *script, const struct ue_script_generation *generation,
                      const struct ue_play_end *end);

#endif
