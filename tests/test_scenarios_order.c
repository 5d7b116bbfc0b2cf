/* SPDX-License-Identifier: MIT */
/* Scenarios of spec 6.20: receive order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "libcodec/bits.h"
#include "tests/scenario.h"

/* T26: how many bits a payload of three bytes has, by its last byte. */
static void t26_termination_bit(void **state) {
    static const struct {
        uint8_t last_byte;
        size_t bits;
    } cases[] = {{0x80, 23}, {0x40, 22}, {0x60, 22}, {0x03, 17}, {0x01, 16}, {0xff, 23}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint8_t payload[] = {0xff, 0xff, cases[i].last_byte};
        size_t bits = 0;
        assert_true(ue_bits_last_set(payload, 16, 24, &bits));
        assert_int_equal(bits, cases[i].bits);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENARIO("t17"),
        SCENARIO("t18"),
        SCENARIO("t19"),
        SCENARIO("t20"),
        SCENARIO("t21"),
        SCENARIO("t22"),
        SCENARIO("t23"),
        SCENARIO("t24"),
        SCENARIO("t25"),
        SCENARIO("t26"),
        cmocka_unit_test(t26_termination_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
