/* SPDX-License-Identifier: MIT */
/* The command line of the accounting of bandwidth. */
#ifndef UERUDP_TOOLS_INFO_BANDWIDTH_OPTIONS_H
#define UERUDP_TOOLS_INFO_BANDWIDTH_OPTIONS_H

#include <glib.h>

#include "tools/info/budget.h"

#define INFO_BANDWIDTH_ROWS_TEXT 10

/* What rows are sorted by, the most first. */
enum info_bandwidth_order {
    INFO_BANDWIDTH_BY_TOTAL,  /* bits */
    INFO_BANDWIDTH_BY_PEAK,   /* bits of the busiest second */
    INFO_BANDWIDTH_BY_UPDATES /* updates per second and channel */
};

struct info_bandwidth_options {
    gboolean is_wanted;
    gboolean is_csv;
    const char *top_text; /* as on the command line; NULL: not given */
    int rows_max;         /* rows of each dimension; 0: INFO_BANDWIDTH_ROWS_TEXT as text, else all */
    enum info_bandwidth_order order;
    struct info_budgets budgets;
    int64_t bin_ns; /* of the series; 0: a second */
    bool is_apart;  /* not part of the JSON of the connection */
};

/* The options must stay where they are until the command line is parsed. resolve then checks them, and returns false
   after a message. */
void info_bandwidth_add_options(struct info_bandwidth_options *options, GOptionContext *context);
bool info_bandwidth_resolve(struct info_bandwidth_options *options, bool is_json);
void info_bandwidth_clear_options(struct info_bandwidth_options *options);

#endif
