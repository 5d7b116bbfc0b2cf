/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plugin/first_pass/channel_set.h"
#include "tests/support/heap.h"
#include "tests/support/rng.h"

#define ROUNDS 40
#define MEMBERS 60

static bool model[UE_CHANNEL_MAX + 1];

static bool find_in_model(uint32_t channel, bool up_to, uint32_t *found) {
    int64_t i = up_to && channel > UE_CHANNEL_MAX ? UE_CHANNEL_MAX : channel;
    while (0 <= i && i <= UE_CHANNEL_MAX && !model[i]) {
        i += up_to ? -1 : 1;
    }
    *found = (uint32_t)i;
    return 0 <= i && i <= UE_CHANNEL_MAX;
}

static void compare(const struct uerudp_channel_set *set, uint32_t channel, bool up_to) {
    uint32_t expected = 0;
    uint32_t found = 0;
    bool is_there = find_in_model(channel, up_to, &expected);
    assert_int_equal(is_there, uerudp_channel_set_find(set, channel, up_to, &found));
    if (is_there) {
        assert_int_equal(expected, found);
    }
}

static void test_finds_what_a_table_finds(void **state) {
    struct rng rng = {1};
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct uerudp_channel_set set = {0};
        memset(model, 0, sizeof model);
        for (unsigned i = 0; i < MEMBERS; i++) {
            uint32_t channel = (uint32_t)(rng_next(&rng) % (UE_CHANNEL_MAX >> rng_next(&rng) % 15));
            uint32_t size_before = set.size_bytes;
            size_t grown = uerudp_channel_set_add(&set, &heap, channel);
            assert_int_equal(set.size_bytes, size_before + grown);
            model[channel] = true;
            compare(&set, (uint32_t)(rng_next(&rng) >> (32 + rng_next(&rng) % 32)), i % 2 == 0);
            compare(&set, channel, i % 2 == 0);
        }
        free(set.bits);
    }
}

static void test_bound(void **state) {
    struct uerudp_channel_set set = {0};
    uint32_t found = 7;
    assert_false(uerudp_channel_set_find(&set, UINT32_MAX, true, &found));
    assert_false(uerudp_channel_set_find(&set, 0, false, &found));
    uerudp_channel_set_add(&set, &heap, UE_CHANNEL_MAX - 8);
    assert_true(uerudp_channel_set_add(&set, &heap, UE_CHANNEL_MAX) > 0);
    assert_int_equal(0, uerudp_channel_set_add(&set, &heap, UE_CHANNEL_MAX + 1));
    assert_int_equal(0, uerudp_channel_set_add(&set, &heap, UINT32_MAX));
    assert_false(uerudp_channel_set_find(&set, UE_CHANNEL_MAX + 1, false, &found));
    assert_int_equal(7, found);
    assert_true(uerudp_channel_set_find(&set, UINT32_MAX, true, &found));
    assert_int_equal(UE_CHANNEL_MAX, found);
    free(set.bits);
}

static void *no_memory(void *user, void *old, size_t size_bytes) {
    return NULL;
}

static void test_without_memory(void **state) {
    const struct ue_allocator none = {no_memory, NULL};
    struct uerudp_channel_set set = {0};
    uint32_t found;
    assert_int_equal(0, uerudp_channel_set_add(&set, &none, 3));
    assert_false(uerudp_channel_set_find(&set, 3, true, &found));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_finds_what_a_table_finds), cmocka_unit_test(test_bound),
                                       cmocka_unit_test(test_without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
