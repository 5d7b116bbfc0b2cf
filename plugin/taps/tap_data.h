/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells the taps what is known of a datagram: what it says itself, and what its notes say. */
#ifndef UERUDP_PLUGIN_TAPS_TAP_DATA_H
#define UERUDP_PLUGIN_TAPS_TAP_DATA_H

#include "plugin/first_pass/conversation.h"

/* Costs nothing while nobody listens. */
void ue_report_datagram(tvbuff_t *tvb, packet_info *pinfo, const struct ue_visit *visit, const struct ue_bytes *bytes);

#endif
