/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scope of the capture file as the memory of the codec's trackers, reassemblies and package maps. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_FILE_ALLOCATOR_H
#define UERUDP_PLUGIN_FIRST_PASS_FILE_ALLOCATOR_H

#include <uerudp/packet_tracker.h>

void uerudp_file_allocator_register(void);

extern const struct ue_allocator uerudp_file_allocator;

#endif
