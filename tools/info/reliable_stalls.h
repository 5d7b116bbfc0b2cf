/* SPDX-License-Identifier: MIT */
/* Reliable bunches that arrived late, as verdicts tell where all packets are seen: from the first copy, whose packet
   was reported as not delivered, to the one that was reported as delivered. */
#ifndef UERUDP_TOOLS_INFO_RELIABLE_STALLS_H
#define UERUDP_TOOLS_INFO_RELIABLE_STALLS_H

#include <stdbool.h>

#include <uerudp/packet_tracker.h>
#include "tools/info/finding_list.h"
#include "tools/info/histogram.h"

#define INFO_STALL_LOSSES_LISTED 4

/* A reliable bunch in a packet whose verdict is to come. */
struct info_unacked_bunch {
    int64_t packet_id;
    int64_t reliable_id;
    int64_t time_ns;
    uint64_t frame;
    uint32_t channel;
    uint32_t ch_seq;
};

/* A reliable bunch of which a copy was reported as not delivered, or several in a row that
   shared their packets. */
struct info_overdue_bunch {
    int64_t first_id, reliable_id; /* the first and the last */
    int64_t first_ns;              /* the first copy */
    int64_t last_ns;               /* the last bad report */
    uint64_t first_frame;
    uint32_t channel;
    uint32_t first_seq, last_seq;
    unsigned losses;
    uint64_t frames[INFO_STALL_LOSSES_LISTED];
    unsigned others; /* bunches elsewhere that were late by the same packets */
};

struct info_stalls {
    const struct info_histogram *rtt; /* round trips so far, ns; set at the beginning, as the next */
    struct info_findings *findings;   /* where to say it */
    GArray *flying[2];              /* struct info_unacked_bunch by packet id, by sender; NULL: none so far */
    guint first[2];                 /* in flying: those before it have their verdict */
    GArray *overdue[2];

    bool has_group; /* bunches that arrived with the same packet */
    unsigned group_side;
    struct info_overdue_bunch group;
    uint64_t arrived_frame;
    int64_t arrived_ns;
};

/* Whether so late is a stall: longer than one loss costs, 100 ms and two round trips. */
bool info_stall_is_long(int64_t late_ns, const struct info_histogram *rtt);

/* Feed events of type BUNCH; ACKED and NACKED. */
void info_stalls_on_bunch(struct info_stalls *stalls, const struct ue_tracker_event *event);
void info_stalls_on_ack(struct info_stalls *stalls, const struct ue_tracker_event *event);

/* Says what is left at the end of the connection, and releases all. */
void info_stalls_finish(struct info_stalls *stalls, int64_t end_ns);

#endif
