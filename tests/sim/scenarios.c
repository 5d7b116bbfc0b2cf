/* SPDX-License-Identifier: MIT */
#include "tests/sim/scenarios.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct sim_scenario scenario_named(const char *name) {
    const struct sim_scenario *scenario = sim_scenario_find(name);
    assert_non_null(scenario);
    return *scenario;
}

void scenario_set_paths(struct sim_scenario *scenario, const struct sim_link_config *path) {
    scenario->paths[UE_ROLE_CLIENT] = *path;
    scenario->paths[UE_ROLE_SERVER] = *path;
}
