/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dissector of protocol uerudp. */
#ifndef UERUDP_PLUGIN_PACKET_UERUDP_H
#define UERUDP_PLUGIN_PACKET_UERUDP_H

/* Wireshark's registration calls, in this order. */
void uerudp_packet_register(void);
void uerudp_packet_handoff(void);

#endif
