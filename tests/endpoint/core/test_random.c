/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/guarded.h"
#include "tests/support/within.h"
#include "tools/endpoint/base/seeded_random.h"

static struct ue_random counting_seed(void) {
    uint8_t seed[UE_SEED_BYTES];
    struct ue_random random;
    for (size_t i = 0; i < sizeof seed; i++) {
        seed[i] = (uint8_t)i;
    }
    ue_random_init(&random, seed);
    return random;
}

/* Computed with Python's hashlib: sha512(bytes(range(64)) + n.to_bytes(8, "little")) for n = 0 and 1. */
static void blocks_are_sha512_of_seed_and_number(void **state) {
    struct ue_random random = counting_seed();
    uint8_t bytes[2 * UE_RANDOM_BLOCK_BYTES];
    ue_random_fill(&random, bytes, sizeof bytes);
    assert_hex(bytes, sizeof bytes,
               "1049b5595c77133b3170964a4d29737414cc8f50c8073997304b08e820379b8e"
               "7b13aeb9eb009fbea3273c437c54046da3c4afac480591f9174ffc50928a5715"
               "8e3f2349c89f82fd2496e37f4d9fbe2622e8c5689637530811257fdf179c3fc4"
               "5a06912f0832efd6e53848259ed102e7b189f3c617c1e7c9496ef77d52438b65");
}

static void a_missing_seed_equals_a_seed_of_zeros(void **state) {
    struct ue_random random;
    uint8_t bytes[8];
    ue_random_init(&random, NULL);
    ue_random_fill(&random, bytes, sizeof bytes);
    assert_hex(bytes, sizeof bytes, "5ec97cc048a3cb5d");
}

static void reads_of_any_length_continue_one_stream(void **state) {
    uint8_t whole[1000];
    uint8_t pieces[1000];
    struct ue_random a = counting_seed();
    struct ue_random b = counting_seed();
    ue_random_fill(&a, whole, sizeof whole);
    size_t at = 0;
    for (size_t size = 0; at < sizeof pieces; size = (size + 1) % 150) {
        size_t taken = size < sizeof pieces - at ? size : sizeof pieces - at;
        ue_random_fill(&b, pieces + at, taken);
        at += taken;
    }
    assert_memory_equal(whole, pieces, sizeof whole);
}

static uint32_t word_of(struct ue_random *random) {
    uint8_t b[4];
    ue_random_fill(random, b, sizeof b);
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* The expected result of ue_random_below: the first little-endian word of the stream that causes no bias, modulo the
   bound. */
static void numbers_below_a_bound_are_unbiased(void **state) {
    static const uint32_t bounds[] = {1, 2, 3, 9, 255, 5000000, 0x80000000, 0x80000001, 0xc0000000, 0xffffffff};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        struct ue_random a = counting_seed();
        struct ue_random b = counting_seed();
        uint64_t uneven = (UINT64_C(1) << 32) % bounds[i];
        unsigned refused = 0;
        for (size_t n = 0; n < 1000; n++) {
            uint32_t word = word_of(&b);
            while (word < uneven) {
                word = word_of(&b);
                refused++;
            }
            assert_int_equal(ue_random_below(&a, bounds[i]), word % bounds[i]);
        }
        assert_true(refused > 0 || uneven < UINT32_MAX / 8);
    }
}

static void every_number_below_the_bound_occurs_equally_often(void **state) {
    struct ue_random random = counting_seed();
    unsigned seen[255] = {0};
    for (size_t n = 0; n < 255 * 100; n++) {
        uint32_t number = ue_random_below(&random, 255);
        assert_true(number < 255);
        seen[number]++;
    }
    for (size_t i = 0; i < 255; i++) {
        assert_true(is_within(seen[i], 50, 150)); /* 100, plus or minus five standard deviations */
    }
    assert_int_equal(ue_random_below(&random, 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_sha512_of_seed_and_number),
        cmocka_unit_test(a_missing_seed_equals_a_seed_of_zeros),
        cmocka_unit_test(reads_of_any_length_continue_one_stream),
        cmocka_unit_test(numbers_below_a_bound_are_unbiased),
        cmocka_unit_test(every_number_below_the_bound_occurs_equally_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
