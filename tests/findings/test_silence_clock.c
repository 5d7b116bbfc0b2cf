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
    const struct ue_finding *silence = server_has_clocks(900, 600, UE_FINDING_SILENCE);
    assert_int_equal(699 * MS, silence->values[UE_VALUE_LEAST].at_least); /* the clocks are whole milliseconds */
}

/* The clock has no value after a second: then the packet arrived earlier than usual. */
static void test_server_that_does_not_send_for_a_second(void **state) {
    const struct ue_finding *silence = server_has_clocks(900, 1023, UE_FINDING_SILENCE);
    assert_int_equal(1000 * MS, silence->values[UE_VALUE_LEAST].at_least);
}

static void test_packets_held_on_the_way(void **state) {
    const struct ue_finding *silence = server_has_clocks(990, 7, UE_FINDING_HELD_SILENCE);
    assert_int_equal(18 * MS, silence->values[UE_VALUE_LEAST].at_least); /* likewise */
}

static void test_longer_part_of_a_silence(void **state) {
    server_has_clocks(0, 350, UE_FINDING_SILENCE);
}

static void test_shorter_part_of_a_silence(void **state) {
    server_has_clocks(0, 349, UE_FINDING_HELD_SILENCE);
}

/* The clock before it has no value, so that there is no interval. */
static void test_silence_after_a_clock_without_value(void **state) {
    server_has_clocks(1023, 17, UE_FINDING_UNCLOCKED_SILENCE);
}

/* The plugin wants no pace. */
static void test_held_packets_where_no_pace_is_wanted(void **state) {
    findings_fixture_want_no_waits();
    server_has_clocks(990, 7, UE_FINDING_HELD_SILENCE);
}

/* ---- packets that are missing in a silence ---- */

/* The server's packets 2 and 3 are not captured in a silence of it. */
static void begin_silence(void) {
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_packet(200, CLIENT, 1);
    findings_fixture_packet(400, CLIENT, 2);
}

static void end_silence(void) {
    findings_fixture_lost(SERVER, 2, 3);
    findings_fixture_packet(600, SERVER, 4);
}

static void test_packets_acknowledged_in_a_silence(void **state) {
    begin_silence();
    findings_fixture_ack(2, 0, 0);
    findings_fixture_ack(3, 0, 0);
    end_silence();
    findings_fixture_finish(700, true);
    assert_int_equal(2, findings_fixture_find(UE_FINDING_ACKED_SILENCE)->values[UE_VALUE_COUNT].at_least);
}

static void test_packets_acknowledged_after_a_silence(void **state) {
    begin_silence();
    findings_fixture_ack(2, 0, 0);
    end_silence();
    findings_fixture_packet(610, CLIENT, 3);
    findings_fixture_ack(3, 0, 0);
    findings_fixture_finish(700, true);
    assert_int_equal(1, findings_fixture_count(UE_FINDING_ACKED_SILENCE));
}

static void test_packet_that_is_not_acknowledged(void **state) {
    begin_silence();
    findings_fixture_ack(2, 0, 0);
    findings_fixture_nak(3, 0);
    end_silence();
    findings_fixture_finish(700, true);
    assert_int_equal(1, findings_fixture_count(UE_FINDING_LOST_SILENCE));
}

/* The packet that ends the silence was acknowledged before it was captured: it is not missing. */
static void test_acknowledged_packet_that_ends_a_silence(void **state) {
    begin_silence();
    findings_fixture_ack(2, 0, 0);
    findings_fixture_ack(4, 0, 0);
    findings_fixture_lost(SERVER, 2, 3);
    findings_fixture_acked_packet(600, SERVER, 4);
    findings_fixture_finish(700, true);
    assert_int_equal(1, findings_fixture_count(UE_FINDING_LOST_SILENCE));
}

/* The acks of packets that follow a damaged sequence count, though their ids are below it. */
static void test_packets_acknowledged_after_a_damaged_sequence(void **state) {
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_lost(SERVER, 2, 101);
    findings_fixture_packet(5, SERVER, 102);
    findings_fixture_not_lost(SERVER, 2, 101);
    findings_fixture_packet(10, SERVER, 2);
    findings_fixture_packet(200, CLIENT, 1);
    findings_fixture_packet(400, CLIENT, 2);
    findings_fixture_ack(3, 0, 0);
    findings_fixture_lost(SERVER, 3, 3);
    findings_fixture_packet(600, SERVER, 4);
    findings_fixture_finish(700, true);
    assert_int_equal(1, findings_fixture_count(UE_FINDING_ACKED_SILENCE));
}

/* The id of an acknowledged packet that is missing before the silence is none of the silence. */
static void test_packet_acknowledged_from_before_a_silence(void **state) {
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_lost(SERVER, 2, 2);
    findings_fixture_packet(10, SERVER, 3);
    findings_fixture_packet(200, CLIENT, 1);
    findings_fixture_ack(2, 0, 0);
    findings_fixture_packet(400, CLIENT, 2);
    findings_fixture_lost(SERVER, 4, 4);
    findings_fixture_packet(600, SERVER, 5);
    findings_fixture_finish(700, true);
    assert_int_equal(1, findings_fixture_count(UE_FINDING_LOST_SILENCE));
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
        cmocka_unit_test_setup_teardown(test_packets_acknowledged_in_a_silence, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_packets_acknowledged_after_a_silence, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_packet_that_is_not_acknowledged, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_packet_acknowledged_from_before_a_silence, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_acknowledged_packet_that_ends_a_silence, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_packets_acknowledged_after_a_damaged_sequence, findings_fixture_set_up,
                                        findings_fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
