/* SPDX-License-Identifier: MIT */
/* Scenarios of spec 6.20: channels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/scenario.h"

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENARIO("t37"), SCENARIO("t38"), SCENARIO("t39"), SCENARIO("t40"), SCENARIO("t41"), SCENARIO("t42"),
        SCENARIO("t43"), SCENARIO("t44"), SCENARIO("t45"), SCENARIO("t46"), SCENARIO("t47"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
