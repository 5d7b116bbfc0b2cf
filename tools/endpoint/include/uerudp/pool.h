/* SPDX-License-Identifier: MIT */
/* Memory of endpoints: one region of the caller, from which blocks of any size are allocated and freed in constant
   time. Nothing else is ever allocated. */
#ifndef UERUDP_POOL_H
#define UERUDP_POOL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ue_pool;

/* Smallest region that ue_pool_init accepts. */
#define UE_POOL_BYTES_MIN 8192
/* Bytes beyond this are not used. */
#define UE_POOL_BYTES_MAX (UINT64_C(8) << 30)

/* Creates a pool inside a region, which the caller owns and keeps until nothing of the pool is in use. The region may
   begin at any address. NULL: smaller than UE_POOL_BYTES_MIN. */
struct ue_pool *ue_pool_init(void *region, size_t size_bytes);

/* Bytes for blocks, used or free. */
size_t ue_pool_size_bytes(const struct ue_pool *pool);
/* Bytes in use, each block with its overhead; and their maximum so far. */
size_t ue_pool_used_bytes(const struct ue_pool *pool);
size_t ue_pool_peak_bytes(const struct ue_pool *pool);

/* Memory that several shares use above their reserves. */
struct ue_share_group {
    struct ue_share_group *parent; /* also counts it; NULL: none */
    size_t used_bytes;
    size_t limit_bytes;
};

/* The memory of one owner in a pool: what is in use, and its limit. */
struct ue_share {
    struct ue_pool *pool;
    size_t used_bytes;
    size_t peak_bytes;
    size_t limit_bytes;
    size_t reserve_bytes;         /* that no group counts */
    struct ue_share_group *group; /* NULL: none */
    uint64_t refusals;            /* allocations that failed: no memory, or above the limit */
};

/* The share belongs to no group. */
void ue_share_init(struct ue_share *share, struct ue_pool *pool, size_t limit_bytes);

/* Moves a share to a group, which must outlive it; above the group's limit it only cannot grow. The sum of all reserves
   and of the limits of groups without parent must be less than the pool's size: the pool does not check that, and needs
   an eighth more for gaps between blocks. */
void ue_share_join(struct ue_share *share, size_t reserve_bytes, struct ue_share_group *group);

/* Bytes that the share may still allocate, if the pool has them. */
size_t ue_share_room_bytes(const struct ue_share *share);

/* Allocates at least size_bytes, aligned to 8, uninitialised. NULL: the limit of the share or of the pool is reached.
 */
void *ue_share_alloc(struct ue_share *share, size_t size_bytes);

/* Grows or shrinks a block, moving it if needed; a block that moves counts twice meanwhile. memory NULL: allocates.
   NULL: no memory, and the old block stays. */
void *ue_share_resize(struct ue_share *share, void *memory, size_t size_bytes);

/* Frees a block; NULL is ignored. */
void ue_share_free_block(struct ue_share *share, void *memory);

#ifdef __cplusplus
}
#endif

#endif
