/* SPDX-License-Identifier: MIT */
/* Reliable bunches that arrived late, found from acks where the capture holds all packets: from the first
   transmission, whose packet was reported as not delivered, to the transmission that was acknowledged. */
#ifndef UERUDP_TOOLS_INFO_RELIABLE_STALLS_H
#define UERUDP_TOOLS_INFO_RELIABLE_STALLS_H

#include <stdbool.h>

#include <uerudp/packet_tracker.h>
#include "tools/info/finding_list.h"
#include "tools/info/histogram.h"

#define INFO_STALL_LOSSES_LISTED 4

/* A reliable bunch in a packet that is not acknowledged yet. */
struct info_unacked_bunch {
    int64_t packet_id;
    int64_t reliable_id;
    int64_t time_ns;
    uint64_t frame;
    uint32_t channel;
    uint32_t ch_seq;
};

/* A reliable bunch with a lost transmission, or consecutive ones that shared their packets. */
struct info_overdue_bunch {
    int64_t first_id, reliable_id; /* the first and the last bunch */
    int64_t first_ns;              /* of the first transmission */
    int64_t last_ns;               /* of the last report of loss */
    uint64_t first_frame;
    uint32_t channel;
    uint32_t first_seq, last_seq;
    unsigned losses;
    uint64_t frames[INFO_STALL_LOSSES_LISTED];
    unsigned others; /* bunches of other channels delayed by the same packets */
};

struct info_stalls {
    const struct info_histogram *rtt; /* round trip times in ns; set first, as is the next */
    struct info_findings *findings;   /* receives the findings */
    GArray *in_flight[2];             /* struct info_unacked_bunch by packet id, for each sender; NULL: none yet */
    guint first[2];                   /* index in flying of the first entry that is not acknowledged */
    GArray *overdue[2];

    bool has_group; /* bunches that arrived with the same packet */
    unsigned group_side;
    struct info_overdue_bunch group;
    uint64_t arrived_frame;
    int64_t arrived_ns;
};

/* Whether a delay is a stall: longer than one loss costs, than 100 ms and than two round trips. */
bool info_stall_is_long(int64_t late_ns, const struct info_histogram *rtt);

/* Handle events of type BUNCH, and of types ACKED and NACKED. */
void info_stalls_on_bunch(struct info_stalls *stalls, const struct ue_tracker_event *event);
void info_stalls_on_ack(struct info_stalls *stalls, const struct ue_tracker_event *event);

/* Reports the remaining bunches at the end of the connection and frees all. */
void info_stalls_finish(struct info_stalls *stalls, int64_t end_ns);

#endif
