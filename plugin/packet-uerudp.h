/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dissector. */
#ifndef UERUDP_PLUGIN_PACKET_UERUDP_H
#define UERUDP_PLUGIN_PACKET_UERUDP_H

#include <stdbool.h>
#include <stdint.h>

/* The two calls that Wireshark makes at start, in this order. */
void uerudp_packet_register(void);
void uerudp_packet_handoff(void);

/* Whether the port preference or Decode As gives this UDP port to us. */
bool uerudp_packet_is_our_port(uint32_t port);

#endif
