/* SPDX-License-Identifier: MIT */
/* Reads a scenario from a text of sections and keys (uerudp-generate(1)). */
#ifndef UERUDP_TOOLS_GENERATE_SCENARIO_FILE_H
#define UERUDP_TOOLS_GENERATE_SCENARIO_FILE_H

#include <stdbool.h>

#include "tools/sim/scenario.h"

/* False, with a message that names file, section and key: something is unusable. Texts of the scenario live as long as
   the program. */
bool scenario_file_read(const char *path, struct sim_scenario *scenario);

#endif
