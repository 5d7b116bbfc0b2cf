/* SPDX-License-Identifier: MIT */
/* Packets that were lost, in bursts and in percent, and packets that arrived out of order or twice. */
#ifndef UERUDP_TOOLS_INFO_PACKET_LOSS_H
#define UERUDP_TOOLS_INFO_PACKET_LOSS_H

#include <uerudp/packet_tracker.h>
#include "tools/info/finding_list.h"

/* For the packets of one side. */
struct info_loss_bursts {
    unsigned side;
    uint64_t count; /* packets of the current burst */
    uint64_t longest;
    int64_t last_id;
    uint64_t first_frame, last_frame; /* of packets in the capture; 0: none */
    uint64_t reported_frame;          /* frame of the first report */
};

/* Handles an event of type ACKED or NACKED about these packets. */
void info_loss_bursts_on_ack(struct info_loss_bursts *losses, const struct ue_tracker_event *event,
                             struct info_findings *findings);

void info_loss_bursts_finish(struct info_loss_bursts *losses, struct info_findings *findings);

struct info_connection;

/* Adds the findings on the packets of a side at the end of the capture. */
void info_loss_report(struct info_connection *info, unsigned side);

#endif
