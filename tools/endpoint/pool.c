/* SPDX-License-Identifier: MIT */
/* Two-level segregated fit (Masmano et al. 2004), and in front of it small blocks kept as they are for the next request
   of their size. Sizes and places count in units of 8 bytes, places from the pool's own address, so that a block's head
   is 8 bytes and lists fit into the smallest block on every machine. */
#include <uerudp/pool.h>

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#define UNIT_BYTES 8
#define UNITS_MAX ((UINT32_C(1) << 30) - 1) /* of a region: 8 GiB */
#define BLOCK_UNITS_MIN 2                   /* head and link */
#define KEPT_UNITS_MAX 384
#define KEPT_MAX 256 /* blocks */

/* A row holds the classes of one power of two; the first row has the sizes below 16 units one by one. */
#define ROW_BITS 4
#define ROW_CLASSES (1u << ROW_BITS)
#define ROWS 27

struct link {
    uint32_t next; /* places; 0 = none, there lies the pool itself */
    uint32_t previous;
};

struct block {
    uint32_t units;             /* with this head; 0 behind the last block */
    uint32_t before_units : 30; /* of the block before in memory; 0 in the first block */
    uint32_t is_free : 1;       /* one with its neighbours, and found by its class */
    uint32_t is_kept : 1;       /* given back, but to its neighbours a used one */
    struct link link[];         /* one in a free or kept block; the owner's bytes in a used one */
};

struct ue_pool {
    uint64_t units; /* of all blocks */
    size_t used_bytes;
    size_t peak_bytes;
    uint32_t rows;       /* bit r: row r has a free block */
    uint32_t maps[ROWS]; /* bit c: class c of the row has one */
    uint32_t first[ROWS * ROW_CLASSES];
    uint32_t kept[KEPT_UNITS_MAX + 1]; /* by units */
    uint32_t kept_count;
};

_Static_assert(sizeof(struct block) == UNIT_BYTES, "one unit of overhead per block");
_Static_assert(sizeof(struct ue_pool) % UNIT_BYTES == 0, "blocks begin behind the pool");
_Static_assert(sizeof(struct ue_pool) <= UE_POOL_BYTES_MIN / 2, "the smallest region is of use");

static struct block *block_at(void *from, size_t units) {
    return (struct block *)((uint8_t *)from + units * UNIT_BYTES);
}

static struct block *block_after(struct block *block) {
    return block_at(block, block->units);
}

static void set_before(struct block *block, uint32_t units) {
    block->before_units = units & UNITS_MAX;
}

/* Of the first block: itself, which is not free while somebody asks. */
static struct block *block_before(struct block *block) {
    return (struct block *)((uint8_t *)block - (size_t)block->before_units * UNIT_BYTES);
}

static struct block *block_of(void *memory) {
    return (struct block *)((uint8_t *)memory - sizeof(struct block));
}

static uint32_t place_of(const struct ue_pool *pool, const struct block *block) {
    return (uint32_t)((size_t)((const uint8_t *)block - (const uint8_t *)pool) / UNIT_BYTES);
}

/* How many low bits of a size its class does not tell. */
static unsigned class_shift(uint32_t units) {
    return 31 - ROW_BITS - (unsigned)__builtin_clz(units | ROW_CLASSES);
}

static uint32_t class_of(uint32_t units) {
    unsigned shift = class_shift(units);
    return shift * ROW_CLASSES + (units >> shift);
}

static void list_insert(struct ue_pool *pool, struct block *block) {
    uint32_t class = class_of(block->units);
    uint32_t place = place_of(pool, block);
    uint32_t next = pool->first[class];
    block->is_free = true;
    *block->link = (struct link){next, 0};
    pool->first[class] = place;
    if (next != 0) {
        block_at(pool, next)->link->previous = place;
        return;
    }
    pool->maps[class / ROW_CLASSES] |= 1u << class % ROW_CLASSES;
    pool->rows |= 1u << class / ROW_CLASSES;
}

static void class_is_empty(struct ue_pool *pool, uint32_t class) {
    uint32_t row = class / ROW_CLASSES;
    pool->maps[row] &= ~(1u << class % ROW_CLASSES);
    if (pool->maps[row] == 0) {
        pool->rows &= ~(1u << row);
    }
}

static void list_remove(struct ue_pool *pool, struct block *block) {
    struct link link = *block->link;
    block->is_free = false;
    if (link.next != 0) {
        block_at(pool, link.next)->link->previous = link.previous;
    }
    if (link.previous != 0) {
        block_at(pool, link.previous)->link->next = link.next;
        return;
    }
    uint32_t class = class_of(block->units);
    pool->first[class] = link.next;
    if (link.next == 0) {
        class_is_empty(pool, class);
    }
}

/* A free block of at least so many units: the first of the lowest class in which all are large enough. */
static struct block *find(struct ue_pool *pool, uint32_t units) {
    uint32_t class = class_of(units + (1u << class_shift(units)) - 1);
    uint32_t row = class / ROW_CLASSES;
    uint32_t map = pool->maps[row] & ~0u << class % ROW_CLASSES;
    if (map == 0) {
        uint32_t rows = pool->rows & ~1u << row;
        if (rows == 0) {
            return NULL;
        }
        row = (uint32_t)__builtin_ctz(rows);
        map = pool->maps[row];
    }
    return block_at(pool, pool->first[row * ROW_CLASSES + (uint32_t)__builtin_ctz(map)]);
}

/* Makes a used block free and one with its free neighbours. */
static void release(struct ue_pool *pool, struct block *block) {
    struct block *before = block_before(block);
    struct block *after = block_after(block);
    if (after->is_free) {
        list_remove(pool, after);
        block->units += after->units;
    }
    if (before->is_free) {
        list_remove(pool, before);
        before->units += block->units;
        block = before;
    }
    set_before(block_after(block), block->units);
    list_insert(pool, block);
}

/* A kept block of exactly so many units. */
static struct block *take_kept(struct ue_pool *pool, uint32_t units) {
    uint32_t place = units <= KEPT_UNITS_MAX ? pool->kept[units] : 0;
    if (place == 0) {
        return NULL;
    }
    struct block *block = block_at(pool, place);
    block->is_kept = false;
    pool->kept[units] = block->link->next;
    pool->kept_count--;
    return block;
}

static void release_kept(struct ue_pool *pool) {
    for (uint32_t units = BLOCK_UNITS_MIN; pool->kept_count != 0; units++) {
        struct block *block;
        while ((block = take_kept(pool, units)) != NULL) {
            release(pool, block);
        }
    }
}

/* Takes a block back: a small one as it is, for as long as there are not too many. */
static void give(struct ue_pool *pool, struct block *block) {
    if (block->units > KEPT_UNITS_MAX) {
        release(pool, block);
        return;
    }
    if (pool->kept_count == KEPT_MAX) {
        release_kept(pool);
    }
    block->is_kept = true;
    block->link->next = pool->kept[block->units];
    pool->kept[block->units] = place_of(pool, block);
    pool->kept_count++;
}

/* Units that a request for `units` leaves to a block when it has `available`: a rest too small for a block stays. */
static uint32_t fit(uint32_t available, uint32_t units) {
    return available - units < BLOCK_UNITS_MIN ? available : units;
}

/* Frees what a used block has beyond `units`. */
static void cut(struct ue_pool *pool, struct block *block, uint32_t units) {
    uint32_t rest = block->units - units;
    if (rest == 0) {
        return;
    }
    block->units = units;
    struct block *tail = block_after(block);
    tail->units = rest;
    tail->is_free = false;
    tail->is_kept = false;
    set_before(tail, units);
    release(pool, tail);
}

/* Block size of a request; 0: larger than any pool. */
static uint32_t units_for(size_t size_bytes) {
    if (size_bytes / UNIT_BYTES >= UNITS_MAX / 2) {
        return 0;
    }
    uint32_t units = 1 + (uint32_t)((size_bytes + UNIT_BYTES - 1) / UNIT_BYTES);
    return units < BLOCK_UNITS_MIN ? BLOCK_UNITS_MIN : units;
}

static size_t beyond_reserve(const struct ue_share *share, size_t used_bytes) {
    return used_bytes > share->reserve_bytes ? used_bytes - share->reserve_bytes : 0;
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

/* Whether the share may have a block of `units` instead of one of `old_units`. */
static bool may_have(const struct ue_share *share, uint32_t units, uint32_t old_units) {
    size_t others = share->used_bytes - (size_t)old_units * UNIT_BYTES;
    if ((size_t)units * UNIT_BYTES > share->limit_bytes - others) {
        return false;
    }
    size_t before = beyond_reserve(share, share->used_bytes);
    size_t after = beyond_reserve(share, others + (size_t)units * UNIT_BYTES);
    return after <= before || may_grow(share, after - before);
}

/* Sums wrap when something shrinks, and wrap back. */
static void add_to_groups(struct ue_share_group *group, size_t growth_bytes) {
    for (; group != NULL; group = group->parent) {
        group->used_bytes += growth_bytes;
    }
}

static void account(struct ue_share *share, uint32_t units, uint32_t old_units) {
    struct ue_pool *pool = share->pool;
    size_t growth = ((size_t)units - old_units) * UNIT_BYTES; /* wraps when the block shrinks, and the sums wrap back */
    size_t used_bytes = share->used_bytes + growth;
    add_to_groups(share->group, beyond_reserve(share, used_bytes) - beyond_reserve(share, share->used_bytes));
    share->used_bytes = used_bytes;
    pool->used_bytes += growth;
    if (share->used_bytes > share->peak_bytes) {
        share->peak_bytes = share->used_bytes;
    }
    if (pool->used_bytes > pool->peak_bytes) {
        pool->peak_bytes = pool->used_bytes;
    }
}

struct ue_pool *ue_pool_init(void *region, size_t size_bytes) {
    if (size_bytes < UE_POOL_BYTES_MIN) {
        return NULL;
    }
    size_t skipped = (size_t)(-(uintptr_t)region % UNIT_BYTES);
    size_t units = (size_bytes - skipped) / UNIT_BYTES;
    size_t head_units = sizeof(struct ue_pool) / UNIT_BYTES;
    struct ue_pool *pool = (struct ue_pool *)((uint8_t *)region + skipped);
    memset(pool, 0, sizeof *pool);
    struct block *first = block_at(pool, head_units);
    first->units = (uint32_t)(units < UNITS_MAX ? units : UNITS_MAX) - (uint32_t)head_units - 1;
    first->before_units = 0;
    first->is_kept = false;
    struct block *end = block_after(first);
    end->units = 0;
    end->is_free = false;
    end->is_kept = false;
    set_before(end, first->units);
    list_insert(pool, first);
    pool->units = first->units;
    return pool;
}

size_t ue_pool_size_bytes(const struct ue_pool *pool) {
    return (size_t)pool->units * UNIT_BYTES;
}

size_t ue_pool_used_bytes(const struct ue_pool *pool) {
    return pool->used_bytes;
}

size_t ue_pool_peak_bytes(const struct ue_pool *pool) {
    return pool->peak_bytes;
}

void ue_share_init(struct ue_share *share, struct ue_pool *pool, size_t limit_bytes) {
    *share = (struct ue_share){.pool = pool, .limit_bytes = limit_bytes};
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

static void *refuse(struct ue_share *share) {
    share->refusals++;
    return NULL;
}

/* Takes a block cut from a free one. */
static __attribute__((noinline)) void *carve(struct ue_share *share, uint32_t units) {
    struct ue_pool *pool = share->pool;
    struct block *block = find(pool, units);
    if (block == NULL && pool->kept_count != 0) {
        release_kept(pool);
        block = find(pool, units);
    }
    if (block == NULL || !may_have(share, fit(block->units, units), 0)) {
        return refuse(share);
    }
    list_remove(pool, block);
    cut(pool, block, fit(block->units, units));
    account(share, block->units, 0);
    return block->link;
}

void *ue_share_alloc(struct ue_share *share, size_t size_bytes) {
    uint32_t units = units_for(size_bytes);
    if (units == 0 || !may_have(share, units, 0)) {
        return refuse(share);
    }
    struct block *block = take_kept(share->pool, units);
    if (block == NULL) {
        return carve(share, units);
    }
    account(share, units, 0);
    return block->link;
}

static void *move(struct ue_share *share, struct block *block, size_t size_bytes) {
    void *moved = ue_share_alloc(share, size_bytes);
    if (moved != NULL) {
        memcpy(moved, block->link, (size_t)(block->units - 1) * UNIT_BYTES);
        ue_share_free_block(share, block->link);
    }
    return moved;
}

void *ue_share_resize(struct ue_share *share, void *memory, size_t size_bytes) {
    if (memory == NULL) {
        return ue_share_alloc(share, size_bytes);
    }
    uint32_t units = units_for(size_bytes);
    struct block *block = block_of(memory);
    struct block *after = block_after(block);
    uint32_t old_units = block->units;
    uint32_t available = old_units + (after->is_free ? after->units : 0);
    if (units == 0 || !may_have(share, units, old_units)) {
        return refuse(share);
    }
    if (available < units || !may_have(share, fit(available, units), old_units)) {
        return move(share, block, size_bytes);
    }
    if (after->is_free) {
        list_remove(share->pool, after);
        block->units = available;
        set_before(block_after(block), available);
    }
    cut(share->pool, block, fit(available, units));
    account(share, block->units, old_units);
    return memory;
}

void ue_share_free_block(struct ue_share *share, void *memory) {
    if (memory == NULL) {
        return;
    }
    struct block *block = block_of(memory);
    assert(!block->is_free && !block->is_kept && share->used_bytes >= (size_t)block->units * UNIT_BYTES);
    account(share, 0, block->units);
    give(share->pool, block);
}
