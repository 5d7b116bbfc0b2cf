/* SPDX-License-Identifier: MIT */
/* What became of a script, for people and for programs. */
#ifndef UERUDP_TOOLS_SCRIPT_RESULT_H
#define UERUDP_TOOLS_SCRIPT_RESULT_H

#include "tools/script/player.h"

/* On stderr: file, line and column, what was expected, what came, and the field and bit; nothing when all came. */
void script_result_print_error(const struct script_file *script, const struct script_generation *generation,
                         const struct script_result *end);

/* One JSON object on stdout, in either case. */
void script_result_print_json(const struct script_file *script, const struct script_generation *generation,
                      const struct script_result *end);

#endif
