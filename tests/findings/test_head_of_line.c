/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/findings/findings_fixture.h"

#define MS INT64_C(1000000)
#define CHANNEL 3

static int set_up(void **state) {
    int status = findings_fixture_set_up(state);
    findings_fixture_layout(UE_PACKET_KBPS);
    return status;
}

/* A packet of the client with a bunch; its frame is its id. */
static void send(int64_t ms, int64_t id, int64_t reliable_id) {
    findings_fixture_packet(ms, CLIENT, id);
    findings_fixture_bunch(CHANNEL, reliable_id);
}

/* Packets with the bunches from 70 on, 10 ms apart. */
static void send_first(int64_t count) {
    for (int64_t id = 1; id <= count; id++) {
        send(10 * id, id, 69 + id);
    }
}

/* A packet at 110 ms, in `frame`, that a packet of the server reports at 140 ms. */
static void send_late(int64_t id, int64_t reliable_id, int64_t server_id, uint64_t frame) {
    send(110, id, reliable_id);
    findings_fixture_packet(140, SERVER, server_id);
    findings_fixture_ack(id, frame, 30);
}

/* Three bunches of which the first is lost, and arrives in packet 4. */
static void lose_first(void) {
    send_first(2);
    send(35, 3, 72);
    findings_fixture_packet(50, SERVER, 1);
    findings_fixture_nak(1, 1);
    findings_fixture_ack(2, 2, 30);
    findings_fixture_ack(3, 3, 15);
    send_late(4, 70, 2, 5);
}

static const struct ue_channel_waits *waits_of_channel(void) {
    size_t count;
    const struct ue_channel_order *orders = ue_findings_channel_orders(findings_fixture_findings(), &count);
    assert_int_equal(1, count);
    assert_int_equal(CHANNEL, orders[0].channel);
    assert_int_equal(0, orders[0].waits[SERVER].bunches);
    return &orders[0].waits[CLIENT];
}

static void test_two_wait(void **state) {
    lose_first();
    const struct ue_channel_waits *waits = waits_of_channel();
    assert_int_equal(2, waits->bunches);
    assert_int_equal((90 + 75) * MS, waits->total_ns);
    assert_int_equal(90 * MS, waits->longest.span_ns);
    assert_int_equal(20 * MS, waits->longest.begin_ns);
    assert_int_equal(2, waits->longest.first_frame);
    assert_int_equal(5, waits->longest.frame);
    assert_int_equal(70, waits->longest.ch_seq);
    assert_false(waits->is_at_least);
}

/* At the receiver: packet 2 comes late, after its receiver reported it as not delivered, or in time before the report.
 */
static void come_late(bool is_refused) {
    send(10, 1, 70);
    send(30, 3, 72);
    if (!is_refused) {
        findings_fixture_late_packet(35, CLIENT, 2);
        findings_fixture_bunch(CHANNEL, 71);
    }
    findings_fixture_packet(40, SERVER, 1);
    findings_fixture_ack(1, 1, 30);
    if (is_refused) {
        findings_fixture_nak(2, 0);
    } else {
        findings_fixture_ack(2, 3, 5);
    }
    findings_fixture_ack(3, 2, 10);
    if (is_refused) {
        findings_fixture_refused_packet(50, CLIENT, 2);
        findings_fixture_bunch(CHANNEL, 71);
    }
    send(130, 4, is_refused ? 71 : 73);
    findings_fixture_packet(140, SERVER, 2);
    findings_fixture_ack(4, 5, 10);
}

static void test_refused(void **state) {
    come_late(true);
    const struct ue_channel_waits *waits = waits_of_channel();
    assert_int_equal(1, waits->bunches);
    assert_int_equal(100 * MS, waits->longest.span_ns);
    assert_int_equal(71, waits->longest.ch_seq);
}

static void test_late_but_accepted(void **state) {
    come_late(false);
    assert_int_equal(0, waits_of_channel()->bunches);
}

/* Bunches that come before the lost one in its packet do not wait; one that came in an earlier packet does. */
static void test_same_packet(void **state) {
    send_first(2);
    findings_fixture_packet(50, SERVER, 1);
    findings_fixture_nak(1, 1);
    findings_fixture_ack(2, 2, 30);
    findings_fixture_packet(110, CLIENT, 3);
    findings_fixture_bunch(CHANNEL, 72);
    findings_fixture_bunch(CHANNEL, 73);
    findings_fixture_bunch(CHANNEL, 70);
    findings_fixture_packet(140, SERVER, 2);
    findings_fixture_ack(3, 4, 30);
    const struct ue_channel_waits *waits = waits_of_channel();
    assert_int_equal(1, waits->bunches);
    assert_int_equal(90 * MS, waits->total_ns);
    assert_int_equal(70, waits->longest.ch_seq);
}

/* A copy of a bunch that took effect releases nothing, and does not wait. */
static void test_copies(void **state) {
    lose_first();
    send(200, 5, 70);
    send(210, 6, 72);
    findings_fixture_packet(230, SERVER, 3);
    findings_fixture_ack(5, 7, 30);
    findings_fixture_ack(6, 8, 20);
    send(240, 7, 73);
    findings_fixture_packet(260, SERVER, 4);
    findings_fixture_ack(7, 10, 20);
    assert_int_equal(2, waits_of_channel()->bunches);
}

/* Two are lost: what waits for both waits until the later one. */
static void test_two_lost(void **state) {
    send_first(4);
    findings_fixture_packet(60, SERVER, 1);
    findings_fixture_nak(1, 1);
    findings_fixture_ack(2, 2, 40);
    findings_fixture_nak(3, 3);
    findings_fixture_ack(4, 4, 20);
    send(100, 5, 70);
    send(150, 6, 72);
    findings_fixture_packet(200, SERVER, 2);
    findings_fixture_ack(5, 6, 100);
    findings_fixture_ack(6, 7, 50);
    const struct ue_channel_waits *waits = waits_of_channel();
    assert_int_equal(2, waits->bunches);
    assert_int_equal((80 + 110) * MS, waits->total_ns);
    assert_int_equal(72, waits->longest.ch_seq);
}

/* A packet that arrived but was not captured can have held the bunch that is missing. */
static void test_not_captured(void **state) {
    send_first(2);
    send(35, 4, 73);
    findings_fixture_packet(50, SERVER, 1);
    findings_fixture_ack(1, 1, 40);
    findings_fixture_ack(2, 2, 30);
    findings_fixture_ack(3, 0, -1);
    findings_fixture_ack(4, 3, 15);
    send_late(5, 72, 2, 5);
    assert_int_equal(0, waits_of_channel()->bunches);
    assert_true(waits_of_channel()->is_at_least);
}

/* A bunch that is sent again although its packet was not reported may have arrived before. */
static void test_not_reported(void **state) {
    send_first(2);
    findings_fixture_packet(50, SERVER, 1);
    findings_fixture_ack(2, 2, 30);
    send_late(3, 70, 2, 4);
    assert_int_equal(0, waits_of_channel()->bunches);
    assert_true(waits_of_channel()->is_at_least);
}

/* The packet of 71 is not reported. 72 waits for 70, and perhaps for 71 after that; 74 waits for 73. */
static void skip_a_report(uint64_t frames_before) {
    send_first(5);
    findings_fixture_packet(60, SERVER, 1);
    findings_fixture_nak(1, frames_before + 1);
    findings_fixture_ack(3, frames_before + 3, 30);
    findings_fixture_nak(4, frames_before + 4);
    findings_fixture_ack(5, frames_before + 5, 10);
    send(100, 6, 70);
    send(110, 7, 73);
    findings_fixture_packet(140, SERVER, 2);
    findings_fixture_ack(6, frames_before + 7, 40);
    findings_fixture_ack(7, frames_before + 8, 30);
}

static void test_not_reported_before(void **state) {
    skip_a_report(0);
    const struct ue_channel_waits *waits = waits_of_channel();
    assert_int_equal(2, waits->bunches);
    assert_int_equal((70 + 60) * MS, waits->total_ns);
    assert_true(waits->is_at_least);
    assert_true(waits->longest.is_at_least);
}

/* The packet before has a sequence far ahead: packets are missing before it, unless the next one shows that its
   sequence was damaged. */
static const struct ue_channel_waits *jump_before(bool is_damaged) {
    findings_fixture_lost(CLIENT, 1, 4999);
    findings_fixture_packet(1, CLIENT, 5000);
    if (is_damaged) {
        findings_fixture_not_lost(CLIENT, 1, 4999);
    }
    skip_a_report(1);
    return waits_of_channel();
}

static void test_not_reported_after_a_damaged_sequence(void **state) {
    assert_int_equal(2, jump_before(true)->bunches);
    assert_int_equal((70 + 60) * MS, waits_of_channel()->total_ns);
}

static void test_not_reported_after_missing_packets(void **state) {
    assert_int_equal(0, jump_before(false)->bunches);
}

/* A copy of 71 that is reported waits from then on at the latest. */
static void test_reported_later(void **state) {
    send_first(3);
    findings_fixture_packet(60, SERVER, 1);
    findings_fixture_nak(1, 1);
    findings_fixture_ack(3, 3, 30);
    send(100, 4, 71);
    send(115, 5, 70);
    findings_fixture_packet(140, SERVER, 2);
    findings_fixture_ack(4, 5, 40);
    findings_fixture_ack(5, 6, 25);
    assert_int_equal(2, waits_of_channel()->bunches);
    assert_int_equal((15 + 85) * MS, waits_of_channel()->total_ns);
}

/* Packet 2 is not captured. */
static const struct ue_channel_waits *miss_second(bool is_reported) {
    send(10, 1, 70);
    findings_fixture_lost(CLIENT, 2, 2);
    send(30, 3, 72);
    findings_fixture_packet(50, SERVER, 1);
    findings_fixture_ack(1, 1, 40);
    if (is_reported) {
        findings_fixture_nak(2, 0);
    }
    findings_fixture_ack(3, 2, 20);
    send_late(4, 71, 2, 4);
    return waits_of_channel();
}

/* A packet that was neither captured nor reported can have held the bunch that is missing. */
static void test_neither_captured_nor_reported(void **state) {
    assert_int_equal(0, miss_second(false)->bunches);
    assert_true(waits_of_channel()->is_at_least);
}

/* If it was reported as not delivered, it held none. */
static void test_not_captured_but_reported(void **state) {
    assert_int_equal(1, miss_second(true)->bunches);
    assert_false(waits_of_channel()->is_at_least);
}

/* The capture begins after the first transmission of 70, for which 71 may have waited. */
static void test_sent_before_the_capture(void **state) {
    send(20, 2, 71);
    findings_fixture_packet(50, SERVER, 1);
    findings_fixture_ack(2, 1, 30);
    assert_false(waits_of_channel()->is_at_least);
    send(110, 3, 70);
    assert_true(waits_of_channel()->is_at_least);
}

/* An old bunch that is captured first when newer ones have arrived: what was known of the order is forgotten before. */
static void test_sent_before_newer_ones(void **state) {
    send(10, 1, 70);
    send(20, 2, 72);
    findings_fixture_packet(50, SERVER, 1);
    findings_fixture_ack(1, 1, 40);
    findings_fixture_ack(2, 2, 30);
    findings_fixture_ack(3, 0, -1);
    send(60, 4, 71);
    send(70, 5, 73);
    findings_fixture_packet(100, SERVER, 2);
    findings_fixture_nak(4, 4);
    findings_fixture_ack(5, 5, 30);
    send_late(6, 71, 3, 7);
    assert_int_equal(0, waits_of_channel()->bunches);
    assert_true(waits_of_channel()->is_at_least);
}

/* Up to 4.21, in the middle of a connection: the client sends a packet, which the server reports, and then, if
   has_received, one that acknowledges the report; then 70 and 71 in the packets 3 and 4. */
static void begin_legacy(bool has_received) {
    findings_fixture_layout(UE_PACKET_LEGACY);
    findings_fixture_packet(1, CLIENT, 1);
    findings_fixture_packet(2, SERVER, 1);
    findings_fixture_ack(1, 1, 1);
    findings_fixture_packet(3, CLIENT, 2);
    if (has_received) {
        findings_fixture_ack(1, 2, 1);
    }
    send(10, 3, 70);
    send(20, 4, 71);
    findings_fixture_packet(50, SERVER, 2);
}

/* It loses 70, whose acks may have been lost before the capture. */
static const struct ue_channel_waits *begin_late(bool has_received) {
    begin_legacy(has_received);
    findings_fixture_nak(3, 4);
    findings_fixture_ack(4, 5, 30);
    send_late(5, 70, 3, 7);
    return waits_of_channel();
}

static void test_legacy_begins_late(void **state) {
    assert_int_equal(0, begin_late(false)->bunches);
    assert_true(waits_of_channel()->is_at_least);
}

static void test_legacy_has_begun(void **state) {
    assert_int_equal(1, begin_late(true)->bunches);
    assert_int_equal(90 * MS, waits_of_channel()->total_ns);
}

/* The ack of 71 skips 70. A later packet may report 70, too, before it is sent again. */
static const struct ue_channel_waits *skip_first(void (*report)(void)) {
    begin_legacy(true);
    findings_fixture_ack(4, 5, 30);
    if (report != NULL) {
        findings_fixture_packet(60, SERVER, 3);
        report();
    }
    findings_fixture_packet(110, CLIENT, 5);
    findings_fixture_copy(CHANNEL, 70);
    findings_fixture_packet(140, SERVER, 4);
    findings_fixture_ack(5, report != NULL ? 8 : 7, 30);
    findings_fixture_finish(200, false);
    return waits_of_channel();
}

static void nak_first(void) {
    findings_fixture_nak(3, 4);
}

static void ack_first(void) {
    findings_fixture_ack(3, 4, 50);
}

static void test_legacy_reported_after_later_ones(void **state) {
    const struct ue_channel_waits *waits = skip_first(nak_first);
    assert_int_equal(1, waits->bunches);
    assert_int_equal(90 * MS, waits->total_ns);
    assert_false(waits->is_at_least);
}

static void test_legacy_acknowledged_after_later_ones(void **state) {
    const struct ue_channel_waits *waits = skip_first(ack_first);
    assert_int_equal(0, waits->bunches);
    assert_false(waits->is_at_least);
}

static void test_legacy_never_reported(void **state) {
    assert_int_equal(0, skip_first(NULL)->bunches);
    assert_true(waits_of_channel()->is_at_least);
}

/* The bunches of another attempt to connect are none of the first, whose ids were higher. */
static void test_another_attempt(void **state) {
    send(1, 1, 500);
    findings_fixture_packet(5, SERVER, 1);
    findings_fixture_ack(1, 1, 4);
    findings_fixture_begin_attempt();
    lose_first();
    assert_int_equal(2, waits_of_channel()->bunches);
    assert_int_equal((90 + 75) * MS, waits_of_channel()->total_ns);
}

static void test_end_while_one_waits(void **state) {
    send_first(2);
    findings_fixture_packet(50, SERVER, 1);
    findings_fixture_nak(1, 1);
    findings_fixture_ack(2, 2, 30);
    findings_fixture_finish(60, true);
    assert_int_equal(0, waits_of_channel()->bunches);
    assert_true(waits_of_channel()->is_at_least);
}

/* 71 and the copy of 70 are not reported yet. In order nothing waits. */
static void end_in_flight(bool is_lost) {
    send_first(2);
    if (is_lost) {
        findings_fixture_packet(50, SERVER, 1);
        findings_fixture_nak(1, 1);
        send(60, 3, 70);
    }
    findings_fixture_finish(70, true);
}

static void test_end_in_flight(void **state) {
    end_in_flight(false);
    assert_false(waits_of_channel()->is_at_least);
}

static void test_end_after_loss(void **state) {
    end_in_flight(true);
    assert_true(waits_of_channel()->is_at_least);
}

/* At the receiver: packet 2 with bunch 70 is lost; 71, the first of the channel in the capture, arrives in packet 4,
   and 70 in packet 5. Packet 3 is lost, too, or was not captured. */
static void lose_opening(bool is_known, bool is_acknowledged) {
    if (is_known) {
        findings_fixture_first_bunch(70);
    }
    findings_fixture_packet(5, CLIENT, 1);
    findings_fixture_packet(30, CLIENT, 4);
    findings_fixture_lost(CLIENT, 2, 3);
    findings_fixture_packet(40, SERVER, 1);
    findings_fixture_ack(1, 1, 35);
    findings_fixture_nak(2, 0);
    if (is_acknowledged) {
        findings_fixture_ack(3, 0, -1);
    } else {
        findings_fixture_nak(3, 0);
    }
    findings_fixture_ack(4, 2, 10);
    send(50, 5, 71);
    findings_fixture_packet(60, SERVER, 2);
    findings_fixture_ack(5, 4, 10);
    send(110, 6, 70);
    findings_fixture_packet(140, SERVER, 3);
    findings_fixture_ack(6, 6, 30);
}

static void test_opening_lost(void **state) {
    lose_opening(true, false);
    const struct ue_channel_waits *waits = waits_of_channel();
    assert_int_equal(1, waits->bunches);
    assert_int_equal(60 * MS, waits->longest.span_ns);
    assert_int_equal(4, waits->longest.first_frame);
    assert_int_equal(6, waits->longest.frame);
    assert_int_equal(70, waits->longest.ch_seq);
    assert_false(waits->is_at_least);
}

/* Without the handshake 70 may have arrived before the capture. */
static void test_opening_unknown(void **state) {
    lose_opening(false, false);
    assert_int_equal(0, waits_of_channel()->bunches);
    assert_true(waits_of_channel()->is_at_least);
}

static void test_opening_not_captured(void **state) {
    lose_opening(true, true);
    assert_int_equal(0, waits_of_channel()->bunches);
    assert_true(waits_of_channel()->is_at_least);
}

/* A packet that was not captured arrived: bunches of its side may have waited on the channels on which it sent some. */
static void test_unseen_packet(void **state) {
    for (unsigned side = CLIENT; side <= SERVER; side++) {
        findings_fixture_tear_down(state);
        set_up(state);
        send(10, 1, 70);
        findings_fixture_packet(20, !side, 5);
        findings_fixture_ack(4, 0, -1);
        findings_fixture_finish(30, true);
        size_t count;
        const struct ue_channel_order *order = ue_findings_channel_orders(findings_fixture_findings(), &count);
        assert_int_equal(1, count);
        assert_int_equal(side == CLIENT, order->waits[CLIENT].is_at_least);
        assert_false(order->waits[SERVER].is_at_least);
    }
}

/* The plugin, which shows no waits, does not pay for them. */
static void test_not_wanted(void **state) {
    findings_fixture_want_no_waits();
    lose_first();
    size_t count;
    ue_findings_channel_orders(findings_fixture_findings(), &count);
    assert_int_equal(0, count);
}

static void test_no_memory(void **state) {
    findings_fixture_exhaust_memory();
    lose_first();
    size_t count;
    ue_findings_channel_orders(findings_fixture_findings(), &count);
    assert_int_equal(0, count);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_two_wait, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_late_but_accepted, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_same_packet, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_copies, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_two_lost, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_not_captured, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_not_reported, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_not_reported_before, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_not_reported_after_a_damaged_sequence, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_not_reported_after_missing_packets, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_reported_later, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_neither_captured_nor_reported, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_not_captured_but_reported, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_sent_before_the_capture, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_sent_before_newer_ones, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_legacy_begins_late, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_legacy_has_begun, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_legacy_reported_after_later_ones, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_legacy_acknowledged_after_later_ones, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_legacy_never_reported, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_another_attempt, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_end_while_one_waits, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_end_in_flight, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_end_after_loss, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_opening_lost, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_opening_unknown, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_opening_not_captured, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unseen_packet, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_not_wanted, set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_no_memory, set_up, findings_fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
