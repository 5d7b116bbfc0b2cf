/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/findings/findings_fixture.h"

#define MS INT64_C(1000000)

/* A full round trip of half_ms in each direction. */
static void measure(int64_t half_ms) {
    uint64_t client = findings_fixture_packet(0, CLIENT, 1);
    uint64_t server = findings_fixture_packet(10, SERVER, 1);
    findings_fixture_ack(1, client, half_ms);
    findings_fixture_packet(20, CLIENT, 2);
    findings_fixture_ack(1, server, half_ms);
    findings_fixture_finish(30, true);
}

static void test_long_ping(void **state) {
    measure(75);
    assert_int_equal(150 * MS, findings_fixture_expect(UE_FINDING_PING)->values[UE_VALUE_LEAST].at_least);
}

static void test_usual_ping(void **state) {
    measure(74);
    findings_fixture_expect_none();
}

/* Packets that were not captured measure nothing. */
static void test_unseen_packets(void **state) {
    findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_ack(1, 0, 500);
    findings_fixture_packet(10, SERVER, 1);
    findings_fixture_ack(1, 0, 500);
    findings_fixture_finish(30, true);
    assert_int_equal(0, findings_fixture_count(UE_FINDING_PING));
}

/* Times near the ends of their range do not overflow. */
static void test_extreme_spans(void **state) {
    measure(INT64_MAX / MS);
    assert_int_equal(1, findings_fixture_count(UE_FINDING_PING));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_long_ping, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_usual_ping, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unseen_packets, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_extreme_spans, findings_fixture_set_up, findings_fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
