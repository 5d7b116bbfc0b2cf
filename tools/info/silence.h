/* SPDX-License-Identifier: MIT */
/* When a side said nothing, and when nothing was heard of what a side said. Ends that are alive send a packet each
   0.2 s (KeepAliveTime; endpoint.md 5). */
#ifndef UERUDP_TOOLS_INFO_SILENCE_H
#define UERUDP_TOOLS_INFO_SILENCE_H

#include <uerudp/packet_tracker.h>
#include "tools/info/finding_list.h"

#define INFO_SILENCE_MIN_NS INT64_C(500000000)
/* A side that is silent for so long until the end, while the other speaks, is gone. */
#define INFO_GONE_MIN_NS INT64_C(5000000000)

struct info_silence_side {
    uint64_t packets;
    int64_t last_ns;
    uint64_t last_frame;
    uint64_t missing; /* ids missing before the next packet */
    uint64_t heard;   /* packets of the other side since the last one */
    int64_t newest_id;
    int64_t verdict_ns; /* the last verdict on its packets, or the first packet when all had one */
    uint64_t verdict_frame;
    bool is_waiting;      /* packets are under way */
    uint64_t unanswering; /* packets of the other side since verdict_ns */

    uint64_t gap_frame; /* the packet that ends a gap in the verdicts, while it is read; 0: none */
    uint64_t gap_from_frame;
    uint64_t gap_nacked;
    int64_t gap_ns;
};

struct info_silence {
    struct info_silence_side voices[2];
};

/* Feed events of types MISSING, PACKET, ACKED and NACKED. */
void info_silence_on_event(struct info_silence *silence, const struct ue_tracker_event *event, struct info_findings *findings);

/* How long a side had been silent when the other spoke last; 0 when it spoke last itself. */
int64_t info_silence_at_end_ns(const struct info_silence *silence, unsigned side);

/* Says what is left at the end of the connection; silence behind a close is none. */
void info_silence_finish(struct info_silence *silence, bool is_closed, struct info_findings *findings);

#endif
