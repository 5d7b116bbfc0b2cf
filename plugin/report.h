/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells the taps what is known of a datagram: what it says itself, and what its notes say. */
#ifndef UE_REPORT_H
#define UE_REPORT_H

#include "plugin/conversation.h"

/* Costs nothing while nobody listens. */
void ue_report_datagram(tvbuff_t *tvb, packet_info *pinfo, const struct ue_visit *visit, const struct ue_bytes *bytes);

#endif
