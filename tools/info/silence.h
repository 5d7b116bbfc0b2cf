/* SPDX-License-Identifier: MIT */
/* Silence of a side, and gaps in the acks of its packets. A live side sends a packet every 0.2 s (KeepAliveTime;
   endpoint.md 5). */
#ifndef UERUDP_TOOLS_INFO_SILENCE_H
#define UERUDP_TOOLS_INFO_SILENCE_H

#include <uerudp/packet_tracker.h>
#include "tools/info/finding_list.h"

struct info_silence_side {
    uint64_t packets;
    int64_t last_ns;
    uint64_t last_frame;
    uint64_t missing;      /* packet ids missing before the next packet */
    uint64_t peer_packets; /* packets of the other side since this side's last packet */
    int64_t newest_id;
    int64_t report_ns; /* last report about its packets; or its first packet, if none was waiting */
    uint64_t report_frame;
    bool is_waiting;                    /* packets are not reported yet */
    uint64_t peer_packets_since_report; /* packets of the other side since report_ns */

    uint64_t gap_frame; /* the packet that ends a gap between reports, while it is handled; 0: none */
    uint64_t gap_from_frame;
    uint64_t gap_nacked;
    int64_t gap_ns;
};

struct info_silence {
    struct info_silence_side sides[2];
};

/* Handles events of types MISSING, PACKET, ACKED and NACKED. */
void info_silence_on_event(struct info_silence *silence, const struct ue_tracker_event *event,
                           struct info_findings *findings);

/* How long a side had been silent at the other side's last packet; 0 if the side itself sent last. */
int64_t info_silence_at_end_ns(const struct info_silence *silence, unsigned side);

/* Reports what remains at the end of the connection; silence after a close is no finding. */
void info_silence_finish(struct info_silence *silence, bool is_closed, struct info_findings *findings);

#endif
