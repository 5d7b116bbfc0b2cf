/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dissector. */
#ifndef UERUDP_PLUGIN_PACKET_UERUDP_H
#define UERUDP_PLUGIN_PACKET_UERUDP_H

#include <stdbool.h>
#include <stdint.h>

/* The two calls that Wireshark makes at start, in this order. */
void ue_packet_register(void);
void ue_packet_handoff(void);

/* Whether the port preference or Decode As gives this UDP port to us. */
bool ue_packet_port_is_ours(uint32_t port);

#endif
