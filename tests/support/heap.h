/* SPDX-License-Identifier: MIT */
/* The memory of the C library, for trackers and reassemblies whose memory no test counts. */
#ifndef UERUDP_TESTS_SUPPORT_HEAP_H
#define UERUDP_TESTS_SUPPORT_HEAP_H

#include <uerudp/packet_tracker.h>

extern const struct ue_allocator heap;

#endif
