/* SPDX-License-Identifier: MIT */
/* The options --from and --to: a part of a capture, by time or by frame. */
#ifndef UERUDP_TOOLS_CLI_TIME_RANGE_H
#define UERUDP_TOOLS_CLI_TIME_RANGE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum time_bound_kind {
    TIME_BOUND_NONE,
    TIME_BOUND_FRAME,
    TIME_BOUND_SINCE,       /* time since the first packet of the capture */
    TIME_BOUND_TIME_OF_DAY, /* UTC; the first such time that is not before the first packet */
    TIME_BOUND_TIME         /* since 1970 */
};

struct time_bound {
    enum time_bound_kind kind;
    uint64_t frame;
    int64_t ns;
};

/* Both bounds are inclusive. Zeroed: everything. */
struct time_range {
    struct time_bound from, to;
};

#define TIME_RANGE_FORMS "SECONDS|HH:MM:SS|frame:N"

/* Parses "12.5", "21:03:12.4", "2026-01-31T21:03:12Z" or "frame:1200". False: it is none of them. */
bool time_bound_parse(const char *text, struct time_bound *bound);

bool time_range_is_all(const struct time_range *range);

/* False: no packet can be in it. Bounds of different kinds are not compared. */
bool time_range_is_ordered(const struct time_range *range);

/* begin_ns: capture time of the first packet of the capture. */
bool time_range_contains(const struct time_range *range, int64_t begin_ns, uint64_t frame, int64_t time_ns);

#endif
