/* SPDX-License-Identifier: MIT */
/* Memory that a caller gives, up to a bound, and how much of it is in use. */
#ifndef UERUDP_LIBCODEC_BASE_MEMORY_LIMIT_H
#define UERUDP_LIBCODEC_BASE_MEMORY_LIMIT_H

#include <uerudp/allocator.h>

struct ue_limited_allocator {
    struct ue_allocator memory;
    size_t bytes;
    size_t bytes_max;
};

/* Resizes a block: old is NULL for a new one, new_bytes 0 gives back. NULL: there is no memory within the bound, and
   the old block stays. */
void *ue_limited_allocator_resize(struct ue_limited_allocator *budget, void *old, size_t old_bytes, size_t new_bytes);

#endif
