/* SPDX-License-Identifier: MIT */
/* Packets that were captured but cannot be read, or not to their end, are neither missing nor evidence of a loss. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/observe/tracker_fixture.h"

/* Cuts a datagram within its header, and after the header of its first bunch. */
#define HEADER_BYTES 3
#define BUNCH_BYTES 24

#define PAYLOAD_BITS 4000

static const uint8_t payload[PAYLOAD_BITS / 8];

static void opaque(unsigned side, int64_t id) {
    shared_fixture.captured_bytes = HEADER_BYTES;
    tracker_fixture_packet(&shared_fixture, side, id, 0, 0);
}

/* ---- packet ids ---- */

static void opaque_packets_have_the_ids_between_others(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 6, 0);
    opaque(CLIENT, 101);
    opaque(CLIENT, 102);
    tracker_fixture_packet(&shared_fixture, CLIENT, 103, 6, 0);
    tracker_fixture_packet(&shared_fixture, SERVER, 7, 103, 15);
    tracker_fixture_expect(&shared_fixture, "1 c packet 100, 0 in flight\n"
                                            "2 c opaque\n"
                                            "3 c opaque\n"
                                            "4 c packet 103, 0 in flight\n"
                                            "5 s packet 7, 1 in flight\n"
                                            "5 s ack 100 in 1 after 40\n"
                                            "5 s ack 101 excused\n"
                                            "5 s ack 102 excused\n"
                                            "5 s ack 103 in 4 after 10\n");
    assert_int_equal(shared_fixture_counts(CLIENT)->missing, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->opaque, 2);
}

static void other_ids_are_missing(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 6, 0);
    opaque(CLIENT, 102);
    tracker_fixture_packet(&shared_fixture, CLIENT, 104, 6, 0);
    opaque(SERVER, 7);
    tracker_fixture_packet(&shared_fixture, CLIENT, 106, 6, 0);
    tracker_fixture_expect(&shared_fixture, "1 c packet 100, 0 in flight\n"
                                            "2 c opaque\n"
                                            "3 c missing 101-103, only 2\n"
                                            "3 c packet 104, 0 in flight\n"
                                            "4 s opaque\n"
                                            "5 c missing 105-105\n"
                                            "5 c packet 106, 0 in flight\n");
    assert_int_equal(shared_fixture_counts(CLIENT)->missing, 3);
}

static void late_packets_are_counted_once(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 6, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 103, 6, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->missing, 2);
    opaque(CLIENT, 101);
    tracker_fixture_packet(&shared_fixture, CLIENT, 104, 6, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->missing, 1);
    tracker_fixture_packet(&shared_fixture, CLIENT, 102, 6, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->missing, 0);
    opaque(CLIENT, 106);
    tracker_fixture_packet(&shared_fixture, CLIENT, 107, 6, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->missing, 1);
    tracker_fixture_packet(&shared_fixture, CLIENT, 105, 6, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->missing, 0);
}

/* A duplicate that nobody can read explains only a loss that follows soon. */
static void old_opaque_packets_explain_nothing(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 6, 0);
    opaque(CLIENT, 100);
    for (int64_t id = 101; id < 200; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 6, 0);
    }
    tracker_fixture_packet(&shared_fixture, CLIENT, 201, 6, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->missing, 1);
}

/* ---- bunches ---- */

static void add_bunch(uint32_t channel, uint32_t ch_seq) {
    tracker_fixture_reliable(&shared_fixture, channel, ch_seq)->data = (struct ue_view){payload, 0, PAYLOAD_BITS};
}

static void bunches_count_if_their_header_is_captured(void **state) {
    for (int64_t id = 100; id < 102; id++) {
        add_bunch(3, 7);
        add_bunch(3, 8);
        shared_fixture.captured_bytes = BUNCH_BYTES;
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 6, 0);
    }
    tracker_fixture_expect(&shared_fixture, "1 c packet 100, 0 in flight\n"
                                            "1 c bunch 0 on 3: 7, 1 in flight, cut\n"
                                            "2 c packet 101, 0 in flight\n"
                                            "2 c bunch 0 on 3: 7, 1 in flight, copy 2 of 1, 1, cut\n");
    assert_int_equal(shared_fixture_counts(CLIENT)->resends, 1);
}

/* What all generations that fit decode alike may end beyond the cut, or before it. */
static void bunches_count_up_to_the_cut_and_as_far_as_generations_agree(void **state) {
    static const size_t agreed_bits[] = {2 * PAYLOAD_BITS, HEADER_BYTES * 8};
    for (int64_t i = 0; i < 2; i++) {
        shared_fixture.x[CLIENT].agreed_bits = agreed_bits[i];
        add_bunch(3, 7);
        add_bunch(3, 8);
        shared_fixture.captured_bytes = BUNCH_BYTES;
        tracker_fixture_packet(&shared_fixture, CLIENT, 100 + i, 6, 0);
    }
    tracker_fixture_expect(&shared_fixture, "1 c packet 100, 0 in flight\n"
                                            "1 c bunch 0 on 3: 7, 1 in flight, cut\n"
                                            "2 c opaque\n");
}

static void bunches_beyond_the_cut_are_no_gap(void **state) {
    for (uint32_t cut = 0; cut < 2; cut++) {
        add_bunch(3 + cut, 7);
        add_bunch(3 + cut, 8);
        shared_fixture.captured_bytes = BUNCH_BYTES;
        tracker_fixture_packet(&shared_fixture, CLIENT, 100 + cut, 6, 0);
    }
    shared_fixture.length = 0;
    tracker_fixture_reliable(&shared_fixture, 3, 9);
    tracker_fixture_reliable(&shared_fixture, 3, 11);
    tracker_fixture_packet(&shared_fixture, CLIENT, 102, 6, 0);
    tracker_fixture_expect(&shared_fixture, "3 c packet 102, 0 in flight\n"
                                            "3 c bunch 0 on 3: 9, 1 to 3 in flight\n"
                                            "3 c bunch 1 on 3: 11, 1 to 5 in flight, gap\n");
}

/* ---- acks ---- */

/* Packet 8 reports 40 packets of the client with a history of 32. */
static void report_more_than_the_history(bool is_opaque) {
    for (int64_t id = 100; id < 141; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 6, 0);
    }
    tracker_fixture_packet(&shared_fixture, SERVER, 7, 100, 1);
    if (is_opaque) {
        opaque(SERVER, 8);
    } else {
        tracker_fixture_packet(&shared_fixture, SERVER, 8, 100, 1);
    }
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 140, 0xfffffffe);
}

static void bits_that_are_not_sent_are_no_naks_after_an_opaque_packet(void **state) {
    report_more_than_the_history(true);
    assert_int_equal(shared_fixture_counts(CLIENT)->acked, 32);
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked, 1);
}

static void bits_that_are_not_sent_are_naks(void **state) {
    report_more_than_the_history(false);
    assert_int_equal(shared_fixture_counts(CLIENT)->acked, 32);
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked, 9);
}

/* Packet 9 has the ack of 102, and repeats that of 101. */
static void skip_an_ack(bool is_cut) {
    for (int64_t id = 100; id < 103; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 0, 0);
    }
    tracker_fixture_ack(&shared_fixture, 100);
    tracker_fixture_packet(&shared_fixture, SERVER, 7, 0, 0);
    tracker_fixture_bunch(&shared_fixture, 3)->data = (struct ue_view){payload, 0, PAYLOAD_BITS};
    tracker_fixture_ack(&shared_fixture, 101);
    shared_fixture.captured_bytes = is_cut ? BUNCH_BYTES : 0;
    if (!is_cut) {
        shared_fixture.item_count--;
    }
    tracker_fixture_packet(&shared_fixture, SERVER, 8, 0, 0);
    shared_fixture.length = 0;
    tracker_fixture_ack(&shared_fixture, 102);
    tracker_fixture_ack(&shared_fixture, 101);
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 0, 0);
}

static void acks_beyond_the_cut_are_no_naks(void **state) {
    skip_an_ack(true);
    tracker_fixture_expect(&shared_fixture, "6 s packet 9, 0 in flight\n"
                                            "6 s ack 102 in 3\n"
                                            "6 s ack 101 in 2\n");
    /* the cut packet may have had both acks before, but not that of a later packet */
    tracker_fixture_packet(&shared_fixture, CLIENT, 103, 0, 0);
    shared_fixture.length = 0;
    tracker_fixture_ack(&shared_fixture, 103);
    tracker_fixture_packet(&shared_fixture, SERVER, 10, 0, 0);
    tracker_fixture_expect(&shared_fixture, "8 s packet 10, 0 in flight\n"
                                            "8 s ack 103 in 7 after 10\n");
}

static void skipped_acks_are_naks(void **state) {
    skip_an_ack(false);
    tracker_fixture_expect(&shared_fixture, "6 s packet 9, 0 in flight\n"
                                            "6 s nak 101 in 2 after 40\n"
                                            "6 s ack 102 in 3 after 30\n");
}

/* The capture begins in the middle: packets before the first one of the server may have had acks. */
static void acks_before_the_first_packet_are_no_naks(void **state) {
    for (int64_t id = 100; id <= 102; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 0, 0);
    }
    tracker_fixture_ack(&shared_fixture, 102);
    tracker_fixture_packet(&shared_fixture, SERVER, 7, 0, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->unsure, 2);
    shared_fixture.length = 0;
    /* again, and too late to change anything (endpoint.md 36.3): its other ack was before, and may be lost */
    tracker_fixture_ack(&shared_fixture, 101);
    tracker_fixture_packet(&shared_fixture, SERVER, 8, 0, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->acked, 2);
    assert_int_equal(shared_fixture_counts(CLIENT)->unsure, 2);
}

static void skipped_packets_after_the_first_one_are_naks(void **state) {
    tracker_fixture_packet(&shared_fixture, SERVER, 7, 0, 0);
    for (int64_t id = 100; id <= 102; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 0, 0);
    }
    tracker_fixture_ack(&shared_fixture, 102);
    tracker_fixture_packet(&shared_fixture, SERVER, 8, 0, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked, 2);
    assert_int_equal(shared_fixture_counts(CLIENT)->unsure, 0);
}

#define WITH_5_1(test) cmocka_unit_test_setup_teardown(test, tracker_fixture_set_up, tracker_fixture_tear_down)
#define WITH_4_18(test) cmocka_unit_test_setup_teardown(test, tracker_fixture_set_up_legacy, tracker_fixture_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_5_1(opaque_packets_have_the_ids_between_others),
        WITH_5_1(other_ids_are_missing),
        WITH_5_1(late_packets_are_counted_once),
        WITH_5_1(old_opaque_packets_explain_nothing),
        WITH_5_1(bunches_count_if_their_header_is_captured),
        WITH_5_1(bunches_count_up_to_the_cut_and_as_far_as_generations_agree),
        WITH_5_1(bunches_beyond_the_cut_are_no_gap),
        WITH_5_1(bits_that_are_not_sent_are_no_naks_after_an_opaque_packet),
        WITH_5_1(bits_that_are_not_sent_are_naks),
        WITH_4_18(acks_beyond_the_cut_are_no_naks),
        WITH_4_18(skipped_acks_are_naks),
        WITH_4_18(acks_before_the_first_packet_are_no_naks),
        WITH_4_18(skipped_packets_after_the_first_one_are_naks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
