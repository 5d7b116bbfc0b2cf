/* SPDX-License-Identifier: MIT */
/* Reliable bunches that arrived late: from their first copy to the copy that arrived. At the sender's end of a capture
   the verdicts tell (a packet was reported as not delivered, a later one with the same bunch as delivered); at the
   receiver's end the order tells (a bunch is missing while those behind it are there, spec 6.5.1). */
#ifndef UE_INFO_STALLS_H
#define UE_INFO_STALLS_H

#include <stdbool.h>

#include "libcodec/track.h"
#include "tools/info/findings.h"

#define UE_LOSSES_LISTED 4

/* A reliable bunch in a packet whose verdict is to come. */
struct ue_flying {
    int64_t packet_id;
    int64_t reliable_id;
    int64_t time_ns;
    uint64_t frame;
    uint32_t channel;
    uint32_t ch_seq;
};

/* A reliable bunch of which a copy was reported as not delivered, or several in a row that
   shared their packets. */
struct ue_overdue {
    int64_t first_id, reliable_id; /* the first and the last */
    int64_t first_ns;              /* the first copy */
    int64_t last_ns;               /* the last bad report */
    uint64_t first_frame;
    uint32_t channel;
    uint32_t first_seq, last_seq;
    unsigned losses;
    uint64_t frames[UE_LOSSES_LISTED];
    unsigned others; /* bunches elsewhere that were late by the same packets */
};

/* Reliable bunches that others overtook. */
struct ue_hole {
    unsigned side;
    uint32_t channel;
    int64_t from_id, to_id;
    uint32_t first_seq, last_seq, next_seq;
    uint64_t frame; /* the first behind them */
    int64_t time_ns;
    uint32_t open; /* not seen so far */
};

struct ue_stalls {
    uint32_t ch_seq_bound; /* of the connection */
    GArray *flying[2];     /* struct ue_flying by packet id, by sender; NULL: none so far */
    guint first[2];        /* in flying: those before it have their verdict */
    GArray *overdue[2];
    GArray *holes;

    bool has_group; /* bunches that arrived with the same packet */
    unsigned group_side;
    struct ue_overdue group;
    uint64_t arrived_frame;
    int64_t arrived_ns;
};

/* From how long on a late bunch counts as a stall: longer than one loss costs at this round trip (-1: unknown). */
int64_t ue_stall_threshold_ns(int64_t rtt_ns);

/* Feed events of type BUNCH, ACKED and NACKED. before: the highest reliable number that was seen on the bunch's channel
   before it, -1 for none. */
void ue_stalls_bunch(struct ue_stalls *stalls, const struct ue_track_event *event, int64_t before, int64_t rtt_ns,
                     struct ue_findings *findings);
void ue_stalls_verdict(struct ue_stalls *stalls, const struct ue_track_event *event, int64_t rtt_ns,
                       struct ue_findings *findings);

/* Says what is left at the end of the connection, and releases all. */
void ue_stalls_finish(struct ue_stalls *stalls, int64_t end_ns, int64_t rtt_ns, struct ue_findings *findings);

#endif
