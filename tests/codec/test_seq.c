/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <uerudp/seq.h>

static void difference_is_the_nearest_way_round(void **state) {
    assert_int_equal(ue_seq_difference(5, 3, 16384), 2);
    assert_int_equal(ue_seq_difference(3, 5, 16384), -2);
    assert_int_equal(ue_seq_difference(2, 16383, 16384), 3);
    assert_int_equal(ue_seq_difference(16383, 2, 16384), -3);
    assert_int_equal(ue_seq_difference(8191, 0, 16384), 8191);
    assert_int_equal(ue_seq_difference(8192, 0, 16384), -8192);
    assert_int_equal(ue_seq_difference(0, 8192, 16384), -8192);
    assert_int_equal(ue_seq_difference(511, 0, 1024), 511);
    assert_int_equal(ue_seq_difference(512, 0, 1024), -512);
}

/* protocol.md 15: a > b iff 0 < (a - b) mod 16384 < 8192. */
static void newer_is_as_the_receiver_rule_says(void **state) {
    for (uint32_t a = 0; a < UE_PACKET_SEQ_MAX; a += 7) {
        for (uint32_t b = 0; b < UE_PACKET_SEQ_MAX; b += 61) {
            uint32_t ahead = (a - b) & (UE_PACKET_SEQ_MAX - 1);
            assert_int_equal(ue_seq_newer(a, b), ahead > 0 && ahead < 8192);
        }
    }
}

static void expansion_gives_the_nearest_full_number(void **state) {
    assert_true(ue_seq_expand(5, 16380, 16384) == 16389); /* protocol.md 15 */
    assert_true(ue_seq_expand(16380, 16389, 16384) == 16380);
    assert_true(ue_seq_expand(16383, 0, 16384) == -1);
    assert_true(ue_seq_expand(0, -1, 16384) == 0);
    assert_true(ue_seq_expand(0, INT64_C(16384) * 1000000 - 1, 16384) == INT64_C(16384) * 1000000);
    assert_true(ue_seq_expand(4, 1027, 1024) == 1028); /* protocol.md 9: packet 1027, first reliable bunch 4 */
    for (int64_t reference = 40000; reference < 42000; reference++) {
        for (int32_t step = -512; step < 512; step += 73) {
            uint32_t wire = (uint32_t)(reference + step) & 1023;
            assert_true(ue_seq_expand(wire, reference, 1024) == reference + step);
        }
    }
}

/* protocol.md 15: Rel(wire, ref), the full number that a reliable sequence means. */
static void expansion_is_that_of_reliable_bunches(void **state) {
    static const struct {
        uint32_t wire;
        int64_t reference;
        int64_t full;
    } cases[] = {{0, 1023, 1024},  {1, 1023, 1025},  {5, 1000, 1029},   {1023, 1024, 1023}, {1022, 1023, 1022},
                 {490, 1000, 490}, {488, 1000, 488}, {487, 1000, 1511}, {791, 790, 791}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(ue_seq_expand(cases[i].wire, cases[i].reference, 1024), cases[i].full);
    }
}

static void what_comes_before_the_first_turn_is_called_as_on_the_wire(void **state) {
    assert_int_equal(ue_seq_display(0), 0);
    assert_int_equal(ue_seq_display(16384), 16384);
    assert_int_equal(ue_seq_display(-1), 16383);
    assert_int_equal(ue_seq_display(-16384 - 5), 16379);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(difference_is_the_nearest_way_round),
        cmocka_unit_test(newer_is_as_the_receiver_rule_says),
        cmocka_unit_test(expansion_gives_the_nearest_full_number),
        cmocka_unit_test(expansion_is_that_of_reliable_bunches),
        cmocka_unit_test(what_comes_before_the_first_turn_is_called_as_on_the_wire),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
