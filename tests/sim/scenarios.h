/* SPDX-License-Identifier: MIT */
/* Copies of the simulator's scenarios that a test changes. */
#ifndef UERUDP_TESTS_SIM_SCENARIOS_H
#define UERUDP_TESTS_SIM_SCENARIOS_H

#include "tools/sim/sim.h"

/* A copy of the scenario with this name, which must exist. */
struct sim_scenario scenario_named(const char *name);

/* Sets the path of both directions. */
void scenario_set_paths(struct sim_scenario *scenario, const struct sim_link_config *path);

#endif
