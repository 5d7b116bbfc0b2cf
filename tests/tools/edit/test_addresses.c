/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/rng.h"
#include "tools/edit/address_map.h"

#define ADDRESSES 3000

static size_t common_bits(const uint8_t *a, const uint8_t *b, size_t size_bytes) {
    size_t bits = 0;
    while (bits < size_bytes * 8 && (((a[bits / 8] ^ b[bits / 8]) >> (7 - bits % 8)) & 1) == 0) {
        bits++;
    }
    return bits;
}

static void map_all(const uint64_t *seed, size_t size_bytes, uint8_t from[ADDRESSES][16], uint8_t to[ADDRESSES][16]) {
    struct address_map *addresses = address_map_new(seed);
    assert_non_null(addresses);
    memcpy(to, from, sizeof(uint8_t[ADDRESSES][16]));
    for (size_t i = 0; i < ADDRESSES; i++) {
        address_map_apply(addresses, to[i], size_bytes);
    }
    address_map_free(addresses);
}

/* Addresses that share a random number of bytes with the address before; none is special. */
static void make_ordinary(struct rng *rng, size_t size_bytes, uint8_t from[ADDRESSES][16]) {
    from[0][0] = 10;
    for (size_t i = 1; i < ADDRESSES; i++) {
        size_t begin = 1 + rng_below(rng, size_bytes - 1);
        memcpy(from[i], from[i - 1], 16);
        from[i][0] = (uint8_t)(i % 20 == 0 ? 1 + rng_below(rng, 100) : from[i][0]);
        rng_fill(rng, from[i] + begin, size_bytes - begin);
    }
}

static void common_prefixes_keep_their_length(void **state) {
    static uint8_t from[ADDRESSES][16], to[ADDRESSES][16];
    const uint64_t seed = 5;
    for (size_t size = 4; size <= 16; size += 12) {
        struct rng rng = {size};
        size_t compared = 0;
        make_ordinary(&rng, size, from);
        map_all(&seed, size, from, to);
        for (size_t i = 1; i < ADDRESSES; i++) {
            size_t bits = common_bits(from[i - 1], from[i], size);
            if (bits >= 8) { /* the first byte is changed again if the result would be a special address */
                assert_int_equal(common_bits(to[i - 1], to[i], size), bits);
                compared++;
            }
        }
        assert_true(compared > ADDRESSES / 2);
    }
}

static void different_addresses_stay_different(void **state) {
    static uint8_t from[ADDRESSES][16], to[ADDRESSES][16];
    const uint64_t seed = 6;
    for (size_t i = 0; i < ADDRESSES; i++) {
        from[i][0] = (uint8_t)(1 + i % 100);
        from[i][3] = (uint8_t)(i / 100);
    }
    map_all(&seed, 4, from, to);
    for (size_t i = 0; i < ADDRESSES; i++) {
        assert_true(to[i][0] != 0 && to[i][0] != 127 && to[i][0] < 224);
        for (size_t j = 0; j < i; j++) {
            assert_memory_not_equal(to[i], to[j], 4);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(common_prefixes_keep_their_length),
        cmocka_unit_test(different_addresses_stay_different),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
