/* SPDX-License-Identifier: MIT */
/* The memory that a caller passes in. */
#ifndef UERUDP_ALLOCATOR_H
#define UERUDP_ALLOCATOR_H

#include <stddef.h>

/* resize: as realloc; 0 bytes free the block; NULL: there is no memory, and what does not fit is not kept. */
struct ue_allocator {
    void *(*resize)(void *user, void *old, size_t size_bytes);
    void *user;
};

#endif
