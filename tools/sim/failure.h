/* SPDX-License-Identifier: MIT */
/* The first failure of a run; later ones follow from it and are not kept. */
#ifndef UERUDP_TOOLS_SIM_FAILURE_H
#define UERUDP_TOOLS_SIM_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_FAILURE_TEXT_CHARS 200

struct sim_failure {
    bool is_set;
    uint64_t at_ns;
    char text[SIM_FAILURE_TEXT_CHARS];
};

/* The arguments are those of printf. */
void sim_failure_set(struct sim_failure *failure, uint64_t now_ns, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
