/* SPDX-License-Identifier: MIT */
#include "libcodec/base/memory_limit.h"

void *ue_limited_allocator_resize(struct ue_limited_allocator *budget, void *old, size_t old_bytes, size_t new_bytes) {
    if (budget->bytes - old_bytes + new_bytes > budget->bytes_max) {
        return NULL;
    }
    void *block = budget->memory.resize(budget->memory.user, old, new_bytes);
    if (block != NULL || new_bytes == 0) {
        budget->bytes += new_bytes - old_bytes;
    }
    return block;
}
