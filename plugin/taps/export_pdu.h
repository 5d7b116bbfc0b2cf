/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole messages as packets of their own (Export PDUs, tshark -U "Unreal Engine messages"), which the dissector
   uerudp.message reads again. docs/wireshark.md has the form. */
#ifndef UERUDP_PLUGIN_TAPS_EXPORT_PDU_H
#define UERUDP_PLUGIN_TAPS_EXPORT_PDU_H

#include "plugin/taps/tap.h"

void uerudp_export_pdu_register(int proto);

/* As those of the taps. */
bool uerudp_export_pdu_is_wanted(void);
void uerudp_export_pdu_queue(packet_info *pinfo, const struct uerudp_tap_message *message);

#endif
