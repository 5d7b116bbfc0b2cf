/* SPDX-License-Identifier: MIT */
/* Scenarios of spec 6.20: timing, login, control channel, bandwidth; and ping (6.12). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/scenario.h"

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENARIO("t48"), SCENARIO("t49"), SCENARIO("t50"),  SCENARIO("t51"),
        SCENARIO("t52"), SCENARIO("t63"), SCENARIO("ping"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
