/* SPDX-License-Identifier: MIT */
/* Scenarios of spec 6.20: reliability; and what 6.16 says of engines up to 4.21. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "libcodec/profile.h"
#include "libcodec/seq.h"
#include "tests/scenario.h"

/* T33: Rel(wire, ref), the full number that a reliable sequence means. */
static void t33_relative_numbers(void **state) {
    static const struct {
        uint32_t wire;
        int64_t reference;
        int64_t full;
    } cases[] = {{0, 1023, 1024},  {1, 1023, 1025},  {5, 1000, 1029},   {1023, 1024, 1023}, {1022, 1023, 1022},
                 {490, 1000, 490}, {488, 1000, 488}, {487, 1000, 1511}, {791, 790, 791}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(ue_seq_expand(cases[i].wire, cases[i].reference, UE_CH_SEQ_BOUND_STOCK), cases[i].full);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENARIO("t27"), SCENARIO("t28"), SCENARIO("t29"), SCENARIO("t30"),
        SCENARIO("t31"), SCENARIO("t32"), SCENARIO("t33"), cmocka_unit_test(t33_relative_numbers),
        SCENARIO("t34"), SCENARIO("t35"), SCENARIO("t36"), SCENARIO("l1"),
        SCENARIO("l2"),  SCENARIO("l3"),  SCENARIO("l4"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
