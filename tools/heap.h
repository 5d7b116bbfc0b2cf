/* SPDX-License-Identifier: MIT */
/* GLib's heap as the memory of trackers, reassemblies and package maps: the program ends when there is none left. */
#ifndef UE_HEAP_H
#define UE_HEAP_H

#include "libcodec/track.h"

extern const struct ue_track_memory ue_heap;

#endif
