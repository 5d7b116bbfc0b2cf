/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/findings/findings_fixture.h"

#define MS INT64_C(1000000)

static const struct ue_decode_result good = {.item_count = 1};

static void test_implausible_times(void **state) {
    (void)state;
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_packet(100, CLIENT, 1);
    findings_fixture_datagram(CLIENT, &good, false);
    findings_fixture_packet(-5, SERVER, 2);
    findings_fixture_packet(9000, CLIENT, 2);
    findings_fixture_packet(20000, CLIENT, 3); /* the clock stands still: no silence and no timeout of the server */
    findings_fixture_finish(20000, false);
    assert_int_equal(1, findings_fixture_expect(UE_FINDING_TIMES)->values[UE_VALUE_COUNT].at_least);
}

/* The client closes after the server fell silent, or before. */
static void close_after(int64_t silent_ms) {
    findings_fixture_datagram(SERVER, &good, false);
    uint64_t frame = findings_fixture_packet(1000, SERVER, 1);
    for (int64_t ms = 0; ms <= silent_ms; ms += 200) {
        findings_fixture_packet(1000 + ms, CLIENT, ms / 200 + 1);
    }
    findings_fixture_finish(1000 + silent_ms, true);
    if (silent_ms >= 5000) {
        const struct ue_finding *timeout = findings_fixture_expect(UE_FINDING_TIMEOUT);
        assert_int_equal(SERVER, timeout->side);
        assert_int_equal(frame, timeout->frames[0]);
        assert_int_equal(silent_ms * MS, timeout->values[UE_VALUE_SPAN].at_least);
        assert_int_equal(1, timeout->values[UE_VALUE_OTHERS].at_least); /* then closed */
    }
}

static void test_timeout(void **state) {
    (void)state;
    close_after(5000);
}

static void test_close_before_timeout(void **state) {
    (void)state;
    close_after(4800);
    findings_fixture_expect(UE_FINDING_SILENCE_BEFORE_CLOSE);
}

/* A side that sends nothing more after a close did not fall silent, however long the other side repeats the close. */
static void test_packets_after_close(void **state) {
    (void)state;
    findings_fixture_packet(1000, SERVER, 1);
    findings_fixture_packet(1100, CLIENT, 1);
    findings_fixture_close();
    for (int64_t ms = 1300; ms <= 9000; ms += 200) {
        findings_fixture_packet(ms, CLIENT, ms);
    }
    findings_fixture_finish(9000, false);
    findings_fixture_expect_none();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_implausible_times, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_timeout, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_packets_after_close, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_close_before_timeout, findings_fixture_set_up, findings_fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
