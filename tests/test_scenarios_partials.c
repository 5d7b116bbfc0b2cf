/* SPDX-License-Identifier: MIT */
/* Scenarios of spec 6.20: splitting, merging, partials; and exports (4.9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/scenario.h"

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENARIO("t53"), SCENARIO("t54"), SCENARIO("t55"), SCENARIO("t56"), SCENARIO("t57"),     SCENARIO("t58"),
        SCENARIO("t59"), SCENARIO("t60"), SCENARIO("t61"), SCENARIO("t62"), SCENARIO("exports"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
