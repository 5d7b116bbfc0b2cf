/* SPDX-License-Identifier: MIT */
/* The options that select datagrams. */
#ifndef UERUDP_TOOLS_INPUT_DATAGRAM_SELECTION_H
#define UERUDP_TOOLS_INPUT_DATAGRAM_SELECTION_H

#include "tools/cli/time_range.h"
#include "tools/input/capture_reader.h"

struct selection {
    GArray *streams;  /* see tools/rules/number_ranges.h; NULL: all */
    GArray *channels; /* NULL: all */
    int direction;    /* enum ue_direction; UE_DIRECTION_UNKNOWN: both */
    uint32_t kinds;   /* a mask, one of which must be present; 0: all */
    struct time_range range;
};

void selection_add_options(struct selection *selection, GOptionContext *context);
/* Only --stream, --from and --to, for subcommands that need both sides with all channels. */
void selection_add_stream_option(struct selection *selection, GOptionContext *context);
/* Whether it selects datagrams by connection and time only. */
bool selection_is_by_stream(const struct selection *selection);
void selection_clear(struct selection *selection);

/* begin_ns: capture time of the first packet. */
bool selection_matches(const struct selection *selection, const struct input_datagram *captured, int64_t begin_ns);

#endif
