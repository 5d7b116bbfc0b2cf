/* SPDX-License-Identifier: MIT */
/* Acks up to 4.21, which are items of packets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/observe/tracker_fixture.h"

static void expect_not_acked(uint64_t nacked, uint64_t unsure) {
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked, nacked);
    assert_int_equal(shared_fixture_counts(CLIENT)->unsure, unsure);
}

/* The example of endpoint.md 36. */
static void legacy_acks_imply_naks(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 16381, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 16384, 0, 0);
    shared_fixture.length = 0;
    tracker_fixture_ack(&shared_fixture, 16381);
    tracker_fixture_ack(&shared_fixture, 16384);
    tracker_fixture_ack(&shared_fixture, 16383);
    tracker_fixture_packet(&shared_fixture, SERVER, 1, 0, 0);
    tracker_fixture_expect(&shared_fixture, "3 s packet 1, 0 in flight\n"
                                            "3 s ack 16381 in 1\n"
                                            "3 s nak 16382 unseen\n"
                                            "3 s nak 16383 unseen\n"
                                            "3 s ack 16384 in 2\n");
}

/* Packet 11 may have been acknowledged before the capture began, 10 and 12 in a packet of the server that was lost. */
static void the_first_legacy_ack_skips_what_may_have_been_reported(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 10, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 12, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 13, 0, 0);
    shared_fixture.length = 0;
    tracker_fixture_ack(&shared_fixture, 13);
    tracker_fixture_packet(&shared_fixture, SERVER, 1, 0, 0);
    tracker_fixture_expect(&shared_fixture, "4 s packet 1, 0 in flight\n"
                                            "4 s ack 13 in 3\n");
    assert_int_equal(shared_fixture_counts(CLIENT)->unsure, 3);
    tracker_fixture_packet(&shared_fixture, CLIENT, 15, 0, 0);
    shared_fixture.length = 0;
    tracker_fixture_ack(&shared_fixture, 15); /* 14 was not */
    tracker_fixture_packet(&shared_fixture, SERVER, 2, 0, 0);
    tracker_fixture_expect(&shared_fixture, "6 s packet 2, 0 in flight\n"
                                            "6 s nak 14 unseen\n"
                                            "6 s ack 15 in 5 after 10\n");
}

/* The client sends packets 10 to 13; packet 1 acknowledges 10, and packet 2 acknowledges 11. */
static void acknowledge_first_two(void) {
    for (int64_t id = 10; id < 14; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 0, 0);
    }
    tracker_fixture_ack(&shared_fixture, 10);
    tracker_fixture_packet(&shared_fixture, SERVER, 1, 0, 0);
    tracker_fixture_ack(&shared_fixture, 11);
    tracker_fixture_packet(&shared_fixture, SERVER, 2, 0, 0);
}

/* Both packets with an ack are lost: the next ack, which skips its packet, is an implied nak. */
static void a_legacy_ack_that_is_lost_twice_is_a_nak(void **state) {
    acknowledge_first_two();
    tracker_fixture_ack(&shared_fixture, 11);
    tracker_fixture_ack(&shared_fixture, 12);
    tracker_fixture_packet(&shared_fixture, SERVER, 3, 0, 0);
    tracker_fixture_ack(&shared_fixture, 12);
    tracker_fixture_ack(&shared_fixture, 13);
    tracker_fixture_packet(&shared_fixture, SERVER, 4, 0, 0);
    tracker_fixture_ack(&shared_fixture, 1);
    tracker_fixture_ack(&shared_fixture, 4);
    tracker_fixture_packet(&shared_fixture, CLIENT, 14, 0, 0);
    shared_fixture.length = 0;
    tracker_fixture_packet(&shared_fixture, SERVER, 5, 0, 0);
    tracker_fixture_expect(&shared_fixture, "10 s packet 5, 1 in flight\n10 s nak 11 in 2 after 80\n");
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked, 1);
    assert_int_equal(shared_fixture_counts(CLIENT)->acked, 3);
    assert_int_equal(ue_tracker_packet_state(shared_fixture.tracker, CLIENT, 11), UE_TRACKER_PACKET_NOT_DELIVERED);
}

/* Packet 2 acknowledges 11, and was lost. So does packet 3, which the client acknowledges if `is_acked`; it is captured
   after packet 4 and its report if `is_late`. */
static void acknowledge_in_unseen_packet(bool is_acked, bool is_late) {
    acknowledge_first_two();
    tracker_fixture_ack(&shared_fixture, 12);
    tracker_fixture_ack(&shared_fixture, 13);
    tracker_fixture_packet(&shared_fixture, SERVER, 4, 0, 0);
    tracker_fixture_ack(&shared_fixture, 1);
    if (is_acked) {
        tracker_fixture_ack(&shared_fixture, 3);
    }
    tracker_fixture_ack(&shared_fixture, 4);
    tracker_fixture_packet(&shared_fixture, CLIENT, 14, 0, 0);
    if (is_late) {
        tracker_fixture_ack(&shared_fixture, 11);
        tracker_fixture_ack(&shared_fixture, 12);
        tracker_fixture_packet(&shared_fixture, SERVER, 3, 0, 0);
    }
    tracker_fixture_packet(&shared_fixture, SERVER, 5, 0, 0);
}

static void a_legacy_ack_may_be_in_a_packet_that_is_captured_late(void **state) {
    acknowledge_in_unseen_packet(true, true);
    expect_not_acked(0, 0);
}

static void a_legacy_ack_may_be_in_a_packet_that_is_not_captured(void **state) {
    acknowledge_in_unseen_packet(true, false);
    expect_not_acked(0, 1);
}

static void a_legacy_ack_in_a_packet_that_was_lost_has_not_arrived(void **state) {
    acknowledge_in_unseen_packet(false, false);
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked, 1);
    assert_int_equal(ue_tracker_packet_state(shared_fixture.tracker, CLIENT, 11), UE_TRACKER_PACKET_NOT_DELIVERED);
}

/* The acks may have been in packets that the capture lacks: then no ack is retracted. */
static void a_legacy_ack_that_may_have_arrived_stands(void **state) {
    for (int64_t id = 10; id < 14; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 0, 0);
    }
    tracker_fixture_packet(&shared_fixture, SERVER, 2, 0, 0);
    tracker_fixture_ack(&shared_fixture, 10);
    tracker_fixture_packet(&shared_fixture, SERVER, 3, 0, 0);
    tracker_fixture_ack(&shared_fixture, 10);
    tracker_fixture_packet(&shared_fixture, SERVER, 4, 0, 0);
    tracker_fixture_ack(&shared_fixture, 2);
    tracker_fixture_packet(&shared_fixture, CLIENT, 14, 0, 0);
    tracker_fixture_ack(&shared_fixture, 5); /* 15 to 17 are missing, which may have acknowledged 3 and 4 */
    tracker_fixture_packet(&shared_fixture, CLIENT, 18, 0, 0);
    assert_int_equal(shared_fixture_counts(SERVER)->nacked, 0);
    assert_int_equal(shared_fixture_counts(SERVER)->unsure, 2);
    tracker_fixture_packet(&shared_fixture, SERVER, 6, 0, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked, 0);
    assert_int_equal(ue_tracker_packet_state(shared_fixture.tracker, CLIENT, 10), UE_TRACKER_PACKET_DELIVERED);
}

/* Both packets with an ack can be missing with others in between: 15 acks 2 to 4, 16 repeats the ack of 2, and 17
   repeats the rest. 18 skips 3 and 4, which are not certainly lost. */
static void a_legacy_ack_behind_a_missing_packet_is_not_known(void **state) {
    for (int64_t id = 10; id < 14; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 0, 0);
    }
    tracker_fixture_packet(&shared_fixture, SERVER, 2, 0, 0);
    tracker_fixture_ack(&shared_fixture, 10);
    tracker_fixture_packet(&shared_fixture, SERVER, 3, 0, 0);
    tracker_fixture_ack(&shared_fixture, 10);
    tracker_fixture_packet(&shared_fixture, SERVER, 4, 0, 0);
    tracker_fixture_ack(&shared_fixture, 1);
    tracker_fixture_packet(&shared_fixture, CLIENT, 14, 0, 0);
    tracker_fixture_ack(&shared_fixture, 2);
    tracker_fixture_packet(&shared_fixture, CLIENT, 16, 0, 0);
    tracker_fixture_ack(&shared_fixture, 5);
    tracker_fixture_packet(&shared_fixture, CLIENT, 18, 0, 0);
    assert_int_equal(shared_fixture_counts(SERVER)->nacked, 0);
    assert_int_equal(shared_fixture_counts(SERVER)->unsure, 2);
    tracker_fixture_packet(&shared_fixture, SERVER, 6, 0, 0);
    expect_not_acked(0, 1);
    assert_int_equal(ue_tracker_packet_state(shared_fixture.tracker, CLIENT, 10), UE_TRACKER_PACKET_DELIVERED);
}

/* The client sends packets 10 to 13; packet 1, with a bunch of first_bytes, acknowledges 10. */
static void acknowledge_first(size_t first_bytes) {
    static const uint8_t bytes[512];
    for (int64_t id = 10; id < 14; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 0, 0);
    }
    tracker_fixture_ack(&shared_fixture, 10);
    tracker_fixture_bunch(&shared_fixture, 3)->data = (struct ue_view){bytes, 0, 8 * first_bytes};
    tracker_fixture_packet(&shared_fixture, SERVER, 1, 0, 0);
    shared_fixture.length = 0;
}

/* The next packet that is captured, after `missing` others, acknowledges 12, perhaps after it repeated 10. */
static void skip_after(size_t first_bytes, int64_t missing, bool repeats) {
    acknowledge_first(first_bytes);
    if (repeats) {
        tracker_fixture_ack(&shared_fixture, 10);
    }
    tracker_fixture_ack(&shared_fixture, 12);
    tracker_fixture_packet(&shared_fixture, SERVER, 2 + missing, 0, 0);
}

static void skip_after_missing(int64_t missing, bool repeats) {
    skip_after(1, missing, repeats);
}

/* Each ack is in two packets, and the second begins with it. */
static void a_legacy_ack_in_one_missing_packet_would_be_in_the_next(void **state) {
    skip_after_missing(1, true);
    tracker_fixture_expect(&shared_fixture, "6 s missing 2-2\n"
                                            "6 s packet 3, 0 in flight\n"
                                            "6 s nak 11 in 2\n"
                                            "6 s ack 12 in 3\n");
    assert_int_equal(shared_fixture_counts(CLIENT)->unsure, 0);
}

/* If the missing packet was full, the next one begins with a new ack. */
static void a_legacy_ack_may_be_in_one_missing_packet_that_was_full(void **state) {
    skip_after_missing(1, false);
    expect_not_acked(0, 1);
}

/* Acks are written in the order of their packets, and again in this order: that of 12 is, and 11 has none. */
static void a_legacy_ack_that_is_not_repeated_was_not_written(void **state) {
    skip_after_missing(1, false);
    tracker_fixture_ack(&shared_fixture, 12);
    tracker_fixture_ack(&shared_fixture, 13);
    shared_fixture.length = 0;
    tracker_fixture_packet(&shared_fixture, SERVER, 4, 0, 0);
    tracker_fixture_expect(&shared_fixture, "7 s packet 4, 0 in flight\n"
                                            "7 s nak 11 in 2 after 50\n"
                                            "7 s ack 13 in 4 after 30\n");
    assert_int_equal(shared_fixture_counts(CLIENT)->unsure, 0);
}

/* Packet 2 is missing, and 3 repeats none of its acks: it held none, unless packet 1 was full. */
static void skip_after_empty(size_t first_bytes) {
    acknowledge_first(first_bytes);
    tracker_fixture_packet(&shared_fixture, SERVER, 3, 0, 0);
    tracker_fixture_ack(&shared_fixture, 12);
    tracker_fixture_packet(&shared_fixture, SERVER, 4, 0, 0);
}

static void a_missing_packet_whose_acks_are_not_repeated_held_none(void **state) {
    skip_after_empty(1);
    expect_not_acked(1, 0);
}

static void a_missing_packet_after_a_full_one_may_hold_both_copies(void **state) {
    skip_after_empty(400);
    expect_not_acked(0, 1);
}

/* It follows the ack of 12, and changes nothing (endpoint.md 36.3); the first one may have arrived in packet 2. */
static void a_legacy_ack_that_is_repeated_late_was_written(void **state) {
    skip_after_missing(1, false);
    tracker_fixture_ack(&shared_fixture, 11);
    tracker_fixture_ack(&shared_fixture, 12);
    tracker_fixture_packet(&shared_fixture, SERVER, 4, 0, 0);
    expect_not_acked(0, 1);
}

/* The other copy may be in the second missing packet. */
static void a_legacy_ack_may_be_repeated_in_a_missing_packet(void **state) {
    skip_after_missing(1, false);
    tracker_fixture_ack(&shared_fixture, 12);
    tracker_fixture_packet(&shared_fixture, SERVER, 5, 0, 0);
    tracker_fixture_ack(&shared_fixture, 12);
    tracker_fixture_packet(&shared_fixture, SERVER, 6, 0, 0);
    expect_not_acked(0, 1);
}

/* Packet 1 was full when the ack of 11 was written: then both copies of it are in the missing packet. */
static void both_copies_of_a_legacy_ack_may_be_after_a_full_packet(void **state) {
    skip_after(400, 1, false);
    tracker_fixture_ack(&shared_fixture, 12);
    tracker_fixture_packet(&shared_fixture, SERVER, 4, 0, 0);
    expect_not_acked(0, 1);
}

static void a_legacy_ack_may_be_in_two_missing_packets(void **state) {
    skip_after_missing(2, false);
    expect_not_acked(0, 1);
}

/* An ack after the ack of a later packet changes nothing, but its packet was delivered, and the acks in that packet
   were processed. */
static void a_legacy_ack_behind_a_later_one_tells_of_an_arrival(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 10, 0, 0);
    tracker_fixture_packet(&shared_fixture, SERVER, 1, 0, 0);
    tracker_fixture_ack(&shared_fixture, 10);
    tracker_fixture_packet(&shared_fixture, SERVER, 2, 0, 0);
    tracker_fixture_ack(&shared_fixture, 10);
    tracker_fixture_packet(&shared_fixture, SERVER, 3, 0, 0);
    tracker_fixture_packet(&shared_fixture, SERVER, 4, 0, 0);
    tracker_fixture_ack(&shared_fixture, 1);
    tracker_fixture_ack(&shared_fixture, 4);
    tracker_fixture_ack(&shared_fixture, 2);
    tracker_fixture_packet(&shared_fixture, CLIENT, 11, 0, 0);
    tracker_fixture_ack(&shared_fixture, 11);
    tracker_fixture_packet(&shared_fixture, SERVER, 5, 0, 0);
    assert_int_equal(ue_tracker_packet_state(shared_fixture.tracker, SERVER, 2), UE_TRACKER_PACKET_NOT_DELIVERED);
    assert_int_equal(ue_tracker_packet_state(shared_fixture.tracker, CLIENT, 10), UE_TRACKER_PACKET_DELIVERED);
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked, 0);
}

/* Two packets of the server have a bunch of channel 5 and the ack of 10. The client acknowledges last_accepted, and the
   packet after the two. */
static void refuse_two(int64_t first_id, int64_t last_accepted) {
    for (int64_t id = first_id; id <= first_id + 1; id++) {
        tracker_fixture_bunch(&shared_fixture, 5);
        tracker_fixture_ack(&shared_fixture, 10);
        tracker_fixture_packet(&shared_fixture, SERVER, id, 0, 0);
    }
    tracker_fixture_ack(&shared_fixture, last_accepted);
    tracker_fixture_ack(&shared_fixture, first_id + 2);
}

/* A packet of the client, and the server's packet with its ack. */
static void answer_next(int64_t id) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 11, 0, 0);
    tracker_fixture_ack(&shared_fixture, 11);
    tracker_fixture_packet(&shared_fixture, SERVER, id, 0, 0);
}

/* Two packets after it depend on the channel that 2 opens: without it the receiver rejects them, but may have processed
   their acks. */
static void refuse_by_need(int64_t last_between, bool is_resent) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 10, 0, 0);
    struct ue_bunch *guids = tracker_fixture_reliable(&shared_fixture, 5, 7);
    guids->control = guids->open = true;
    tracker_fixture_packet(&shared_fixture, SERVER, 2, 0, 0);
    for (int64_t id = 3; id <= last_between; id++) {
        tracker_fixture_packet(&shared_fixture, SERVER, id, 0, 0);
    }
    refuse_two(last_between + 1, 1);
    if (is_resent) {
        tracker_fixture_reliable(&shared_fixture, 6, 9);
    }
    answer_next(last_between + 4);
}

static void expect_unsure(void) {
    assert_int_equal(shared_fixture_counts(CLIENT)->acked, 2);
    expect_not_acked(0, 1);
}

static void a_refused_legacy_packet_may_have_been_read(void **state) {
    refuse_by_need(2, false);
    expect_unsure();
}

/* All packets of a flight are rejected because a much older packet is missing. */
static void what_a_legacy_packet_needs_may_be_far_before_it(void **state) {
    refuse_by_need(100, false);
    expect_unsure();
}

/* The message that opens channel 5 begins in packet 2, which the client acknowledges, and ends in packet 3, which it
   does not. */
static void the_message_that_a_legacy_packet_needs_may_have_several_fragments(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 10, 0, 0);
    struct ue_bunch *fragment = tracker_fixture_reliable(&shared_fixture, 5, 7);
    fragment->control = fragment->open = fragment->partial = fragment->partial_initial = true;
    tracker_fixture_packet(&shared_fixture, SERVER, 2, 0, 0);
    fragment = tracker_fixture_reliable(&shared_fixture, 5, 8);
    fragment->partial = fragment->partial_final = true;
    tracker_fixture_packet(&shared_fixture, SERVER, 3, 0, 0);
    refuse_two(4, 2);
    answer_next(7);
    expect_unsure();
}

/* The bunch before the one that opens channel 5 again is in packet 2, which the client does not acknowledge. */
static void an_opening_that_a_legacy_packet_needs_waits_for_earlier_bunches(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 10, 0, 0);
    struct ue_bunch *bunch = tracker_fixture_reliable(&shared_fixture, 5, 7);
    bunch->control = bunch->close = true;
    tracker_fixture_packet(&shared_fixture, SERVER, 2, 0, 0);
    bunch = tracker_fixture_reliable(&shared_fixture, 5, 8);
    bunch->control = bunch->open = true;
    tracker_fixture_packet(&shared_fixture, SERVER, 3, 0, 0);
    refuse_two(4, 3);
    answer_next(7);
    expect_unsure();
}

/* Both packets with the ack of 10 hold a bunch of channel 5, whose opening was in packet 1, which the capture lacks. */
static void refuse_without_opening(bool is_resent) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 10, 0, 0);
    tracker_fixture_reliable(&shared_fixture, 5, 8);
    tracker_fixture_packet(&shared_fixture, SERVER, 2, 0, 0);
    if (is_resent) {
        struct ue_bunch *opening = tracker_fixture_reliable(&shared_fixture, 5, 7);
        opening->control = opening->open = true;
    }
    tracker_fixture_packet(&shared_fixture, SERVER, 3, 0, 0);
    refuse_two(4, 2);
    answer_next(7);
}

static void the_opening_that_a_legacy_packet_needs_may_be_resent_after_later_bunches(void **state) {
    refuse_without_opening(true);
    expect_unsure();
}

static void what_a_legacy_packet_needs_may_not_be_in_the_capture(void **state) {
    refuse_without_opening(false);
    expect_unsure();
}

static void expect_not_acknowledged(void) {
    assert_int_equal(shared_fixture_counts(CLIENT)->acked, 1);
    expect_not_acked(1, 0);
    assert_int_equal(ue_tracker_packet_state(shared_fixture.tracker, CLIENT, 10), UE_TRACKER_PACKET_NOT_DELIVERED);
}

/* Channel 5 is opened in packet 2, which the client acknowledges, and perhaps closed in packet 3. Packet 4 is missing:
   after the close only it can have opened the channel again. */
static void refuse_after_missing(bool is_closed) {
    struct ue_bunch *bunch = tracker_fixture_reliable(&shared_fixture, 5, 7);
    bunch->control = bunch->open = true;
    tracker_fixture_packet(&shared_fixture, SERVER, 2, 0, 0);
    tracker_fixture_ack(&shared_fixture, 2);
    tracker_fixture_packet(&shared_fixture, CLIENT, 10, 0, 0);
    bunch = tracker_fixture_reliable(&shared_fixture, 5, 8);
    bunch->control = bunch->close = is_closed;
    tracker_fixture_packet(&shared_fixture, SERVER, 3, 0, 0);
    refuse_two(5, 3);
    answer_next(8);
}

static void a_closed_channel_must_open_again_for_a_legacy_packet(void **state) {
    refuse_after_missing(true);
    expect_unsure();
}

static void an_open_channel_refuses_no_legacy_packet(void **state) {
    refuse_after_missing(false);
    expect_not_acknowledged();
}

/* Packet 2, which opens channel 5, is not acknowledged. Reliable bunches wait for what is sent again. */
static void open_in_lost_packet(bool is_reliable) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 10, 0, 0);
    tracker_fixture_packet(&shared_fixture, SERVER, 1, 0, 0);
    struct ue_bunch *opening =
        is_reliable ? tracker_fixture_reliable(&shared_fixture, 5, 7) : tracker_fixture_bunch(&shared_fixture, 5);
    opening->control = opening->open = true;
    tracker_fixture_packet(&shared_fixture, SERVER, 2, 0, 0);
    for (uint32_t id = 3; id <= 4; id++) {
        tracker_fixture_reliable(&shared_fixture, 5, id + 5);
        tracker_fixture_ack(&shared_fixture, 10);
        tracker_fixture_packet(&shared_fixture, SERVER, id, 0, 0);
    }
    tracker_fixture_ack(&shared_fixture, 1);
    tracker_fixture_ack(&shared_fixture, 5);
    answer_next(6);
}

static void a_legacy_packet_may_need_an_opening_that_is_not_sent_again(void **state) {
    open_in_lost_packet(false);
    expect_unsure();
}

static void reliable_bunches_wait_for_a_reliable_opening(void **state) {
    open_in_lost_packet(true);
    expect_not_acknowledged();
}

/* A sender that retransmits a bunch has seen a loss. */
static void what_is_sent_again_was_not_acknowledged(void **state) {
    tracker_fixture_reliable(&shared_fixture, 6, 9);
    refuse_by_need(2, true);
    expect_not_acknowledged();
}

/* Receivers before 4.24 drop a late packet with the acks in it. */
static void a_late_legacy_packet_acknowledges_nothing(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 10, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 11, 0, 0);
    tracker_fixture_ack(&shared_fixture, 10);
    tracker_fixture_packet(&shared_fixture, SERVER, 2, 0, 0);
    shared_fixture.length = 0;
    tracker_fixture_ack(&shared_fixture, 11);
    tracker_fixture_packet(&shared_fixture, SERVER, 1, 0, 0);
    tracker_fixture_expect(&shared_fixture, "4 s packet 1 late, 0 in flight\n");
}

/* The client acknowledges packet 2, so that it did not receive it late, as the capture did, and processed its ack. */
static void a_legacy_packet_may_be_late_only_in_the_capture(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 10, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 11, 0, 0);
    tracker_fixture_ack(&shared_fixture, 10);
    tracker_fixture_packet(&shared_fixture, SERVER, 1, 0, 0);
    tracker_fixture_ack(&shared_fixture, 10);
    tracker_fixture_ack(&shared_fixture, 11);
    tracker_fixture_packet(&shared_fixture, SERVER, 3, 0, 0);
    tracker_fixture_ack(&shared_fixture, 11);
    tracker_fixture_packet(&shared_fixture, SERVER, 2, 0, 0);
    tracker_fixture_ack(&shared_fixture, 1);
    tracker_fixture_ack(&shared_fixture, 2);
    tracker_fixture_ack(&shared_fixture, 4);
    tracker_fixture_packet(&shared_fixture, CLIENT, 12, 0, 0);
    tracker_fixture_ack(&shared_fixture, 12);
    tracker_fixture_packet(&shared_fixture, SERVER, 5, 0, 0);
    tracker_fixture_packet(&shared_fixture, SERVER, 6, 0, 0);
    assert_int_equal(shared_fixture_counts(SERVER)->nacked, 1);
    assert_int_equal(shared_fixture_counts(CLIENT)->acked, 3);
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked, 0);
}

/* A receiver drops the packets after one with a damaged sequence, and acknowledges no later one. */
static void an_ack_of_a_damaged_sequence_is_no_report(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 10, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 11, 0, 0);
    tracker_fixture_ack(&shared_fixture, 10);
    tracker_fixture_ack(&shared_fixture, 11 + 128);
    tracker_fixture_packet(&shared_fixture, SERVER, 1, 0, 0);
    tracker_fixture_ack(&shared_fixture, 11 + 128);
    tracker_fixture_packet(&shared_fixture, SERVER, 2, 0, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->acked, 1);
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked, 0);
}

/* Packets that the capture lacks: the next ack confirms the first. */
static void acks_far_ahead_confirm_each_other(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 10, 0, 0);
    tracker_fixture_ack(&shared_fixture, 10);
    tracker_fixture_ack(&shared_fixture, 10 + 128);
    tracker_fixture_ack(&shared_fixture, 10 + 129);
    tracker_fixture_packet(&shared_fixture, SERVER, 1, 0, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->acked, 3);
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked, 127);
}

#define IN(test) cmocka_unit_test_setup_teardown(test, tracker_fixture_set_up_legacy, tracker_fixture_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN(legacy_acks_imply_naks),
        IN(the_first_legacy_ack_skips_what_may_have_been_reported),
        IN(a_legacy_ack_that_is_lost_twice_is_a_nak),
        IN(a_legacy_ack_may_be_in_a_packet_that_is_captured_late),
        IN(a_legacy_ack_may_be_in_a_packet_that_is_not_captured),
        IN(a_legacy_ack_in_a_packet_that_was_lost_has_not_arrived),
        IN(a_legacy_ack_that_may_have_arrived_stands),
        IN(a_legacy_ack_behind_a_missing_packet_is_not_known),
        IN(a_legacy_ack_in_one_missing_packet_would_be_in_the_next),
        IN(a_legacy_ack_may_be_in_one_missing_packet_that_was_full),
        IN(a_legacy_ack_that_is_not_repeated_was_not_written),
        IN(a_missing_packet_whose_acks_are_not_repeated_held_none),
        IN(a_missing_packet_after_a_full_one_may_hold_both_copies),
        IN(a_legacy_ack_that_is_repeated_late_was_written),
        IN(a_legacy_ack_may_be_repeated_in_a_missing_packet),
        IN(both_copies_of_a_legacy_ack_may_be_after_a_full_packet),
        IN(a_legacy_ack_may_be_in_two_missing_packets),
        IN(a_legacy_ack_behind_a_later_one_tells_of_an_arrival),
        IN(a_refused_legacy_packet_may_have_been_read),
        IN(what_a_legacy_packet_needs_may_be_far_before_it),
        IN(the_opening_that_a_legacy_packet_needs_may_be_resent_after_later_bunches),
        IN(what_a_legacy_packet_needs_may_not_be_in_the_capture),
        IN(the_message_that_a_legacy_packet_needs_may_have_several_fragments),
        IN(an_opening_that_a_legacy_packet_needs_waits_for_earlier_bunches),
        IN(a_closed_channel_must_open_again_for_a_legacy_packet),
        IN(an_open_channel_refuses_no_legacy_packet),
        IN(a_legacy_packet_may_need_an_opening_that_is_not_sent_again),
        IN(reliable_bunches_wait_for_a_reliable_opening),
        IN(what_is_sent_again_was_not_acknowledged),
        IN(a_late_legacy_packet_acknowledges_nothing),
        IN(a_legacy_packet_may_be_late_only_in_the_capture),
        IN(an_ack_of_a_damaged_sequence_is_no_report),
        IN(acks_far_ahead_confirm_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
