/* SPDX-License-Identifier: MIT */
/* Memory of endpoints: what one owner allocates from the program's allocator, with a limit of its own and limits that
   it has in common with others. */
#ifndef UERUDP_TOOLS_ENDPOINT_BASE_MEMORY_SHARE_H
#define UERUDP_TOOLS_ENDPOINT_BASE_MEMORY_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uerudp/allocator.h>

/* Memory that several shares use above their reserves. */
struct ue_share_group {
    struct ue_share_group *parent; /* also counts it; NULL: none */
    size_t used_bytes;
    size_t limit_bytes;
};

/* The memory of one owner: what is in use, and its limit. */
struct ue_share {
    struct ue_allocator allocator;
    size_t used_bytes; /* each block with its overhead */
    size_t peak_bytes;
    size_t limit_bytes;
    size_t reserve_bytes;         /* that no group counts */
    struct ue_share_group *group; /* NULL: none */
    uint64_t refusals;            /* allocations that failed */
};

/* The share belongs to no group. It copies the allocator, whose user must outlive it; NULL: malloc. */
void ue_share_init(struct ue_share *share, const struct ue_allocator *allocator, size_t limit_bytes);

/* Moves a share to a group, which must outlive it; above the group's limit it only cannot grow. The sum of all reserves
   and of the limits of groups without parent is the most that all shares can use. */
void ue_share_join(struct ue_share *share, size_t reserve_bytes, struct ue_share_group *group);

/* Bytes that the share may still allocate, if the allocator has them. */
size_t ue_share_room_bytes(const struct ue_share *share);

/* Allocates a block, aligned to 8, uninitialised. NULL: a limit is reached, or the allocator failed. */
void *ue_share_alloc(struct ue_share *share, size_t size_bytes);

/* The same for `count` elements, which are zeros. NULL also: their size exceeds SIZE_MAX. */
void *ue_share_alloc_zeroed(struct ue_share *share, size_t count, size_t size_bytes);

/* Grows or shrinks a block, moving it if needed. memory NULL: allocates. NULL: no memory, and the old block stays. */
void *ue_share_resize(struct ue_share *share, void *memory, size_t size_bytes);

/* Frees a block; NULL is ignored. */
void ue_share_free_block(struct ue_share *share, void *memory);

/* Blocks that an owner frees and allocates all the time, of about one size: a few that were freed are kept for what is
   allocated next, because the allocator costs more. They count as used. */
struct ue_spares {
    void *first;
    uint32_t count;
    uint32_t max;
    bool is_in_use; /* a block was freed since the last tick */
};

/* As ue_share_alloc. */
void *ue_spares_alloc(struct ue_spares *spares, struct ue_share *share, size_t size_bytes);

/* Keeps the block, or frees it. */
void ue_spares_free(struct ue_spares *spares, struct ue_share *share, void *memory);

void ue_spares_free_all(struct ue_spares *spares, struct ue_share *share);

/* Frees all if no block was freed since the last tick. */
void ue_spares_tick(struct ue_spares *spares, struct ue_share *share);

#endif
