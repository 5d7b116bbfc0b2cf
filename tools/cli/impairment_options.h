/* SPDX-License-Identifier: MIT */
/* Options that impair a link: one table for link and generate. */
#ifndef UERUDP_TOOLS_CLI_IMPAIRMENT_OPTIONS_H
#define UERUDP_TOOLS_CLI_IMPAIRMENT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/sim/link.h"

enum impairment {
    IMPAIRMENT_LOSS,
    IMPAIRMENT_LOSS_BURST,
    IMPAIRMENT_CORRUPT,
    IMPAIRMENT_DUPLICATE,
    IMPAIRMENT_REORDER,
    IMPAIRMENT_RATE,
    IMPAIRMENT_QUEUE,
    IMPAIRMENT_DELAY,
    IMPAIRMENT_JITTER,
    IMPAIRMENT_COUNT
};

struct impairment_option {
    const char *name, *unit, *help;
    double max, min;
};

extern const struct impairment_option impairment_options[IMPAIRMENT_COUNT];

void impairment_options_apply(struct sim_link_config *path, enum impairment impairment, double value);

/* False, with a message: a value only changes another impairment, which none of the paths has. prefix: of the option's
   name, as "up-". */
bool impairment_options_check(const char *prefix, enum impairment impairment, double value,
                              const struct sim_link_config *const paths[], size_t path_count);

#endif
