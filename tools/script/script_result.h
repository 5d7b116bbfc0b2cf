/* SPDX-License-Identifier: MIT */
/* Prints the result of a script, as text or JSON. */
#ifndef UERUDP_TOOLS_SCRIPT_SCRIPT_RESULT_H
#define UERUDP_TOOLS_SCRIPT_SCRIPT_RESULT_H

#include "tools/script/player.h"

/* Prints on stderr: file, line and column, the expected text, the output, and the field and bit; nothing for a script
   that passed. */
void script_result_print_error(const struct script_file *script, const struct script_generation *generation,
                               const struct script_result *end);

/* Prints one JSON object on stdout, also for a script that passed. */
void script_result_print_json(const struct script_file *script, const struct script_generation *generation,
                              const struct script_result *end);

#endif
