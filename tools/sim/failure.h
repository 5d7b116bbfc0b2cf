/* SPDX-License-Identifier: MIT */
/* The first thing that went wrong in a run; what follows from it is not kept. */
#ifndef UERUDP_TOOLS_SIM_FAILURE_H
#define UERUDP_TOOLS_SIM_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

#define UE_FAILURE_CHARS 200

struct ue_failure {
    bool is_set;
    uint64_t at_ns;
    char text[UE_FAILURE_CHARS];
};

/* printf. */
void ue_failure_set(struct ue_failure *failure, uint64_t now_ns, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
