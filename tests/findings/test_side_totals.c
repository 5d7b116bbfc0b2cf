/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/findings/findings_fixture.h"

static const struct ue_decode_result good = {.item_count = 1};

static void fill_buffer(uint32_t in_flight) {
    findings_fixture_datagram(CLIENT, &good, false);
    findings_fixture_datagram(SERVER, &good, false);
    findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_in_flight(3, 1, in_flight);
    findings_fixture_in_flight(4, 1, 2);
    findings_fixture_finish(10, true);
}

static void test_buffer_high(void **state) {
    fill_buffer(205);
    const struct ue_finding *high = findings_fixture_expect(UE_FINDING_BUFFER_HIGH);
    assert_int_equal(CLIENT, high->side);
    assert_int_equal(205, high->values[UE_VALUE_COUNT].at_least);
    assert_int_equal(256, high->values[UE_VALUE_OF].at_least);
    assert_int_equal(3, high->values[UE_VALUE_CHANNEL].at_least);
}

static void test_buffer_used(void **state) {
    fill_buffer(204);
    findings_fixture_expect_none();
}

/* The last place is kept for the close of the channel. */
static void test_buffer_full(void **state) {
    fill_buffer(255);
    findings_fixture_expect(UE_FINDING_BUFFER_FULL);
}

static void test_one_place_left(void **state) {
    fill_buffer(254);
    findings_fixture_expect(UE_FINDING_BUFFER_HIGH);
}

/* Acks that the sender had received may be captured later, if neither end can have seen the packets of both sides in
   the order of the capture. */
static void test_buffer_out_of_order(void **state) {
    findings_fixture_count_late(CLIENT, 3);
    findings_fixture_count_late(SERVER, 4);
    fill_buffer(205);
    assert_int_equal(7, findings_fixture_find(UE_FINDING_BUFFER_HIGH)->values[UE_VALUE_OTHERS].at_least);
}

/* One end can have seen this order. */
static void test_buffer_one_side_out_of_order(void **state) {
    findings_fixture_count_late(SERVER, 4);
    fill_buffer(205);
    assert_int_equal(0, findings_fixture_find(UE_FINDING_BUFFER_HIGH)->values[UE_VALUE_OTHERS].at_least);
}

/* A packet of the peer that is missing may have acknowledged what this side seems to have in flight. */
static void test_peak_behind_missing_packets(void **state) {
    findings_fixture_datagram(CLIENT, &good, false);
    findings_fixture_datagram(SERVER, &good, false);
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_in_flight(3, 1, 256);
    findings_fixture_lost(SERVER, 2, 2);
    findings_fixture_packet(5, SERVER, 3);
    findings_fixture_packet(6, SERVER, 4);
    findings_fixture_finish(10, true);
    findings_fixture_expect_none();
}

static void test_peak_before_the_next_packet(void **state) {
    findings_fixture_datagram(CLIENT, &good, false);
    findings_fixture_datagram(SERVER, &good, false);
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_in_flight(3, 1, 256);
    findings_fixture_packet(5, SERVER, 2);
    findings_fixture_packet(0, CLIENT, 2);
    findings_fixture_in_flight(3, 1, 20);
    findings_fixture_lost(SERVER, 3, 3);
    findings_fixture_packet(6, SERVER, 4);
    findings_fixture_finish(10, true);
    findings_fixture_expect(UE_FINDING_BUFFER_FULL);
}

static void test_malformed(void **state) {
    const struct ue_decode_result bad = {.fault = {.status = UE_E_TRUNCATED, .bit = 77}};
    findings_fixture_datagram(SERVER, &bad, false);
    assert_int_equal(77, findings_fixture_expect(UE_FINDING_MALFORMED)->values[UE_VALUE_BIT].at_least);
}

/* A damaged id that is too high makes the next packets late: where datagrams are malformed, that may be the reason. */
static void test_reordered(void **state) {
    static const struct ue_decode_result bad = {.fault = {.status = UE_E_TRUNCATED, .bit = 77}};
    static const char *const texts[2] = {
        "2 packets server to client came after a higher packet id: the network or the capture reordered them",
        "2 packets server to client came after a higher packet id: the network or the capture reordered them, or the "
        "id "
        "of a packet before them was damaged (1 datagram server to client is malformed)"};
    for (unsigned is_damaged = 0; is_damaged < 2; is_damaged++) {
        findings_fixture_tear_down(state);
        findings_fixture_set_up(state);
        char text[UE_FINDING_TEXT_BYTES];
        findings_fixture_datagram(is_damaged ? SERVER : CLIENT, &bad, false);
        findings_fixture_count_late(SERVER, 2);
        findings_fixture_finish(10, false);
        ue_finding_text(findings_fixture_find(UE_FINDING_REORDERED), text, sizeof text);
        assert_string_equal(texts[is_damaged], text);
    }
}

/* A datagram that the snap length cut does not decode, and is not malformed. */
static void test_cut(void **state) {
    const struct ue_decode_result bad = {.fault = {.status = UE_E_TRUNCATED, .bit = 77}};
    findings_fixture_datagram(CLIENT, &good, false);
    findings_fixture_datagram(SERVER, &bad, true);
    findings_fixture_finish(10, true);
    findings_fixture_expect(UE_FINDING_CUT);
}

static void capture_one_direction(unsigned packets) {
    for (unsigned id = 1; id <= packets; id++) {
        findings_fixture_datagram(SERVER, &good, false);
        findings_fixture_packet(0, SERVER, id);
    }
}

static void test_one_direction(void **state) {
    capture_one_direction(4);
    findings_fixture_finish(10, true);
    assert_int_equal(SERVER, findings_fixture_expect(UE_FINDING_ONE_WAY)->side);
}

/* They may be of the connection whose handshake follows. */
static void test_few_of_one_direction(void **state) {
    capture_one_direction(3);
    findings_fixture_finish(10, true);
    findings_fixture_expect_none();
}

static void acknowledge_unseen(bool is_peer_captured) {
    capture_one_direction(4);
    if (is_peer_captured) {
        findings_fixture_datagram(CLIENT, &good, false);
    }
    findings_fixture_ack(7, 0, 0);
    findings_fixture_finish(10, true);
}

/* An interface that is read later can have a packet after its ack. */
static void test_packet_after_its_ack(void **state) {
    findings_fixture_datagram(SERVER, &good, false);
    findings_fixture_datagram(CLIENT, &good, false);
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_ack(7, 0, 0);
    findings_fixture_acked_packet(1, CLIENT, 7);
    findings_fixture_finish(10, true);
    findings_fixture_expect_none();
}

static void test_incomplete(void **state) {
    acknowledge_unseen(true);
    assert_int_equal(CLIENT, findings_fixture_expect(UE_FINDING_INCOMPLETE)->side);
}

/* The packet without a readable id may be the one that was acknowledged. */
static void test_unidentified(void **state) {
    findings_fixture_opaque(0, CLIENT);
    acknowledge_unseen(true);
    findings_fixture_expect_none();
}

/* A capture of one direction has no packet of the other, which is a finding of its own. */
static void test_acks_of_one_direction(void **state) {
    acknowledge_unseen(false);
    findings_fixture_expect(UE_FINDING_ONE_WAY);
}

static void test_never_sent(void **state) {
    findings_fixture_packet(0, SERVER, 1);
    uint64_t frame = findings_fixture_packet(1, SERVER, 2);
    findings_fixture_never_sent(7, 99, 1);
    findings_fixture_finish(10, true);
    const struct ue_finding *finding = findings_fixture_expect(UE_FINDING_NEVER_SENT);
    assert_int_equal(SERVER, finding->side);
    assert_true(finding->frame_count == 2 && finding->frames[0] == 1 && finding->frames[1] == frame);
    assert_int_equal(99, finding->values[UE_VALUE_LAST_ID].at_least);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_buffer_high, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_buffer_out_of_order, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_buffer_one_side_out_of_order, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_buffer_used, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_one_place_left, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_buffer_full, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_peak_behind_missing_packets, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_peak_before_the_next_packet, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_reordered, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_malformed, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_cut, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_one_direction, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_few_of_one_direction, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unidentified, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_packet_after_its_ack, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_incomplete, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_never_sent, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_acks_of_one_direction, findings_fixture_set_up,
                                        findings_fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
