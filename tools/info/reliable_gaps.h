/* SPDX-License-Identifier: MIT */
/* Reliable bunches that arrived late, as their order tells behind the place where packets are lost: a bunch is missing
   while those behind it are there, and wait for it (endpoint.md 17.2). */
#ifndef UERUDP_TOOLS_INFO_RELIABLE_GAPS_H
#define UERUDP_TOOLS_INFO_RELIABLE_GAPS_H

#include <uerudp/packet_tracker.h>
#include "tools/info/finding_list.h"
#include "tools/info/histogram.h"

/* Reliable bunches that others overtook. */
struct info_gap {
    unsigned side;
    uint32_t channel;
    int64_t from_id, to_id;
    uint32_t first_seq, last_seq, next_seq;
    uint64_t frame; /* the first behind them */
    int64_t time_ns;
    uint32_t open; /* not seen so far */
};

struct info_gaps {
    const struct info_histogram *rtt; /* round trips so far, ns; set at the beginning, as the next two */
    struct info_findings *findings;   /* where to say it */
    uint32_t ch_seq_bound;          /* of the connection */
    GArray *array;                  /* struct info_gap; NULL: none so far */
};

/* Feed events of type BUNCH. before: the highest reliable number that was seen on the bunch's channel before it, -1 for
   none. */
void info_gaps_on_event(struct info_gaps *holes, const struct ue_tracker_event *event, int64_t before);

/* Says what is left at the end of the connection, and releases all. */
void info_gaps_finish(struct info_gaps *holes);

#endif
