/* SPDX-License-Identifier: MIT */
/* The memory of the C library, for trackers and reassemblies whose memory no test counts. */
#ifndef UE_TESTS_HEAP_H
#define UE_TESTS_HEAP_H

#include "libcodec/track.h"

extern const struct ue_track_memory heap;

#endif
