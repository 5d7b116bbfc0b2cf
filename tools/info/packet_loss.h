/* SPDX-License-Identifier: MIT */
/* Packets that were lost, in percent, and packets that arrived out of order or twice. */
#ifndef UERUDP_TOOLS_INFO_PACKET_LOSS_H
#define UERUDP_TOOLS_INFO_PACKET_LOSS_H

struct info_connection;

/* Adds the findings on the packets of a side at the end of the capture. */
void info_loss_report(struct info_connection *info, unsigned side);

#endif
