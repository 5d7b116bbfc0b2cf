/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exports messages as packets (Export PDUs, tshark -U "Unreal Engine messages"). The dissector uerudp.message decodes
   them; docs/wireshark.md describes the format. */
#ifndef UERUDP_PLUGIN_TAPS_EXPORT_PDU_H
#define UERUDP_PLUGIN_TAPS_EXPORT_PDU_H

#include "plugin/taps/tap.h"

void uerudp_export_pdu_register(int proto);

bool uerudp_export_pdu_is_wanted(void);
void uerudp_export_pdu_queue(packet_info *pinfo, const struct uerudp_tap_message *message);

#endif
