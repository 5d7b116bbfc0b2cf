/* SPDX-License-Identifier: MIT */
/* An allocator over the C library's heap that counts bytes and blocks, has a limit, and can fail at one
   allocation. */
#ifndef UERUDP_TESTS_SUPPORT_COUNTING_ALLOCATOR_H
#define UERUDP_TESTS_SUPPORT_COUNTING_ALLOCATOR_H

#include <uerudp/allocator.h>

#include <stddef.h>

struct counting_allocator {
    struct ue_allocator allocator;
    size_t limit_bytes; /* an allocation beyond it fails */
    size_t failing;     /* the number of the allocation that fails, from 1 on; 0: none */
    size_t allocations; /* blocks that were asked for, or asked to change their size */
    size_t used_bytes;
    size_t peak_bytes;
    size_t blocks;
};

/* The structure must not move afterwards. */
void counting_allocator_init(struct counting_allocator *counting, size_t limit_bytes);

#endif
