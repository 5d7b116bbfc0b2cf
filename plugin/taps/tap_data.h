/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells the taps what is known of a datagram: what it says itself, and what its notes say. */
#ifndef UERUDP_PLUGIN_TAPS_TAP_DATA_H
#define UERUDP_PLUGIN_TAPS_TAP_DATA_H

#include "plugin/first_pass/conversation.h"

/* Costs nothing while nobody listens. */
void uerudp_tap_data_queue(tvbuff_t *tvb, packet_info *pinfo, const struct uerudp_frame_state *visit, const struct uerudp_captured_bytes *bytes);

#endif
