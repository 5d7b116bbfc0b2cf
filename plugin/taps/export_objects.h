/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saves messages as files: --export-objects uerudp,DIR. */
#ifndef UERUDP_PLUGIN_TAPS_EXPORT_OBJECTS_H
#define UERUDP_PLUGIN_TAPS_EXPORT_OBJECTS_H

#include "plugin/taps/tap.h"

void uerudp_export_objects_register(int proto);

bool uerudp_export_objects_is_wanted(void);
void uerudp_export_objects_queue(packet_info *pinfo, const struct uerudp_tap_message *message);

#endif
