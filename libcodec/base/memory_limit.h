/* SPDX-License-Identifier: MIT */
/* The caller's allocator with a limit on the number of bytes in use. */
#ifndef UERUDP_LIBCODEC_BASE_MEMORY_LIMIT_H
#define UERUDP_LIBCODEC_BASE_MEMORY_LIMIT_H

#include <uerudp/allocator.h>

struct ue_limited_allocator {
    struct ue_allocator allocator;
    size_t bytes;
    size_t bytes_max;
};

/* Resizes a block: old is NULL to allocate, new_bytes is 0 to free. Returns NULL, and leaves the old block unchanged,
   when the limit is reached or the allocator fails. */
static inline void *ue_limited_allocator_resize(struct ue_limited_allocator *limited, void *old, size_t old_bytes,
                                                size_t new_bytes) {
    if (limited->bytes - old_bytes + new_bytes > limited->bytes_max) {
        return NULL;
    }
    void *block = limited->allocator.resize(limited->allocator.user, old, new_bytes);
    if (block != NULL || new_bytes == 0) {
        limited->bytes += new_bytes - old_bytes;
    }
    return block;
}

#endif
