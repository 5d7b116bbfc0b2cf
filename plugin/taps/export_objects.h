/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole messages as files (--export-objects uerudp,DIR). */
#ifndef UERUDP_PLUGIN_TAPS_EXPORT_OBJECTS_H
#define UERUDP_PLUGIN_TAPS_EXPORT_OBJECTS_H

#include "plugin/taps/tap.h"

void ue_export_register(int proto);

/* As those of the taps. */
bool ue_export_is_wanted(void);
void ue_export_queue(packet_info *pinfo, const struct ue_tap_message *message);

#endif
