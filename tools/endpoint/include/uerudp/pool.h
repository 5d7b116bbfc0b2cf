/* SPDX-License-Identifier: MIT */
/* Memory of endpoints: one region given at creation, from which blocks of any size are taken and given back in constant
   time: some tens of instructions for small ones of common sizes. Nothing else is ever allocated. */
#ifndef UERUDP_POOL_H
#define UERUDP_POOL_H

#include <stddef.h>
#include <stdint.h>

struct ue_pool;

/* Smallest region that ue_pool_init accepts. */
#define UE_POOL_BYTES_MIN 8192
/* What is larger is not used. */
#define UE_POOL_BYTES_MAX (UINT64_C(8) << 30)

/* Builds a pool inside a region of the caller, who keeps it until nothing of the pool is in use; NULL when the region
   is smaller than UE_POOL_BYTES_MIN. The region may begin at any address. */
struct ue_pool *ue_pool_init(void *region, size_t size_bytes);

/* Bytes for blocks, in use or not. */
size_t ue_pool_size_bytes(const struct ue_pool *pool);
/* Bytes in use, each block with its overhead; and the most that ever were. */
size_t ue_pool_used_bytes(const struct ue_pool *pool);
size_t ue_pool_peak_bytes(const struct ue_pool *pool);

/* What several shares use beyond their reserves. */
struct ue_share_group {
    struct ue_share_group *parent; /* counts it as well; NULL: none */
    size_t used_bytes;
    size_t limit_bytes;
};

/* One owner's share of a pool: what it has taken, and how much it may take. */
struct ue_share {
    struct ue_pool *pool;
    size_t used_bytes;
    size_t peak_bytes;
    size_t limit_bytes;
    size_t reserve_bytes;         /* that count in no group */
    struct ue_share_group *group; /* NULL: none */
    uint64_t refusals; /* requests that found no memory, or were above the limit */
};

/* In no group. */
void ue_share_init(struct ue_share *share, struct ue_pool *pool, size_t limit_bytes);

/* Moves a share to a group, which must outlive it, even beyond the group's limit; then it grows no more. What the
   reserves of all shares and the limits of all groups without parent sum up to must be less than the pool has: the pool
   itself does not look, and needs an eighth more for gaps between blocks. */
void ue_share_join(struct ue_share *share, size_t reserve_bytes, struct ue_share_group *group);

/* Bytes that the share may still take, if the pool has them. */
size_t ue_share_room_bytes(const struct ue_share *share);

/* A block of at least size_bytes, aligned to 8, contents undefined; NULL when the share's limit or the pool is
   exhausted. */
void *ue_share_alloc(struct ue_share *share, size_t size_bytes);

/* Grows or shrinks a block, moving it where needed; NULL, and the old block stays, when there is no room. A block that
   moves counts twice while it does. NULL: takes a new one. */
void *ue_share_resize(struct ue_share *share, void *memory, size_t size_bytes);

/* Gives a block back; NULL is ignored. */
void ue_share_free_block(struct ue_share *share, void *memory);

#endif
