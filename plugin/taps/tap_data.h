/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fills the taps with the data of a datagram: its content and its analysis results. */
#ifndef UERUDP_PLUGIN_TAPS_TAP_DATA_H
#define UERUDP_PLUGIN_TAPS_TAP_DATA_H

#include "plugin/first_pass/observer.h"

/* Returns at once if no tap has listeners. */
void uerudp_tap_data_queue(tvbuff_t *tvb, packet_info *pinfo, const struct uerudp_frame_state *state,
                           const struct uerudp_captured_bytes *bytes);

#endif
