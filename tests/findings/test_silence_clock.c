/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/findings/findings_fixture.h"

#define MS INT64_C(1000000)

/* The server sends a frame of two packets at 0 ms, the first with a jitter clock, and the next frame at 700 ms. */
static const struct ue_finding *server_has_clocks(uint16_t first_ms, uint16_t second_ms, enum ue_finding_id id) {
    findings_fixture_layout(UE_PACKET_JITTER);
    findings_fixture_clock(first_ms);
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_no_clock();
    findings_fixture_packet(0, SERVER, 2);
    findings_fixture_packet(200, CLIENT, 1);
    findings_fixture_packet(400, CLIENT, 2);
    findings_fixture_clock(second_ms);
    findings_fixture_packet(700, SERVER, 3);
    const struct ue_finding *silence = findings_fixture_expect(id);
    assert_int_equal(700 * MS, silence->values[UE_VALUE_SPAN].at_least);
    return silence;
}

static void test_server_that_does_not_send(void **state) {
    (void)state;
    const struct ue_finding *silence = server_has_clocks(900, 600, UE_FINDING_SILENCE);
    assert_int_equal(700 * MS, silence->values[UE_VALUE_LEAST].at_least);
}

/* The clock has no value after a second: then the packet arrived earlier than usual. */
static void test_server_that_does_not_send_for_a_second(void **state) {
    (void)state;
    const struct ue_finding *silence = server_has_clocks(900, 1023, UE_FINDING_SILENCE);
    assert_int_equal(1000 * MS, silence->values[UE_VALUE_LEAST].at_least);
}

static void test_packets_held_on_the_way(void **state) {
    (void)state;
    const struct ue_finding *silence = server_has_clocks(990, 7, UE_FINDING_HELD_SILENCE);
    assert_int_equal(17 * MS, silence->values[UE_VALUE_LEAST].at_least);
}

static void test_longer_part_of_a_silence(void **state) {
    (void)state;
    server_has_clocks(0, 350, UE_FINDING_SILENCE);
}

static void test_shorter_part_of_a_silence(void **state) {
    (void)state;
    server_has_clocks(0, 349, UE_FINDING_HELD_SILENCE);
}

/* The clock before it has no value, so that there is no interval. */
static void test_silence_after_a_clock_without_value(void **state) {
    (void)state;
    server_has_clocks(1023, 17, UE_FINDING_UNCLOCKED_SILENCE);
}

/* The plugin wants no pace. */
static void test_held_packets_where_no_pace_is_wanted(void **state) {
    (void)state;
    findings_fixture_want_no_waits();
    server_has_clocks(990, 7, UE_FINDING_HELD_SILENCE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_server_that_does_not_send, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_server_that_does_not_send_for_a_second, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_packets_held_on_the_way, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_longer_part_of_a_silence, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_shorter_part_of_a_silence, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_silence_after_a_clock_without_value, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_held_packets_where_no_pace_is_wanted, findings_fixture_set_up,
                                        findings_fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
