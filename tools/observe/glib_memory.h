/* SPDX-License-Identifier: MIT */
/* GLib's heap as the memory of trackers, reassemblies and package maps: the program ends when there is none left. */
#ifndef UERUDP_TOOLS_OBSERVE_GLIB_MEMORY_H
#define UERUDP_TOOLS_OBSERVE_GLIB_MEMORY_H

#include <uerudp/packet_tracker.h>

extern const struct ue_allocator glib_memory;

#endif
