/* SPDX-License-Identifier: MIT */
/* The pool against a model of every block and its contents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/pool.h>
#include "tests/support/rng.h"
#include "tests/support/within.h"

#define REGION_BYTES ((size_t)256 * 1024)
#define BLOCKS 512
#define UNLIMITED SIZE_MAX

/* The region is allocated on its own, so that the sanitizer finds accesses beyond either end. */
struct pool_fixture {
    uint8_t *region;
    struct ue_pool *pool;
};

static int set_up(void **state) {
    struct pool_fixture *f = malloc(sizeof *f);
    if (f == NULL || (f->region = malloc(REGION_BYTES)) == NULL) {
        free(f);
        return -1;
    }
    f->pool = ue_pool_init(f->region, REGION_BYTES);
    *state = f;
    return f->pool != NULL ? 0 : -1;
}

static int tear_down(void **state) {
    struct pool_fixture *f = *state;
    int leaked = ue_pool_used_bytes(f->pool) != 0;
    free(f->region);
    free(f);
    return leaked ? -1 : 0;
}

/* Size of the largest block that can be allocated now. */
static size_t largest(struct ue_share *share) {
    size_t fits = 0;
    for (size_t step = REGION_BYTES; step > 0; step /= 2) {
        void *block = ue_share_alloc(share, fits + step);
        fits += block != NULL ? step : 0;
        ue_share_free_block(share, block);
    }
    return fits;
}

struct block_model {
    uint8_t *bytes;
    size_t size_bytes;
    uint8_t pattern;
    struct ue_share *share;
};

static void check_block(const struct block_model *s) {
    for (size_t i = 0; i < s->size_bytes; i++) {
        assert_int_equal(s->bytes[i], s->pattern);
    }
}

static void fill_block(struct block_model *s, size_t size_bytes, uint8_t pattern) {
    assert_int_equal((uintptr_t)s->bytes % 8, 0);
    s->size_bytes = size_bytes;
    s->pattern = pattern;
    memset(s->bytes, pattern, size_bytes);
}

static void free_block(struct block_model *s) {
    check_block(s);
    ue_share_free_block(s->share, s->bytes);
    *s = (struct block_model){0};
}

/* Allocates a block or resizes it; the old contents that fit must survive. */
static void resize_block(struct block_model *s, struct ue_share *share, size_t size_bytes, uint8_t pattern) {
    size_t used_bytes = share->used_bytes;
    uint8_t *bytes = ue_share_resize(share, s->bytes, size_bytes);
    if (bytes == NULL) {
        assert_true(share->used_bytes == used_bytes);
        return;
    }
    s->bytes = bytes;
    s->share = share;
    s->size_bytes = size_bytes < s->size_bytes ? size_bytes : s->size_bytes;
    check_block(s);
    fill_block(s, size_bytes, pattern);
}

/* Each block uses its size rounded up to 8, a header of 8 bytes, and at most 8 bytes of padding. */
static void assert_used_bytes(const struct block_model *blocks, const struct ue_share *share) {
    size_t least = 0;
    size_t most = 0;
    for (size_t i = 0; i < BLOCKS; i++) {
        if (blocks[i].share == share) {
            size_t size_bytes = blocks[i].size_bytes < 8 ? 8 : (blocks[i].size_bytes + 7) / 8 * 8;
            least += size_bytes + 8;
            most += size_bytes + 16;
        }
    }
    assert_true(is_within(share->used_bytes, least, most));
}

static size_t random_size(struct rng *rng) {
    return rng_below(rng, UINT64_C(1) << rng_below(rng, 15));
}

static void random_use_preserves_every_byte(void **state) {
    struct pool_fixture *f = *state;
    struct rng rng = rng_seeded("random_use_preserves_every_byte");
    struct ue_share shares[2];
    static struct block_model blocks[BLOCKS];
    memset(blocks, 0, sizeof blocks);
    ue_share_init(&shares[0], f->pool, UNLIMITED);
    ue_share_init(&shares[1], f->pool, REGION_BYTES / 4);
    size_t whole = largest(&shares[0]);
    uint64_t rounds = rng_rounds(200000);
    for (uint64_t i = 0; i < rounds; i++) {
        struct block_model *s = &blocks[rng_below(&rng, BLOCKS)];
        if (s->bytes != NULL && rng_chance(&rng, 55)) {
            free_block(s);
        } else {
            struct ue_share *share = s->bytes != NULL ? s->share : &shares[rng_below(&rng, 2)];
            resize_block(s, share, random_size(&rng), (uint8_t)rng_next(&rng));
        }
        assert_true(ue_pool_used_bytes(f->pool) == shares[0].used_bytes + shares[1].used_bytes);
        assert_true(shares[1].used_bytes <= shares[1].limit_bytes);
        if (i % 4096 == 0) {
            assert_used_bytes(blocks, &shares[0]);
            assert_used_bytes(blocks, &shares[1]);
        }
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        if (blocks[i].bytes != NULL) {
            free_block(&blocks[i]);
        }
    }
    assert_true(largest(&shares[0]) == whole);
    assert_true(shares[1].peak_bytes > REGION_BYTES / 8 && shares[1].peak_bytes <= shares[1].limit_bytes);
    assert_true(ue_pool_peak_bytes(f->pool) >= shares[1].peak_bytes);
}

static void a_freed_pool_has_all_its_memory_again(void **state) {
    struct pool_fixture *f = *state;
    struct ue_share share;
    ue_share_init(&share, f->pool, UNLIMITED);
    size_t whole = largest(&share);
    assert_true(whole > REGION_BYTES - REGION_BYTES / 16);
    static void *blocks[REGION_BYTES / 32];
    size_t count = 0;
    while ((blocks[count] = ue_share_alloc(&share, 24)) != NULL) {
        count++;
    }
    assert_true(is_within(share.used_bytes, count * 32,
                          count * 32 + 8)); /* 8 bytes of header each; padding too small for a block */
    assert_true(count > (REGION_BYTES - 8192) / 32);
    assert_null(ue_share_alloc(&share, 1000));
    assert_null(ue_share_resize(&share, blocks[0], 1000));
    for (size_t i = 0; i < count; i += 2) { /* every second block is free, but no larger block fits */
        ue_share_free_block(&share, blocks[i]);
    }
    assert_null(ue_share_alloc(&share, 1000));
    for (size_t i = 1; i < count; i += 2) {
        ue_share_free_block(&share, blocks[i]);
    }
    assert_true(share.used_bytes == 0 && is_within(share.peak_bytes, count * 32, count * 32 + 8));
    assert_true(largest(&share) == whole);
}

/* A reserve is available whatever other owners allocate; beyond it, each group and its parent have limits of their
   own. */
static void a_reserve_is_available_to_its_owner_only(void **state) {
    struct pool_fixture *f = *state;
    static const size_t capacity_bytes[] = {4096, 1024, 2048};
    struct ue_share_group all = {.limit_bytes = 4096};
    struct ue_share_group groups[2] = {{.parent = &all, .limit_bytes = 3072}, {.parent = &all, .limit_bytes = 3072}};
    struct ue_share shares[3];
    void *blocks[3][64] = {{0}};
    for (size_t i = 0; i < 3; i++) {
        ue_share_init(&shares[i], f->pool, 8192);
        ue_share_join(&shares[i], 1024, &groups[i / 2]);
        assert_int_equal(ue_share_room_bytes(&shares[i]), capacity_bytes[i]);
        for (size_t n = 0; n < 64 && (blocks[i][n] = ue_share_alloc(&shares[i], 248)) != NULL; n++) {
        }
    }
    assert_int_equal(shares[0].used_bytes, 1024 + 3072);
    assert_int_equal(shares[1].used_bytes, 1024);
    assert_int_equal(shares[2].used_bytes, 1024 + 1024);
    assert_int_equal(ue_share_room_bytes(&shares[1]), 0);
    ue_share_free_block(&shares[1], blocks[1][0]);
    assert_int_equal(ue_share_room_bytes(&shares[1]), 256);
    assert_int_equal(all.used_bytes, 4096);
    blocks[1][0] = ue_share_alloc(&shares[1], 248);
    assert_non_null(blocks[1][0]);
    ue_share_join(&shares[2], 1024, &groups[0]); /* beyond the limit; the group's use does not grow further */
    assert_int_equal(groups[0].used_bytes, 4096);
    assert_null(ue_share_resize(&shares[2], blocks[2][0], 504));
    ue_share_join(&shares[2], 2048, &groups[0]);
    assert_int_equal(all.used_bytes, 3072);
    for (size_t i = 0; i < 3; i++) {
        for (size_t n = 0; n < 64; n++) {
            ue_share_free_block(&shares[i], blocks[i][n]);
        }
    }
    assert_int_equal(all.used_bytes + groups[0].used_bytes + groups[1].used_bytes, 0);
}

static void a_limit_counts_block_headers(void **state) {
    struct pool_fixture *f = *state;
    struct ue_share share;
    ue_share_init(&share, f->pool, 1024);
    assert_null(ue_share_alloc(&share, 1024)); /* with its header it exceeds the limit */
    uint8_t *block = ue_share_alloc(&share, 1016);
    assert_non_null(block);
    assert_true(share.used_bytes == 1024);
    assert_null(ue_share_alloc(&share, 0));
    assert_null(ue_share_resize(&share, block, 1017));
    assert_ptr_equal(ue_share_resize(&share, block, 504), block);
    assert_true(share.used_bytes == 512 && share.peak_bytes == 1024);
    uint8_t *other = ue_share_alloc(&share, 504);
    assert_non_null(other);
    ue_share_free_block(&share, block);
    ue_share_free_block(&share, other);
}

static void a_growing_block_uses_its_free_neighbour_first(void **state) {
    enum { BYTES = 4000 };
    struct pool_fixture *f = *state;
    struct ue_share share;
    ue_share_init(&share, f->pool, UNLIMITED);
    uint8_t *first = ue_share_alloc(&share, BYTES);
    uint8_t *second = ue_share_alloc(&share, BYTES);
    uint8_t *third = ue_share_alloc(&share, BYTES);
    assert_true(first != NULL && second != NULL && third != NULL);
    memset(first, 7, BYTES);
    ue_share_free_block(&share, second);
    assert_ptr_equal(ue_share_resize(&share, first, 2 * BYTES), first);
    uint8_t *moved = ue_share_resize(&share, first, 4 * BYTES); /* the third block is in use */
    assert_true(moved != NULL && moved != first);
    for (size_t i = 0; i < BYTES; i++) {
        assert_int_equal(moved[i], 7);
    }
    ue_share_free_block(&share, third);
    ue_share_free_block(&share, moved);
}

/* Small free blocks are kept for requests of their size, but merge for larger, growing and smaller blocks. */
static void small_free_blocks_merge_for_other_sizes(void **state) {
    struct pool_fixture *f = *state;
    struct ue_share share;
    ue_share_init(&share, f->pool, UNLIMITED);
    size_t whole = largest(&share);
    for (size_t small = 8; small <= 1024; small *= 2) {
        static uint8_t *blocks[REGION_BYTES / 16];
        size_t count = 0;
        while ((blocks[count] = ue_share_alloc(&share, small)) != NULL) {
            count++;
        }
        uint8_t *last = blocks[count - 1];
        assert_null(ue_share_alloc(&share, small));
        while (--count > 0) {
            ue_share_free_block(&share, blocks[count - 1]);
        }
        uint8_t *grown = ue_share_resize(&share, last, whole / 2);
        assert_non_null(grown);
        uint8_t *other = ue_share_alloc(&share, small + 8);
        assert_non_null(other);
        ue_share_free_block(&share, grown);
        ue_share_free_block(&share, other);
        assert_true(share.used_bytes == 0 && largest(&share) == whole);
    }
}

/* The block freed last is reused first, because it is likely to be in the cache. */
static void the_block_freed_last_is_reused_first(void **state) {
    struct pool_fixture *f = *state;
    struct ue_share share;
    ue_share_init(&share, f->pool, UNLIMITED);
    uint8_t *first = ue_share_alloc(&share, 200);
    uint8_t *second = ue_share_alloc(&share, 200);
    ue_share_free_block(&share, second);
    ue_share_free_block(&share, first);
    assert_ptr_equal(ue_share_alloc(&share, 200), first);
    assert_ptr_equal(ue_share_alloc(&share, 200), second);
    ue_share_free_block(&share, first);
    ue_share_free_block(&share, second);
}

static void impossible_sizes_return_null(void **state) {
    struct pool_fixture *f = *state;
    struct ue_share share;
    ue_share_init(&share, f->pool, UNLIMITED);
    void *block = ue_share_alloc(&share, 8);
    assert_non_null(block);
    size_t used_bytes = share.used_bytes;
    for (size_t back = 0; back < 70; back++) {
        assert_null(ue_share_alloc(&share, SIZE_MAX - back));
        assert_null(ue_share_alloc(&share, SIZE_MAX / 2 + back));
        assert_null(ue_share_resize(&share, block, SIZE_MAX - back));
    }
    for (size_t size_bytes = REGION_BYTES; size_bytes < SIZE_MAX / 2; size_bytes *= 2) {
        assert_null(ue_share_alloc(&share, size_bytes));
        assert_null(ue_share_resize(&share, block, size_bytes));
    }
    assert_true(share.used_bytes == used_bytes);
    ue_share_free_block(&share, block);
    ue_share_free_block(&share, NULL);
}

static void a_region_may_be_unaligned(void **state) {
    (void)state;
    for (size_t skew = 0; skew < 16; skew++) {
        uint8_t *region = malloc(UE_POOL_BYTES_MIN + skew);
        assert_non_null(region);
        struct ue_pool *pool = ue_pool_init(region + skew, UE_POOL_BYTES_MIN);
        struct ue_share share;
        assert_non_null(pool);
        ue_share_init(&share, pool, UNLIMITED);
        struct block_model block = {.share = &share};
        resize_block(&block, &share, largest(&share), 0xa5);
        assert_true(block.size_bytes > UE_POOL_BYTES_MIN / 2 - 512);
        free_block(&block);
        assert_true(ue_pool_used_bytes(pool) == 0);
        assert_null(ue_pool_init(region, UE_POOL_BYTES_MIN - 1));
        free(region);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_use_preserves_every_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_freed_pool_has_all_its_memory_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_reserve_is_available_to_its_owner_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_limit_counts_block_headers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_growing_block_uses_its_free_neighbour_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(small_free_blocks_merge_for_other_sizes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_block_freed_last_is_reused_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(impossible_sizes_return_null, set_up, tear_down),
        cmocka_unit_test(a_region_may_be_unaligned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
