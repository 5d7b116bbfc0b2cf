/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/findings/findings_fixture.h"

#define MS INT64_C(1000000)

/* The client sends packet 1 at 0 ms, which the server reports as not delivered with the last of its packets. */
static void client_sends(void) {
    findings_fixture_packet(0, CLIENT, 1);
}

static void server_reports(int64_t ms, int64_t id) {
    findings_fixture_packet(ms, SERVER, id);
    findings_fixture_nak(1, 1);
    findings_fixture_packet(ms + 10, CLIENT, 2);
}

/* The server sends every 100 ms and acknowledges nothing until ack_ms. */
static void acknowledge_late(int64_t ack_ms) {
    client_sends();
    int64_t id = 1;
    for (int64_t ms = 100; ms < ack_ms; ms += 100) {
        findings_fixture_packet(ms, SERVER, id++);
    }
    server_reports(ack_ms, id);
}

static void expect_gap(int64_t at_least_ms, int64_t at_most_ms, int64_t others) {
    const struct ue_finding *gap = findings_fixture_find(UE_FINDING_ACK_GAP);
    assert_int_equal(CLIENT, gap->side);
    assert_int_equal(at_least_ms * MS, gap->values[UE_VALUE_SPAN].at_least);
    assert_int_equal(at_most_ms * MS, gap->values[UE_VALUE_SPAN].at_most);
    assert_int_equal(others, gap->values[UE_VALUE_OTHERS].at_least);
    assert_int_equal(1, gap->values[UE_VALUE_COUNT].at_least);
}

static void expect_no_gap(void) {
    assert_int_equal(0, findings_fixture_count(UE_FINDING_ACK_GAP));
}

static void test_ack_gap(void **state) {
    acknowledge_late(500);
    expect_gap(500, 500, 4);
}

static void test_acks_in_time(void **state) {
    acknowledge_late(499);
    expect_no_gap();
}

/* ---- a gap that lasts until the end ---- */

/* After a report the client sends packets 2 and 3, and the server for last_ms after the first, without a report. */
static void acknowledge_no_more(int64_t last_ms) {
    client_sends();
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_nak(1, 1);
    findings_fixture_packet(0, CLIENT, 2);
    findings_fixture_packet(10, CLIENT, 3);
    findings_fixture_packet(last_ms - 200, SERVER, 2);
    findings_fixture_packet(last_ms, SERVER, 3);
}

static size_t last_gaps(void) {
    return findings_fixture_count(UE_FINDING_LAST_ACK_GAP);
}

static void test_gap_until_the_end(void **state) {
    acknowledge_no_more(500);
    findings_fixture_finish(2000, false);
    const struct ue_finding *gap = findings_fixture_find(UE_FINDING_LAST_ACK_GAP);
    assert_int_equal(CLIENT, gap->side);
    assert_int_equal(500 * MS, gap->values[UE_VALUE_SPAN].at_least);
    assert_int_equal(2, gap->values[UE_VALUE_COUNT].at_least);
    assert_int_equal(2, gap->values[UE_VALUE_OTHERS].at_least);
}

static void test_short_gap_until_the_end(void **state) {
    acknowledge_no_more(499);
    findings_fixture_finish(2000, false);
    assert_int_equal(0, last_gaps());
}

static void test_gap_until_a_close(void **state) {
    acknowledge_no_more(500);
    findings_fixture_finish(2000, true);
    assert_int_equal(1, last_gaps());
}

/* Both sides send until the end, and the last report is not old. */
static void test_acks_until_the_end(void **state) {
    acknowledge_no_more(400);
    findings_fixture_packet(450, SERVER, 4);
    findings_fixture_nak(2, 3);
    findings_fixture_packet(900, SERVER, 5);
    findings_fixture_finish(2000, false);
    assert_int_equal(0, last_gaps());
}

/* The server goes on without a report and without a silence. */
static void keep_sending(void) {
    findings_fixture_packet(450, SERVER, 3);
    findings_fixture_packet(900, SERVER, 4);
    findings_fixture_finish(2000, false);
}

/* Everything is reported: nothing waits. */
static void test_nothing_waits_at_the_end(void **state) {
    client_sends();
    findings_fixture_packet(100, SERVER, 1);
    findings_fixture_ack(1, 1, 100);
    keep_sending();
    assert_int_equal(0, last_gaps());
}

/* The server's later packets are missing, or cannot be read: they may have a report. */
static void test_unread_end(void **state) {
    acknowledge_no_more(400);
    findings_fixture_opaque(890, SERVER);
    findings_fixture_finish(2000, false);
    assert_int_equal(0, last_gaps());
}

/* Up to 4.21 the report of a packet may come after that of a later one. */
static void test_report_of_an_older_packet(void **state) {
    client_sends();
    findings_fixture_packet(10, CLIENT, 2);
    findings_fixture_packet(20, CLIENT, 3);
    findings_fixture_packet(50, SERVER, 1);
    findings_fixture_ack(2, 2, 40);
    findings_fixture_ack(3, 3, 30);
    findings_fixture_packet(60, SERVER, 2);
    findings_fixture_nak(1, 1);
    keep_sending();
    assert_int_equal(0, last_gaps());
}

/* The report of an older packet leaves those that wait. */
static void test_packets_that_wait_after_an_older_report(void **state) {
    client_sends();
    for (int64_t id = 2; id <= 5; id++) {
        findings_fixture_packet(id, CLIENT, id);
    }
    findings_fixture_packet(50, SERVER, 1);
    findings_fixture_ack(3, 3, 40);
    findings_fixture_packet(60, SERVER, 2);
    findings_fixture_nak(1, 1);
    keep_sending();
    assert_int_equal(2, findings_fixture_find(UE_FINDING_LAST_ACK_GAP)->values[UE_VALUE_COUNT].at_least);
}

/* ---- a packet with a damaged sequence ---- */

static void send_damaged(int64_t ms) {
    findings_fixture_lost(CLIENT, 2, 101);
    findings_fixture_packet(ms, CLIENT, 102);
}

static void send_next(int64_t ms) {
    findings_fixture_not_lost(CLIENT, 2, 101);
    findings_fixture_packet(ms, CLIENT, 2);
}

/* When the packets before the damaged one are reported, nothing waits. */
static void test_damaged_sequence(void **state) {
    client_sends();
    send_damaged(10);
    send_next(20);
    findings_fixture_packet(50, SERVER, 1);
    findings_fixture_nak(1, 1);
    findings_fixture_packet(60, SERVER, 2);
    findings_fixture_ack(2, 3, 40);
    keep_sending();
    assert_int_equal(0, last_gaps());
}

/* Nothing waits for the report of the damaged one. */
static void test_damaged_sequence_waits_for_nothing(void **state) {
    client_sends();
    findings_fixture_packet(10, SERVER, 1);
    findings_fixture_ack(1, 1, 10);
    send_damaged(20);
    findings_fixture_packet(300, SERVER, 2);
    findings_fixture_packet(500, SERVER, 3);
    send_next(510);
    findings_fixture_packet(560, SERVER, 4);
    findings_fixture_ack(2, 6, 50);
    findings_fixture_packet(570, CLIENT, 3);
    expect_no_gap();
}

/* The server was silent for long, and not the way to it dead. */
static void test_silence_before_the_end(void **state) {
    acknowledge_no_more(300);
    findings_fixture_packet(900, SERVER, 4);
    findings_fixture_finish(2000, false);
    assert_int_equal(0, last_gaps());
}

/* ---- a server that did not keep sending ---- */

static void test_silence_in_a_gap(void **state) {
    client_sends();
    findings_fixture_packet(10, SERVER, 1);
    findings_fixture_packet(20, SERVER, 2);
    server_reports(620, 3);
    expect_no_gap();
}

/* In one half of the gap it sends packets, in the other it is silent. */
static void test_short_silence_in_a_long_gap(void **state) {
    client_sends();
    for (int64_t id = 1; id <= 4; id++) {
        findings_fixture_packet(id * 100, SERVER, id);
    }
    findings_fixture_packet(650, CLIENT, 2);
    findings_fixture_packet(900, SERVER, 5);
    server_reports(1000, 6);
    expect_gap(1000, 1000, 5);
}

/* ---- packets that are not known ---- */

static void begin_history(void) {
    findings_fixture_layout(UE_PACKET_JITTER);
}

/* The server sends packets every 100 ms up to the one before `lost`, which is missing. */
static void send_until_lost(int64_t lost) {
    client_sends();
    for (int64_t id = 1; id < lost; id++) {
        findings_fixture_packet(id * 100, SERVER, id);
    }
    findings_fixture_lost(SERVER, lost, lost);
}

/* The packet after the missing one has the report, which may have been in the missing one, too. */
static void test_missing_packet_that_may_report(void **state) {
    begin_history();
    send_until_lost(5);
    server_reports(600, 6);
    expect_no_gap();
}

static void test_missing_packet_that_may_report_late(void **state) {
    begin_history();
    send_until_lost(6);
    server_reports(700, 7);
    expect_gap(500, 700, 5);
}

/* The packet after the missing one has no report: the missing one had none. */
static void test_missing_packet_without_report(void **state) {
    begin_history();
    send_until_lost(3);
    for (int64_t id = 4; id <= 6; id++) {
        findings_fixture_packet(id * 100, SERVER, id);
    }
    server_reports(700, 7);
    expect_gap(700, 700, 5);
}

/* Up to 4.21 the packet after the missing one need not have its acks. */
static void test_legacy_missing_packet(void **state) {
    send_until_lost(3);
    for (int64_t id = 4; id <= 8; id++) {
        findings_fixture_packet(id * 100, SERVER, id);
    }
    server_reports(900, 9);
    expect_gap(500, 900, 7);
}

static void test_legacy_missing_packet_amid(void **state) {
    send_until_lost(4);
    for (int64_t id = 5; id <= 7; id++) {
        findings_fixture_packet(id * 100, SERVER, id);
    }
    server_reports(800, 8);
    expect_no_gap();
}

/* Up to 4.21 the missing packet may have had the reports of all packets before it. Only those after it wait. */
static void test_legacy_missing_packet_before_the_end(void **state) {
    for (int has_later = 0; has_later < 2; has_later++) {
        acknowledge_no_more(400);
        findings_fixture_lost(SERVER, 4, 4);
        findings_fixture_packet(500, SERVER, 5);
        if (has_later) {
            findings_fixture_packet(600, CLIENT, 4);
        }
        for (int64_t id = 6; id <= 13; id++) {
            findings_fixture_packet(id * 100, SERVER, id);
        }
        findings_fixture_finish(2000, false);
        assert_int_equal(has_later, last_gaps());
        if (has_later) {
            const struct ue_finding *gap = findings_fixture_find(UE_FINDING_LAST_ACK_GAP);
            assert_int_equal(700 * MS, gap->values[UE_VALUE_SPAN].at_least);
            assert_int_equal(1300 * MS, gap->values[UE_VALUE_SPAN].at_most);
        }
        findings_fixture_tear_down(state);
        findings_fixture_set_up(state);
    }
}

/* An ack that overtakes its packet: nothing waits. Beside it, a packet that the ack does not report waits. */
static void test_ack_before_its_packet(void **state) {
    for (int has_later = 0; has_later < 2; has_later++) {
        begin_history();
        client_sends();
        findings_fixture_packet(100, SERVER, 1);
        findings_fixture_ack(2, 0, 100);
        findings_fixture_acked_packet(100, CLIENT, 2);
        if (has_later) {
            findings_fixture_packet(100, CLIENT, 3);
        }
        keep_sending();
        assert_int_equal(has_later, last_gaps());
        findings_fixture_tear_down(state);
        findings_fixture_set_up(state);
    }
}

/* An encrypted packet among others may have a report. */
static void test_opaque_packet(void **state) {
    begin_history();
    client_sends();
    for (int64_t id = 1; id <= 5; id++) {
        findings_fixture_packet(id * 100, SERVER, id);
    }
    findings_fixture_opaque(600, SERVER);
    server_reports(700, 7);
    expect_gap(500, 700, 6);
}

/* The clock is set back between the encrypted packet and the report. */
static void test_clock_set_back(void **state) {
    begin_history();
    client_sends();
    for (int64_t id = 1; id <= 7; id++) {
        findings_fixture_packet(id * 100, SERVER, id);
    }
    findings_fixture_opaque(710, SERVER);
    server_reports(650, 9);
    expect_gap(650, 650, 8);
}

/* A packet that comes late was reported before, and waits for nothing. */
static void test_late_packet_waits_for_nothing(void **state) {
    begin_history();
    uint64_t frame = findings_fixture_packet(0, CLIENT, 2);
    findings_fixture_packet(10, SERVER, 1);
    findings_fixture_nak(1, 0);
    findings_fixture_ack(2, frame, 10);
    findings_fixture_late_packet(20, CLIENT, 1);
    for (int64_t id = 2; id <= 6; id++) {
        findings_fixture_packet(id * 100, SERVER, id);
    }
    frame = findings_fixture_packet(650, CLIENT, 3);
    findings_fixture_packet(700, SERVER, 7);
    findings_fixture_ack(3, frame, 50);
    findings_fixture_packet(710, CLIENT, 4);
    expect_no_gap();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ack_gap, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_acks_in_time, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_gap_until_the_end, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_short_gap_until_the_end, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_gap_until_a_close, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_acks_until_the_end, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_waits_at_the_end, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unread_end, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_silence_before_the_end, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_silence_in_a_gap, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_short_silence_in_a_long_gap, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_missing_packet_that_may_report, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_missing_packet_that_may_report_late, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_missing_packet_without_report, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_legacy_missing_packet, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_legacy_missing_packet_before_the_end, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_ack_before_its_packet, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_legacy_missing_packet_amid, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_opaque_packet, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_late_packet_waits_for_nothing, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_report_of_an_older_packet, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_packets_that_wait_after_an_older_report, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_sequence, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_sequence_waits_for_nothing, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_clock_set_back, findings_fixture_set_up, findings_fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
