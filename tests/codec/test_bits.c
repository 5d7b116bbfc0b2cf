/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include <uerudp/bits.h>
#include "tests/support/guarded.h"
#include "tests/support/rng.h"

/* The definition of protocol.md 2.1, one bit at a time. */
static unsigned bit_at(const uint8_t *bytes, size_t bit) {
    return bytes[bit >> 3] >> (bit & 7) & 1;
}

static void load_gives_every_run_and_reads_nothing_behind_it(void **state) {
    struct guarded room = guarded_new(64);
    struct rng rng = rng_seeded("load");
    uint8_t bytes[24];
    rng_fill(&rng, bytes, sizeof bytes);
    for (size_t size = 1; size <= sizeof bytes; size++) {
        const uint8_t *at = guarded_put(&room, bytes, size);
        for (size_t bit = 0; bit <= size * 8; bit++) {
            for (unsigned count = 0; count <= 64 && bit + count <= size * 8; count++) {
                uint64_t expected = 0;
                for (unsigned i = 0; i < count; i++) {
                    expected |= (uint64_t)bit_at(at, bit + i) << i;
                }
                assert_true(ue_bits_load(at, size, bit, count) == expected);
            }
        }
    }
    guarded_free(&room);
}

/* Arithmetic on a null pointer is undefined: UBSan sees it. */
static void copy_of_nothing_touches_no_pointer(void **state) {
    uint8_t byte = 0xa5;
    ue_bits_copy(&byte, 3, NULL, 0, 0);
    ue_bits_copy(NULL, 0, NULL, 0, 0);
    ue_view_copy((struct ue_view){0}, NULL);
    assert_int_equal(byte, 0xa5);
}

static void copy_moves_the_run_and_nothing_else(void **state) {
    struct guarded from_room = guarded_new(64);
    struct guarded to_room = guarded_new(64);
    struct rng rng = rng_seeded("copy");
    for (size_t count = 0; count <= 150; count++) {
        for (unsigned shifts = 0; shifts < 64; shifts++) {
            uint8_t bytes[32];
            uint8_t before[32];
            size_t from_bit = shifts % 8;
            size_t to_bit = shifts / 8;
            rng_fill(&rng, bytes, sizeof bytes);
            rng_fill(&rng, before, sizeof before);
            size_t to_bytes = ue_bits_bytes(to_bit + count);
            const uint8_t *from = guarded_put(&from_room, bytes, ue_bits_bytes(from_bit + count));
            uint8_t *to = guarded_put(&to_room, before, to_bytes);
            ue_bits_copy(to, to_bit, from, from_bit, count);
            for (size_t bit = 0; bit < to_bytes * 8; bit++) {
                bool inside = bit >= to_bit && bit < to_bit + count;
                assert_int_equal(bit_at(to, bit), inside ? bit_at(from, from_bit + bit - to_bit) : bit_at(before, bit));
            }
        }
    }
    guarded_free(&from_room);
    guarded_free(&to_room);
}

static void last_set_finds_the_highest_bit_of_a_range(void **state) {
    const uint8_t bytes[] = {0x00, 0x24, 0x00, 0x80};
    size_t bit = 0;
    assert_true(ue_bits_last_set(bytes, 0, 32, &bit));
    assert_int_equal(bit, 31);
    assert_true(ue_bits_last_set(bytes, 0, 31, &bit));
    assert_int_equal(bit, 13);
    assert_true(ue_bits_last_set(bytes, 0, 13, &bit));
    assert_int_equal(bit, 10);
    assert_true(ue_bits_last_set(bytes, 10, 13, &bit));
    assert_int_equal(bit, 10);
    assert_false(ue_bits_last_set(bytes, 11, 13, &bit));
    assert_false(ue_bits_last_set(bytes, 0, 10, &bit));
    assert_false(ue_bits_last_set(bytes, 0, 0, &bit));
}

static void widths_and_masks(void **state) {
    const uint32_t widths[][2] = {{0, 0},   {1, 0},     {2, 1},      {3, 2},      {8, 3},          {15, 4},
                                  {411, 9}, {1024, 10}, {10240, 14}, {16384, 14}, {UINT32_MAX, 32}};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        assert_int_equal(ue_bits_width(widths[i][0]), widths[i][1]);
    }
    assert_true(ue_bits_mask(0) == 0 && ue_bits_mask(5) == 31 && ue_bits_mask(63) == UINT64_MAX >> 1);
    assert_true(ue_bits_mask(64) == UINT64_MAX);
    assert_true(ue_bits_bytes(0) == 0 && ue_bits_bytes(1) == 1 && ue_bits_bytes(8) == 1 && ue_bits_bytes(9) == 2);
}

static void views_are_read_copied_and_compared(void **state) {
    const uint8_t bytes[] = {0xb5, 0xff, 0x01, 0xb5, 0xff, 0x01};
    struct ue_view low = {bytes, 0, 17};
    struct ue_view high = {bytes, 24, 17};
    assert_true(ue_view_equal(low, high));
    assert_int_equal(ue_view_load(low, 0, 3), 5);
    assert_int_equal(ue_view_load(low, 3, 5), 22);
    assert_int_equal(ue_view_load(high, 8, 9), 511);
    high.bits = 16;
    assert_false(ue_view_equal(low, high));
    high = (struct ue_view){bytes, 25, 17};
    assert_false(ue_view_equal(low, high));

    uint8_t copy[3] = {0xff, 0xff, 0xff};
    ue_view_copy((struct ue_view){bytes, 3, 13}, copy);
    assert_hex(copy, sizeof copy, "f61fff"); /* the last byte is padded with zeros, the byte after it unchanged */
    ue_view_copy((struct ue_view){0}, copy);
    assert_hex(copy, sizeof copy, "f61fff");
}

/* protocol.md 4.2: the length of a payload of three bytes, by its last byte. */
static void comparing_sees_every_bit_and_reads_nothing_behind_the_views(void **state) {
    struct guarded rooms[] = {guarded_new(64), guarded_new(64)};
    struct rng rng = rng_seeded("equal");
    for (size_t bits = 1; bits <= 280; bits++) {
        size_t shift = rng_below(&rng, 8);
        struct ue_view a = {guarded_end(&rooms[0], ue_bits_bytes(bits)), 0, bits};
        struct ue_view b = {guarded_end(&rooms[1], ue_bits_bytes(shift + bits)), shift, bits};
        rng_fill(&rng, (uint8_t *)a.base, ue_bits_bytes(bits));
        rng_fill(&rng, (uint8_t *)b.base, ue_bits_bytes(shift + bits));
        ue_bits_copy((uint8_t *)b.base, shift, a.base, 0, bits);
        assert_true(ue_view_equal(a, b) && ue_view_equal(b, a));
        for (size_t bit = shift; bit < shift + bits; bit++) {
            ((uint8_t *)b.base)[bit / 8] ^= (uint8_t)(1u << bit % 8);
            assert_false(ue_view_equal(a, b));
            ((uint8_t *)b.base)[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
    guarded_free(&rooms[0]);
    guarded_free(&rooms[1]);
}

static void termination_bit_is_the_last_one_set(void **state) {
    static const struct {
        uint8_t last_byte;
        size_t bits;
    } cases[] = {{0x80, 23}, {0x40, 22}, {0x60, 22}, {0x03, 17}, {0x01, 16}, {0xff, 23}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint8_t payload[] = {0xff, 0xff, cases[i].last_byte};
        size_t bits = 0;
        assert_true(ue_bits_last_set(payload, 16, 24, &bits));
        assert_int_equal(bits, cases[i].bits);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load_gives_every_run_and_reads_nothing_behind_it),
        cmocka_unit_test(copy_moves_the_run_and_nothing_else),
        cmocka_unit_test(copy_of_nothing_touches_no_pointer),
        cmocka_unit_test(last_set_finds_the_highest_bit_of_a_range),
        cmocka_unit_test(widths_and_masks),
        cmocka_unit_test(views_are_read_copied_and_compared),
        cmocka_unit_test(comparing_sees_every_bit_and_reads_nothing_behind_the_views),
        cmocka_unit_test(termination_bit_is_the_last_one_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
