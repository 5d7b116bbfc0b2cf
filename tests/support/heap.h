/* SPDX-License-Identifier: MIT */
/* An allocator over the C library's heap, for tests that do not count memory. */
#ifndef UERUDP_TESTS_SUPPORT_HEAP_H
#define UERUDP_TESTS_SUPPORT_HEAP_H

#include <uerudp/packet_tracker.h>

extern const struct ue_allocator heap;

#endif
