/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/base/memory_share.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define UNIT_BYTES 8
#define SPARE_BYTES_MAX 2048

/* A block of the allocator begins with what the share counts for it, so that whoever frees it need not know its size.
 */
struct block {
    uint64_t counted_bytes;
    uint8_t bytes[];
};

static void *resize_with_malloc(void *user, void *old, size_t size_bytes) {
    (void)user;
    if (size_bytes != 0) {
        return old != NULL ? realloc(old, size_bytes) : malloc(size_bytes);
    }
    free(old);
    return NULL;
}

static struct block *block_of(void *memory) {
    return (struct block *)((uint8_t *)memory - offsetof(struct block, bytes));
}

/* What a share counts for a request; 0: larger than any memory. */
static size_t counted(size_t size_bytes) {
    return size_bytes < SIZE_MAX / 2 ? (sizeof(struct block) + size_bytes + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES
                                     : 0;
}

static size_t beyond_reserve(const struct ue_share *share, size_t used_bytes) {
    return used_bytes > share->reserve_bytes ? used_bytes - share->reserve_bytes : 0;
}

/* By how much more the share's groups count if the share uses so much; it wraps if they count less. */
static size_t growth_of_groups(const struct ue_share *share, size_t used_bytes) {
    return beyond_reserve(share, used_bytes) - beyond_reserve(share, share->used_bytes);
}

/* Whether the share's groups take so much more. */
static bool may_grow(const struct ue_share *share, size_t growth_bytes) {
    for (const struct ue_share_group *group = share->group; group != NULL; group = group->parent) {
        if (group->used_bytes > group->limit_bytes || growth_bytes > group->limit_bytes - group->used_bytes) {
            return false;
        }
    }
    return true;
}

static bool may_use(const struct ue_share *share, size_t used_bytes) {
    if (used_bytes > share->limit_bytes) {
        return false;
    }
    if (share->group == NULL || used_bytes <= share->used_bytes || used_bytes <= share->reserve_bytes) {
        return true;
    }
    return may_grow(share, growth_of_groups(share, used_bytes));
}

/* Sums wrap when something shrinks, and wrap back. */
static void add_to_groups(struct ue_share_group *group, size_t growth_bytes) {
    for (; group != NULL; group = group->parent) {
        group->used_bytes += growth_bytes;
    }
}

static void set_used(struct ue_share *share, size_t used_bytes) {
    if (share->group != NULL) {
        add_to_groups(share->group, growth_of_groups(share, used_bytes));
    }
    share->used_bytes = used_bytes;
    if (share->used_bytes > share->peak_bytes) {
        share->peak_bytes = share->used_bytes;
    }
}

void ue_share_init(struct ue_share *share, const struct ue_allocator *allocator, size_t limit_bytes) {
    static const struct ue_allocator with_malloc = {resize_with_malloc, NULL};
    *share = (struct ue_share){.allocator = allocator != NULL ? *allocator : with_malloc, .limit_bytes = limit_bytes};
}

void ue_share_join(struct ue_share *share, size_t reserve_bytes, struct ue_share_group *group) {
    add_to_groups(share->group, -beyond_reserve(share, share->used_bytes));
    share->reserve_bytes = reserve_bytes;
    share->group = group;
    add_to_groups(group, beyond_reserve(share, share->used_bytes));
}

size_t ue_share_room_bytes(const struct ue_share *share) {
    size_t room = share->limit_bytes > share->used_bytes ? share->limit_bytes - share->used_bytes : 0;
    size_t reserved = share->reserve_bytes > share->used_bytes ? share->reserve_bytes - share->used_bytes : 0;
    for (const struct ue_share_group *group = share->group; group != NULL; group = group->parent) {
        size_t left = group->limit_bytes > group->used_bytes ? group->limit_bytes - group->used_bytes : 0;
        room = reserved + left < room ? reserved + left : room;
    }
    return room;
}

void *ue_share_alloc(struct ue_share *share, size_t size_bytes) {
    return ue_share_resize(share, NULL, size_bytes);
}

void *ue_share_alloc_zeroed(struct ue_share *share, size_t count, size_t size_bytes) {
    size_t bytes;
    void *block = __builtin_mul_overflow(count, size_bytes, &bytes) ? NULL : ue_share_alloc(share, bytes);
    if (block != NULL) {
        memset(block, 0, bytes);
    }
    return block;
}

void *ue_share_resize(struct ue_share *share, void *memory, size_t size_bytes) {
    struct block *block = memory != NULL ? block_of(memory) : NULL;
    size_t bytes = counted(size_bytes);
    size_t used_bytes = share->used_bytes - (block != NULL ? (size_t)block->counted_bytes : 0) + bytes;
    bool may = bytes != 0 && may_use(share, used_bytes);
    block = may ? share->allocator.resize(share->allocator.user, block, bytes) : NULL;
    if (block == NULL) {
        share->refusals++;
        return NULL;
    }
    set_used(share, used_bytes);
    block->counted_bytes = bytes;
    return block->bytes;
}

void ue_share_free_block(struct ue_share *share, void *memory) {
    if (memory == NULL) {
        return;
    }
    struct block *block = block_of(memory);
    assert(share->used_bytes >= block->counted_bytes);
    set_used(share, share->used_bytes - (size_t)block->counted_bytes);
    share->allocator.resize(share->allocator.user, block, 0);
}

/* ---- spares: each begins with the address of the next one ---- */

static void *pop_spare(struct ue_spares *spares) {
    void *memory = spares->first;
    memcpy(&spares->first, memory, sizeof spares->first);
    spares->count--;
    return memory;
}

void *ue_spares_alloc(struct ue_spares *spares, struct ue_share *share, size_t size_bytes) {
    if (spares->first != NULL) {
        void *memory = pop_spare(spares);
        if (block_of(memory)->counted_bytes >= counted(size_bytes)) {
            return memory;
        }
        ue_share_free_block(share, memory);
    }
    return ue_share_alloc(share, size_bytes);
}

void ue_spares_free(struct ue_spares *spares, struct ue_share *share, void *memory) {
    spares->is_in_use = true;
    if (spares->count >= spares->max || block_of(memory)->counted_bytes > SPARE_BYTES_MAX) {
        ue_share_free_block(share, memory);
        return;
    }
    memcpy(memory, &spares->first, sizeof spares->first);
    spares->first = memory;
    spares->count++;
}

void ue_spares_free_all(struct ue_spares *spares, struct ue_share *share) {
    while (spares->first != NULL) {
        ue_share_free_block(share, pop_spare(spares));
    }
}

void ue_spares_tick(struct ue_spares *spares, struct ue_share *share) {
    if (!spares->is_in_use) {
        ue_spares_free_all(spares, share);
    }
    spares->is_in_use = false;
}
