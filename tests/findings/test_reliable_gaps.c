/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/findings/findings_fixture.h"

#define MS INT64_C(1000000)

/* Bunch 1 of a channel is in packet 1, the following bunches in packet 3, at 10 ms: packet 2 is missing. */
static void lose_second_packet(void) {
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_bunch(5, 1);
    findings_fixture_packet(10, SERVER, 3);
    findings_fixture_lost(SERVER, 2, 2);
}

/* Bunches 1 and 4 of a channel, and the bunches 2 and 3 between them at late_ms. */
static void fill_late(int64_t late_ms) {
    lose_second_packet();
    findings_fixture_bunch(5, 4);
    findings_fixture_packet(late_ms, SERVER, 4);
    findings_fixture_bunch(5, 2);
    findings_fixture_bunch(5, 3);
}

static void test_late(void **state) {
    fill_late(110);
    const struct ue_finding *stall = findings_fixture_expect(UE_FINDING_STALL_SEEN);
    assert_int_equal(SERVER, stall->side);
    assert_int_equal(100 * MS, stall->values[UE_VALUE_SPAN].at_least);
    assert_int_equal(INT64_MAX, stall->values[UE_VALUE_SPAN].at_most);
    assert_int_equal(100 * MS, stall->values[UE_VALUE_LEAST].at_least);
    assert_int_equal(2, stall->values[UE_VALUE_FIRST_SEQ].at_least);
    assert_int_equal(3, stall->values[UE_VALUE_LAST_SEQ].at_least);
    findings_fixture_finish(120, true);
    findings_fixture_expect_none();
}

/* The bunches waited from gap_ms on, by a clock that may have been set back before they came. */
static void expect_wait(int64_t gap_ms, const char *end) {
    char text[UE_FINDING_TEXT_BYTES];
    lose_second_packet();
    findings_fixture_packet(gap_ms, SERVER, 4);
    findings_fixture_bunch(5, 4);
    findings_fixture_packet(200, SERVER, 5);
    findings_fixture_bunch(5, 2);
    findings_fixture_bunch(5, 3);
    ue_finding_text(findings_fixture_expect(UE_FINDING_STALL_SEEN), text, sizeof text);
    assert_string_equal(strstr(text, "; later"), end);
}

static void test_wait(void **state) {
    expect_wait(120, "; later bunches of the channel waited for it, the first for 80 ms");
}

static void test_wait_while_set_back(void **state) {
    expect_wait(500, "; later bunches of the channel waited for it");
}

static void test_reordered(void **state) {
    fill_late(109);
    findings_fixture_finish(120, true);
    findings_fixture_expect_none();
}

/* Packet 2, which the capture lacks, was acknowledged: it may have held bunches 2 and 3. Acknowledged before it: they
   were not in packet 1. */
static void acknowledge_unseen(int64_t id) {
    lose_second_packet();
    findings_fixture_bunch(5, 4);
    findings_fixture_packet(20, CLIENT, 1);
    findings_fixture_ack(id, 0, -1);
    findings_fixture_packet(200, SERVER, 4);
    findings_fixture_bunch(5, 2);
    findings_fixture_bunch(5, 3);
}

static void test_arrived_unseen(void **state) {
    acknowledge_unseen(2);
    findings_fixture_expect_none();
}

/* Nothing was acknowledged; the packet that is missing has id 0. */
static void test_first_id_missing(void **state) {
    findings_fixture_packet(0, SERVER, -1);
    findings_fixture_bunch(5, 1);
    findings_fixture_packet(10, SERVER, 1);
    findings_fixture_lost(SERVER, 0, 0);
    findings_fixture_bunch(5, 3);
    findings_fixture_packet(200, SERVER, 2);
    findings_fixture_bunch(5, 2);
    findings_fixture_expect(UE_FINDING_STALL_SEEN);
}

static void test_earlier_arrived_unseen(void **state) {
    acknowledge_unseen(1);
    findings_fixture_expect(UE_FINDING_STALL_SEEN);
}

/* Up to 4.21 an ack may be in packets of the client that the capture lacks as well. */
static void lose_both_sides(enum ue_packet_layout layout) {
    findings_fixture_layout(layout);
    findings_fixture_packet(0, CLIENT, 1);
    lose_second_packet();
    findings_fixture_bunch(5, 3);
    findings_fixture_packet(20, CLIENT, 3);
    findings_fixture_lost(CLIENT, 2, 2);
    findings_fixture_packet(200, SERVER, 4);
    findings_fixture_bunch(5, 2);
}

static void test_legacy_acks_missing(void **state) {
    lose_both_sides(UE_PACKET_LEGACY);
    findings_fixture_expect_none();
}

static void test_repeated_acks_missing(void **state) {
    lose_both_sides(UE_PACKET_JITTER);
    findings_fixture_expect(UE_FINDING_STALL_SEEN);
}

/* Bunch 2 of a channel is in packet 2, which is missing since the packet at 10 ms; bunch 3 comes at later_ms, bunch 2
   at late_ms. */
static void lose_bunch(int64_t later_ms, int64_t late_ms) {
    lose_second_packet();
    findings_fixture_bunch(8, 1);
    findings_fixture_packet(later_ms, SERVER, 4);
    findings_fixture_bunch(5, 3);
    findings_fixture_packet(late_ms, SERVER, 5);
    findings_fixture_bunch(5, 2);
}

/* The stall is as long as at the sender, although a later bunch of the channel shows it only at its end. */
static void test_since_loss(void **state) {
    lose_bunch(200, 210);
    const struct ue_finding *stall = findings_fixture_expect(UE_FINDING_STALL_SEEN);
    assert_int_equal(200 * MS, stall->values[UE_VALUE_SPAN].at_least);
    assert_int_equal(10 * MS, stall->values[UE_VALUE_LEAST].at_least);
    assert_int_equal(2, stall->frames[0]);
    assert_int_equal(4, stall->frames[1]);
    findings_fixture_finish(220, true);
    findings_fixture_expect_none();
}

/* The bunch was sent at the latest in the packet that was lost last, so that an earlier loss does not count. */
static void test_since_latest_loss(void **state) {
    lose_second_packet();
    findings_fixture_packet(150, SERVER, 5);
    findings_fixture_lost(SERVER, 4, 4);
    findings_fixture_bunch(5, 3);
    findings_fixture_packet(240, SERVER, 6);
    findings_fixture_bunch(5, 2);
    findings_fixture_finish(250, true);
    findings_fixture_expect_none();
}

/* An engine may ignore a late packet: neither does its bunch wait, nor does it end a stall. */
static void test_late_packets(void **state) {
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_bunch(5, 1);
    findings_fixture_packet(10, SERVER, 4);
    findings_fixture_lost(SERVER, 2, 3);
    findings_fixture_late_packet(20, SERVER, 3);
    findings_fixture_bunch(5, 3);
    findings_fixture_packet(300, SERVER, 5);
    findings_fixture_bunch(5, 2);
    findings_fixture_packet(310, SERVER, 8);
    findings_fixture_lost(SERVER, 6, 7);
    findings_fixture_bunch(5, 5);
    findings_fixture_late_packet(600, SERVER, 6);
    findings_fixture_bunch(5, 4);
    findings_fixture_finish(610, true);
    findings_fixture_expect_none();
}

/* Losses of the other side do not count. */
static void test_loss_of_other_side(void **state) {
    findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_packet(5, CLIENT, 3);
    findings_fixture_lost(CLIENT, 2, 2);
    fill_late(109);
    findings_fixture_finish(120, true);
    findings_fixture_expect_none();
}

/* No packet is missing that can have held bunches 2 and 3: the sequence 4 is damaged. */
static void test_damaged_sequence(void **state) {
    findings_fixture_packet(0, SERVER, 2);
    findings_fixture_lost(SERVER, 1, 1);
    findings_fixture_bunch(5, 1);
    findings_fixture_packet(10, SERVER, 3);
    findings_fixture_bunch(5, 4);
    findings_fixture_packet(500, SERVER, 4);
    findings_fixture_bunch(5, 2);
    findings_fixture_packet(700, SERVER, 5);
    findings_fixture_bunch(5, 3);
    findings_fixture_finish(710, true);
    findings_fixture_expect_none();
}

static void test_missing(void **state) {
    lose_second_packet();
    findings_fixture_bunch(5, 4);
    findings_fixture_finish(20, true);
    const struct ue_finding *gap = findings_fixture_expect(UE_FINDING_GAP);
    assert_int_equal(2, gap->values[UE_VALUE_COUNT].at_least);
    assert_int_equal(4, gap->values[UE_VALUE_LAST_SEQ].at_least);
}

/* So many gaps that the first ones are forgotten: these may be filled later, so that nothing is known of them. */
static void test_forgotten(void **state) {
    enum { GAPS = 70 };
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_bunch(5, 1);
    for (int64_t i = 1; i <= GAPS; i++) {
        findings_fixture_packet(i, SERVER, 2 * i + 1);
        findings_fixture_lost(SERVER, 2 * i, 2 * i);
        findings_fixture_bunch(5, 2 * i + 1);
    }
    for (int64_t i = 1; i <= GAPS; i++) {
        findings_fixture_packet(GAPS + 1, SERVER, 2 * GAPS + 1 + i);
        findings_fixture_bunch(5, 2 * i);
    }
    findings_fixture_finish(GAPS + 20, true);
    findings_fixture_expect_none();
}

/* Where a channel begins in the capture nothing is missing, nor do channels and sides share sequences. */
static void test_first_bunches(void **state) {
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_bunch(9, 700);
    findings_fixture_bunch(5, 1);
    findings_fixture_bunch(7, 40);
    findings_fixture_packet(10, CLIENT, 1);
    findings_fixture_bunch(5, 900);
    findings_fixture_bunch(5, 901);
    findings_fixture_finish(20, true);
    findings_fixture_expect_none();
}

/* Bunches 1 and 4 of a channel; then bunches 2 and 3 by another tracker, which are other bunches. */
static void continue_elsewhere(void (*begin)(void)) {
    const struct ue_decode_result good = {.item_count = 1};
    findings_fixture_datagram(CLIENT, &good, false);
    findings_fixture_datagram(SERVER, &good, false);
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_bunch(0, 1);
    findings_fixture_packet(10, CLIENT, 3);
    findings_fixture_lost(CLIENT, 2, 2);
    findings_fixture_bunch(0, 4);
    begin();
    findings_fixture_datagram(CLIENT, &good, false);
    assert_int_equal(2, findings_fixture_expect(UE_FINDING_GAP)->values[UE_VALUE_COUNT].at_least);
    findings_fixture_packet(900, CLIENT, 1);
    findings_fixture_bunch(0, 2);
    findings_fixture_bunch(0, 3);
    findings_fixture_finish(1000, true);
}

static void test_attempt(void **state) {
    continue_elsewhere(findings_fixture_begin_attempt);
    findings_fixture_expect_none();
}

/* The pause is one of the connection. */
static void test_dropped_tracker(void **state) {
    continue_elsewhere(findings_fixture_drop_tracker);
    findings_fixture_expect(UE_FINDING_PAUSE);
}

/* The first bunches of channel 5 in the capture, 12 and 13, come after the last of these packets. */
static void open_channel(bool is_lost, bool is_acknowledged) {
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_packet(10, SERVER, 3);
    if (is_lost) {
        findings_fixture_lost(SERVER, 2, 2);
    }
    if (is_acknowledged) {
        findings_fixture_packet(20, CLIENT, 1);
        findings_fixture_ack(2, 0, -1);
    }
    findings_fixture_packet(30, SERVER, 4);
    findings_fixture_bunch(5, 12);
    findings_fixture_packet(40, SERVER, 5);
    findings_fixture_bunch(5, 13);
}

static void open_late(int64_t ms) {
    findings_fixture_packet(ms, SERVER, 6);
    findings_fixture_bunch(5, 10);
    findings_fixture_bunch(5, 11);
}

static void test_opening_lost(void **state) {
    findings_fixture_first_bunch(10);
    open_channel(true, false);
    open_late(110);
    const struct ue_finding *stall = findings_fixture_expect(UE_FINDING_STALL_SEEN);
    assert_int_equal(100 * MS, stall->values[UE_VALUE_SPAN].at_least);
    assert_int_equal(80 * MS, stall->values[UE_VALUE_LEAST].at_least);
    assert_int_equal(10, stall->values[UE_VALUE_FIRST_SEQ].at_least);
    assert_int_equal(11, stall->values[UE_VALUE_LAST_SEQ].at_least);
    findings_fixture_finish(120, true);
    findings_fixture_expect_none();
}

static void test_opening_missing(void **state) {
    findings_fixture_first_bunch(10);
    open_channel(true, false);
    findings_fixture_finish(120, true);
    assert_int_equal(2, findings_fixture_expect(UE_FINDING_GAP)->values[UE_VALUE_COUNT].at_least);
}

/* Without the handshake, 12 may be the first bunch that this side sends since the capture began. */
static void test_opening_before_the_capture(void **state) {
    open_channel(true, false);
    open_late(110);
    findings_fixture_finish(120, true);
    findings_fixture_expect_none();
}

/* No packet is missing that can have held 10 and 11. */
static void test_opening_damaged(void **state) {
    findings_fixture_first_bunch(10);
    open_channel(false, false);
    open_late(110);
    findings_fixture_finish(120, true);
    findings_fixture_expect_none();
}

/* A damaged bunch of another channel, or with a sequence that the reliable buffer excludes, is no gap. */
static void lose_before(int64_t first_id, int64_t second_id) {
    findings_fixture_first_bunch(10);
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_packet(10, SERVER, 3);
    findings_fixture_lost(SERVER, 2, 2);
    findings_fixture_bunch(5, first_id);
    if (second_id != 0) {
        findings_fixture_bunch(5, second_id);
    }
    findings_fixture_finish(120, true);
}

static void test_opening_not_confirmed(void **state) {
    lose_before(12, 0);
    findings_fixture_expect_none();
}

static void test_opening_of_full_buffer(void **state) {
    lose_before(10 + 255, 10 + 256);
    assert_int_equal(255, findings_fixture_expect(UE_FINDING_GAP)->values[UE_VALUE_COUNT].at_least);
}

static void test_opening_beyond_buffer(void **state) {
    lose_before(10 + 256, 10 + 257);
    findings_fixture_expect_none();
}

static void test_opening_arrived_unseen(void **state) {
    findings_fixture_first_bunch(10);
    open_channel(true, true);
    open_late(110);
    findings_fixture_expect_none();
}

static void test_no_memory(void **state) {
    findings_fixture_exhaust_memory();
    fill_late(500);
    findings_fixture_finish(600, true);
    assert_int_equal(0, findings_fixture_count(UE_FINDING_STALL_SEEN) + findings_fixture_count(UE_FINDING_GAP));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_late, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_wait, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_wait_while_set_back, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_reordered, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_since_loss, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_since_latest_loss, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_arrived_unseen, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_first_id_missing, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_earlier_arrived_unseen, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_legacy_acks_missing, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_repeated_acks_missing, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_late_packets, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_loss_of_other_side, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_sequence, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_missing, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_forgotten, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_first_bunches, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_opening_lost, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_opening_missing, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_opening_before_the_capture, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_opening_not_confirmed, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_opening_of_full_buffer, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_opening_beyond_buffer, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_opening_damaged, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_opening_arrived_unseen, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_attempt, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_dropped_tracker, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_no_memory, findings_fixture_set_up, findings_fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
