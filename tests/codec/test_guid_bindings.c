/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

#include "libcodec/content/guid_bindings.h"

#define COUNT 50000u
#define DEPTH_MAX 64u

static struct ue_guid_binding *bindings;
static uint32_t count;

static int set_up(void **state) {
    bindings = calloc(COUNT + 1, sizeof *bindings);
    count = 0;
    return bindings == NULL;
}

static int tear_down(void **state) {
    free(bindings);
    return 0;
}

static uint32_t tell(uint64_t id, uint64_t frame) {
    bindings[++count] = (struct ue_guid_binding){.id = id, .frame = frame};
    ue_guid_bindings_add(bindings, count);
    return count;
}

/* The depth of the tree. */
static unsigned depth_of(uint32_t root) {
    struct {
        uint32_t at;
        unsigned depth;
    } waiting[DEPTH_MAX * 2 + 2];
    size_t left = 1;
    unsigned deepest = 0;
    waiting[0].at = root;
    waiting[0].depth = 0;
    while (left > 0) {
        uint32_t at = waiting[--left].at;
        unsigned depth = waiting[left].depth;
        deepest = depth > deepest ? depth : deepest;
        for (unsigned i = 0; i < 2; i++) {
            if (bindings[at].branches[i] != 0) {
                assert_true(left < DEPTH_MAX * 2 + 2);
                waiting[left].at = bindings[at].branches[i];
                waiting[left++].depth = depth + 1;
            }
        }
    }
    return deepest;
}

static unsigned jumps_of(uint32_t at) {
    unsigned jumps = 0;
    for (; at != 0; at = bindings[at].jump) {
        jumps++;
    }
    return jumps;
}

static unsigned log2_of(uint32_t number) {
    unsigned bits = 0;
    for (; number > 1; number >>= 1) {
        bits++;
    }
    return bits;
}

static void nothing_is_found_of_nothing(void **state) {
    assert_int_equal(ue_guid_bindings_find(bindings, 0, 9), 0);
    assert_int_equal(ue_guid_bindings_find(bindings, 7, 9), 0);
    uint32_t index = tell(7, 9);
    assert_int_equal(ue_guid_bindings_find(bindings, 7, 8), 0);
    assert_int_equal(ue_guid_bindings_find(bindings, 7, 9), index);
    assert_int_equal(ue_guid_bindings_find(bindings, 7, UINT64_MAX), index);
    assert_int_equal(ue_guid_bindings_find(bindings, 6, 9), 0);
    assert_int_equal(ue_guid_bindings_find(bindings, UINT64_MAX, 9), 0);
}

/* Ids of engines: consecutive, even for spawned objects, odd for loaded ones. */
static void ids_in_a_row_make_a_shallow_tree(void **state) {
    for (uint64_t id = 1; id <= COUNT; id++) {
        tell(id, 1);
    }
    assert_true(depth_of(0) <= log2_of(COUNT) + 1);
    for (uint32_t id = 1; id <= COUNT; id += 7) {
        assert_int_equal(ue_guid_bindings_find(bindings, id, 1), id);
    }
}

static uint64_t with_equal_low_bits(uint64_t n) {
    return n << 40;
}

/* Ids that collide in a hash that multiplies by the golden ratio: multiples of its inverse. */
static uint64_t with_equal_hash(uint64_t n) {
    return n * UINT64_C(0xf1de83e19937733d);
}

static uint64_t with_one_bit_more(uint64_t n) {
    return n >= 64 ? UINT64_MAX - n : n == 63 ? UINT64_MAX : (UINT64_C(1) << (n + 1)) - 1;
}

static void no_ids_make_a_deep_tree(void **state) {
    static uint64_t (*const families[])(uint64_t) = {with_equal_low_bits, with_equal_hash, with_one_bit_more};
    assert_int_equal(with_equal_hash(5) * UINT64_C(0x9e3779b97f4a7c15), 5);
    for (size_t family = 0; family < sizeof families / sizeof *families; family++) {
        for (uint64_t n = 1; count < COUNT / 3 * (family + 1); n++) {
            tell(families[family](n), 1);
        }
    }
    assert_true(depth_of(0) <= DEPTH_MAX);
    assert_true(depth_of(0) > 40); /* the ids do collide in such a hash */
    for (uint32_t index = 1; index <= count; index += 11) {
        assert_true(ue_guid_bindings_find(bindings, bindings[index].id, 1) != 0);
    }
}

/* Every third frame binds the id twice. */
static void an_id_told_often_is_found_in_few_steps(void **state) {
    for (uint32_t n = 1; n <= COUNT; n++) {
        tell(4, (uint64_t)(n / 2) * 3);
        assert_true(jumps_of(count) <= 2 * log2_of(n) + 2);
    }
    for (uint64_t frame = 0; frame < COUNT / 2 * 3; frame += 13) {
        assert_int_equal(ue_guid_bindings_find(bindings, 4, frame), (uint32_t)(frame / 3) * 2 + 1);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_found_of_nothing),
        TEST(ids_in_a_row_make_a_shallow_tree),
        TEST(no_ids_make_a_deep_tree),
        TEST(an_id_told_often_is_found_in_few_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
