/* SPDX-License-Identifier: MIT */
/* Reliable bunches that arrived late, found from their order at a capture point after the loss: a bunch is missing
   while later bunches are present and wait for it (endpoint.md 17.2). */
#ifndef UERUDP_TOOLS_INFO_RELIABLE_GAPS_H
#define UERUDP_TOOLS_INFO_RELIABLE_GAPS_H

#include <uerudp/packet_tracker.h>
#include "tools/info/finding_list.h"
#include "tools/info/histogram.h"

/* Missing reliable bunches of a channel. */
struct info_gap {
    unsigned side;
    uint32_t channel;
    int64_t from_id, to_id;
    uint32_t first_seq, last_seq, next_seq;
    uint64_t frame; /* the first frame after the gap */
    int64_t time_ns;
    uint32_t open; /* bunches still missing */
};

struct info_gaps {
    const struct info_histogram *rtt; /* round trip times in ns; set first, as are the next two */
    struct info_findings *findings;   /* receives the findings */
    uint32_t ch_seq_bound;            /* of the connection */
    GArray *array;                    /* struct info_gap; NULL: none yet */
};

/* Handles events of type BUNCH. before: the highest reliable sequence number of the channel before this bunch, -1
   for none. */
void info_gaps_on_event(struct info_gaps *gaps, const struct ue_tracker_event *event, int64_t before);

/* Reports the remaining gaps at the end of the connection and frees all. */
void info_gaps_finish(struct info_gaps *gaps);

#endif
