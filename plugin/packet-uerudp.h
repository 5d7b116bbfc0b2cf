/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dissector of protocol uerudp. */
#ifndef UERUDP_PLUGIN_PACKET_UERUDP_H
#define UERUDP_PLUGIN_PACKET_UERUDP_H

#include <stdbool.h>
#include <stdint.h>

/* Wireshark's registration calls, in this order. */
void uerudp_packet_register(void);
void uerudp_packet_handoff(void);

/* Whether the port preference or Decode As assigns this UDP port to the dissector. */
bool uerudp_packet_is_our_port(uint32_t port);

#endif
