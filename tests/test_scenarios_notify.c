/* SPDX-License-Identifier: MIT */
/* Scenarios of spec 6.20: sequence arithmetic and PacketNotify, as whole connections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/scenario.h"

int main(void) {
    const struct CMUnitTest tests[] = {
        SCENARIO("t15"),
        SCENARIO("t16"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
