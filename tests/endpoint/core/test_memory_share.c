/* SPDX-License-Identifier: MIT */
/* Shares of memory against a model of every block and its contents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/counting_allocator.h"
#include "tests/support/rng.h"
#include "tests/support/within.h"
#include "tools/endpoint/base/memory_share.h"

#define REGION_BYTES ((size_t)256 * 1024)
#define BLOCKS 512
#define UNLIMITED SIZE_MAX

static struct counting_allocator memory;

static int set_up(void **state) {
    counting_allocator_init(&memory, REGION_BYTES);
    return 0;
}

static int tear_down(void **state) {
    return memory.used_bytes == 0 ? 0 : -1;
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

/* Each block uses its size rounded up to 8, and 8 bytes more. */
static void assert_used_bytes(const struct block_model *blocks, const struct ue_share *share) {
    size_t sum = 0;
    for (size_t i = 0; i < BLOCKS; i++) {
        sum += blocks[i].share == share ? (blocks[i].size_bytes + 7) / 8 * 8 + 8 : 0;
    }
    assert_true(share->used_bytes == sum);
}

static size_t random_size(struct rng *rng) {
    return rng_below(rng, UINT64_C(1) << rng_below(rng, 15));
}

static void random_use_preserves_every_byte(void **state) {
    struct rng rng = rng_seeded("random_use_preserves_every_byte");
    struct ue_share shares[2];
    static struct block_model blocks[BLOCKS];
    memset(blocks, 0, sizeof blocks);
    ue_share_init(&shares[0], &memory.allocator, UNLIMITED);
    ue_share_init(&shares[1], &memory.allocator, REGION_BYTES / 4);
    uint64_t rounds = rng_rounds(200000);
    for (uint64_t i = 0; i < rounds; i++) {
        struct block_model *s = &blocks[rng_below(&rng, BLOCKS)];
        if (s->bytes != NULL && rng_chance(&rng, 55)) {
            free_block(s);
        } else {
            struct ue_share *share = s->bytes != NULL ? s->share : &shares[rng_below(&rng, 2)];
            resize_block(s, share, random_size(&rng), (uint8_t)rng_next(&rng));
        }
        assert_true(memory.used_bytes == shares[0].used_bytes + shares[1].used_bytes);
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
    assert_true(shares[1].peak_bytes > REGION_BYTES / 8 && shares[1].peak_bytes <= shares[1].limit_bytes);
}

/* What the allocator refuses changes nothing; its figure of what is in use is the share's. */
static void an_allocator_may_fail(void **state) {
    struct ue_share share;
    ue_share_init(&share, &memory.allocator, UNLIMITED);
    uint8_t *block = ue_share_alloc(&share, 100);
    assert_non_null(block);
    memset(block, 7, 100);
    assert_null(ue_share_alloc(&share, REGION_BYTES));
    assert_null(ue_share_resize(&share, block, REGION_BYTES));
    assert_true(share.used_bytes == 112 && memory.used_bytes == 112 && share.refusals == 2);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(block[i], 7);
    }
    ue_share_free_block(&share, block);
    assert_int_equal(share.used_bytes, 0);
}

/* A reserve is available whatever other owners allocate; beyond it, each group and its parent have limits of their
   own. */
static void a_reserve_is_available_to_its_owner_only(void **state) {
    static const size_t capacity_bytes[] = {4096, 1024, 2048};
    struct ue_share_group all = {.limit_bytes = 4096};
    struct ue_share_group groups[2] = {{.parent = &all, .limit_bytes = 3072}, {.parent = &all, .limit_bytes = 3072}};
    struct ue_share shares[3];
    void *blocks[3][64] = {{0}};
    for (size_t i = 0; i < 3; i++) {
        ue_share_init(&shares[i], &memory.allocator, 8192);
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
    struct ue_share share;
    ue_share_init(&share, &memory.allocator, 1024);
    assert_null(ue_share_alloc(&share, 1024)); /* with its header it exceeds the limit */
    uint8_t *block = ue_share_alloc(&share, 1016);
    assert_non_null(block);
    assert_true(share.used_bytes == 1024);
    assert_null(ue_share_alloc(&share, 0));
    assert_null(ue_share_resize(&share, block, 1017));
    block = ue_share_resize(&share, block, 504);
    assert_non_null(block);
    assert_true(share.used_bytes == 512 && share.peak_bytes == 1024);
    uint8_t *other = ue_share_alloc(&share, 504);
    assert_non_null(other);
    ue_share_free_block(&share, block);
    ue_share_free_block(&share, other);
}

static void impossible_sizes_return_null(void **state) {
    struct ue_share share;
    ue_share_init(&share, &memory.allocator, UNLIMITED);
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

static void without_an_allocator_memory_is_from_malloc(void **state) {
    struct ue_share share;
    ue_share_init(&share, NULL, UNLIMITED);
    uint8_t *block = ue_share_alloc(&share, 1000);
    assert_non_null(block);
    memset(block, 7, 1000);
    block = ue_share_resize(&share, block, 100000);
    assert_non_null(block);
    assert_int_equal(block[999], 7);
    ue_share_free_block(&share, block);
    assert_int_equal(share.used_bytes + memory.peak_bytes, 0);
}

static void zeroed_elements_have_a_size(void **state) {
    static const uint8_t zeros[24];
    struct ue_share share;
    ue_share_init(&share, &memory.allocator, UNLIMITED);
    uint8_t *used = ue_share_alloc(&share, 24);
    memset(used, 0xff, 24);
    ue_share_free_block(&share, used);
    uint8_t *elements = ue_share_alloc_zeroed(&share, 3, 8);
    assert_memory_equal(elements, zeros, 24);
    ue_share_free_block(&share, elements);
    assert_null(ue_share_alloc_zeroed(&share, SIZE_MAX / 8 + 2, 8)); /* the product is 8, modulo 2^64 */
    assert_int_equal(share.used_bytes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_use_preserves_every_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_allocator_may_fail, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_reserve_is_available_to_its_owner_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_limit_counts_block_headers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(impossible_sizes_return_null, set_up, tear_down),
        cmocka_unit_test_setup_teardown(zeroed_elements_have_a_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_an_allocator_memory_is_from_malloc, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
