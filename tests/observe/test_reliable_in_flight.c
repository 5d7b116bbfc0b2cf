/* SPDX-License-Identifier: MIT */
/* The bounds of the sender's reliable buffer: each test has a case that must not change a bound beside one that must.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/observe/tracker_fixture.h"

static struct ue_observed_bounds latest; /* of the latest reliable bunch */

static void on_event(void *user, const struct ue_observed_event *event) {
    if (event->type == UE_OBSERVED_BUNCH) {
        latest = event->bunch.in_flight;
    }
}

static void begin(const char *release) {
    tracker_fixture_init(&shared_fixture, release, SIZE_MAX / 2);
    shared_fixture.listener = (struct ue_observer_callbacks){.event = on_event};
    latest = (struct ue_observed_bounds){0};
}

static int begin_in_the_middle(void **state) {
    begin("5.1");
    return 0;
}

/* The first sequences are 10 of the server and 70 of the client; the first channel sequence is 11. */
static int begin_with_handshake(void **state) {
    begin("5.1");
    tracker_fixture_handshake(&shared_fixture, SERVER, UE_HANDSHAKE_CHALLENGE, false, 10, 70);
    return 0;
}

/* The server sends a packet with one reliable bunch; ack_id, history: what it reports of the client's packets. */
static void serve(int64_t id, uint32_t ch_seq, int64_t ack_id, uint32_t history) {
    tracker_fixture_reliable(&shared_fixture, 3, ch_seq);
    tracker_fixture_packet(&shared_fixture, SERVER, id, ack_id, history);
}

static void answer(int64_t id, int64_t ack_id, uint32_t history) {
    tracker_fixture_packet(&shared_fixture, CLIENT, id, ack_id, history);
}

static void assert_bounds(uint32_t at_least, uint32_t at_most) {
    assert_int_equal(latest.at_least, at_least);
    assert_int_equal(latest.at_most, at_most);
}

/* The server sends packets without a bunch, and the client acknowledges every 20th. Returns the client's next id. */
static int64_t serve_nothing(int64_t first_id, int64_t last_id, int64_t client_id) {
    for (int64_t id = first_id; id <= last_id; id++) {
        tracker_fixture_packet(&shared_fixture, SERVER, id, 69, 0);
        if ((id - first_id) % 20 == 19) {
            answer(client_id++, id, UINT32_MAX);
        }
    }
    return client_id;
}

/* ---- damaged channel sequences ---- */

/* Bunch 13 has another sequence in the capture: it is acknowledged with its packet. */
static void a_damaged_bunch_is_not_held(void **state) {
    serve(10, 11, 69, 0);
    serve(11, 12, 69, 0);
    serve(12, 13 + 64, 69, 0);
    serve(13, 14, 69, 0);
    answer(70, 13, 0xf);
    serve(14, 15, 69, 0);
    assert_int_equal(latest.at_least, 1);
}

/* After a damaged bunch another one is before it, but the bunch before that was never captured. The next one, 14, shows
   what is held. */
static void a_damaged_sequence_shows_no_buffer(void **state) {
    serve(10, 11, 69, 0);
    serve(11, 12 + 64, 69, 0);
    assert_int_equal(latest.at_least, 1);
    serve(12, 13 + 32, 69, 0);
    assert_int_equal(latest.at_least, 1);
    serve(13, 14, 69, 0);
    serve(14, 15, 69, 0);
    assert_int_equal(latest.at_least, 5);
}

/* Packet 12 is missing in the capture: the client reports it as not delivered. */
static void a_missing_bunch_is_held(void **state) {
    serve(10, 11, 69, 0);
    serve(11, 12, 69, 0);
    serve(13, 14, 69, 0);
    answer(70, 13, 0xd);
    serve(14, 15, 69, 0);
    assert_int_equal(latest.at_least, 3);
}

/* The client acknowledges packet 100, which the capture lacks, and with it those of the packets 10 to 12 whose bit is
   set. It is not yet certain that this header is not damaged. */
static void hold_acks(uint32_t acked) {
    serve(10, 11, 69, 0);
    serve(11, 12, 69, 0);
    serve(12, 13, 69, 0);
    shared_fixture.header.history_words = 3;
    shared_fixture.header.history[2] = acked;
    answer(70, 100, 1);
    serve(13, 14, 69, 0);
}

static void acks_far_ahead_may_have_freed_bunches(void **state) {
    hold_acks(UINT32_C(7) << 24);
    assert_int_equal(latest.at_least, 1);
}

static void acks_far_ahead_free_only_what_they_acknowledge(void **state) {
    hold_acks(UINT32_C(5) << 24);
    assert_int_equal(latest.at_least, 3);
}

/* ---- packets that are forgotten ---- */

/* Bunch 11 in packet 110 is lost twice. Bunch 12 in packet 111 has the report of `history`; then its entry in the table
   is used for packet 367. From packet 569 on the table grows, because the client is silent. */
static void forget_packets(uint32_t history, int64_t silent_packets) {
    int64_t last_id = 313 + silent_packets;
    int64_t client_id = serve_nothing(10, 109, 70);
    serve(110, 11, 69, 0);
    serve(111, 12, 69, 0);
    answer(client_id++, 111, history);
    serve(112, 11, 69, 0);
    answer(client_id++, 112, history << 1);
    client_id = serve_nothing(113, 312, client_id);
    for (int64_t id = 313; id < last_id; id++) {
        tracker_fixture_packet(&shared_fixture, SERVER, id, 69, 0);
    }
    serve(last_id, 11, 69, 0);
    answer(client_id, last_id, UINT32_MAX);
    serve(last_id + 1, 13, 69, 0);
}

static void a_report_outlives_its_packet(void **state) {
    forget_packets(UINT32_MAX - 2, 70);
    assert_int_equal(latest.at_least, 1);
}

static void a_report_outlives_its_packet_when_the_table_grows(void **state) {
    forget_packets(UINT32_MAX - 2, 260);
    assert_int_equal(latest.at_least, 1);
}

static void a_forgotten_nak_frees_nothing(void **state) {
    forget_packets(UINT32_MAX - 3, 70);
    assert_int_equal(latest.at_least, 2);
}

/* ---- acks that arrive, or not ---- */

static void an_ack_frees_once_it_is_shown_to_have_arrived(void **state) {
    serve(10, 11, 69, 0);
    serve(11, 12, 69, 0);
    assert_bounds(2, 2);
    answer(70, 11, 3);
    serve(12, 13, 69, 0); /* the server has not received packet 70 so far */
    assert_bounds(1, 3);
    serve(13, 14, 70, 1);
    assert_bounds(2, 2);
}

static void an_ack_in_a_lost_packet_frees_nothing(void **state) {
    serve(10, 11, 69, 0);
    answer(70, 10, 1);
    serve(11, 12, 69, 0);
    assert_bounds(1, 2);
    answer(71, 10, 1);
    serve(12, 13, 71, 1); /* 70 is lost, and 71 has the same ack */
    assert_bounds(2, 2);
}

static void a_nak_frees_nothing(void **state) {
    serve(10, 11, 69, 0);
    serve(11, 12, 69, 0);
    answer(70, 11, 1); /* 10 is lost */
    serve(12, 11, 70, 1);
    assert_bounds(1, 1);
    serve(13, 13, 70, 1);
    assert_bounds(3, 3);
}

/* The server knows that 10 is lost. If it retransmitted bunch 11 in a packet that was damaged, the bunch looks
   unacknowledged for ever. */
static void a_retransmission_that_is_due_may_be_acknowledged(void **state) {
    serve(10, 11, 69, 0);
    serve(11, 12, 69, 0);
    answer(70, 11, 1);
    serve(12, 13, 69, 0); /* the server has not received packet 70 so far */
    assert_bounds(3, 3);
    serve(13, 14, 70, 1);
    assert_bounds(2, 4);
    serve(14, 11, 70, 1);
    serve(15, 15, 70, 1);
    assert_bounds(5, 5);
}

/* A packet that the server has received, but the capture has not, can have any ack. */
static void acks_that_were_not_captured_can_free(void **state) {
    serve(10, 11, 69, 0);
    serve(11, 12, 69, 0);
    serve(12, 13, 70, 1);
    assert_bounds(1, 3);
    serve(13, 14, 70, 1); /* the packet before it cannot be acknowledged by packet 70 */
    assert_bounds(2, 4);
}

static void a_retransmission_shows_what_is_held(void **state) {
    serve(10, 11, 69, 0);
    serve(11, 12, 69, 0);
    answer(70, 11, 3);
    serve(12, 11, 70, 1); /* the server retransmits what was acknowledged */
    assert_bounds(1, 1);
    serve(13, 13, 70, 1);
    assert_bounds(3, 3);
}

static void a_late_packet_is_no_retransmission(void **state) {
    serve(10, 11, 69, 0);
    serve(12, 12, 69, 0);
    serve(13, 13, 69, 0);
    answer(70, 13, 11); /* 11 is lost */
    serve(11, 12, 69, 0);
    serve(14, 14, 70, 1);
    assert_int_equal(latest.at_least, 1);
}

/* ---- bunches that were not captured ---- */

static void a_bunch_in_a_lost_packet_is_held(void **state) {
    serve(10, 11, 69, 0);
    serve(12, 13, 69, 0);
    answer(70, 12, 5); /* 11 is lost */
    serve(13, 14, 70, 1);
    assert_bounds(3, 4); /* 12 may be in packet 11, and then packet 13 would be the first with it */
}

static void a_bunch_in_a_packet_that_was_delivered_and_not_captured_is_unknown(void **state) {
    serve(10, 11, 69, 0);
    serve(12, 13, 69, 0);
    answer(70, 12, 7);
    serve(13, 14, 70, 1);
    assert_int_equal(latest.at_least, 1);
    serve(14, 15, 70, 1);
    assert_bounds(2, 2);
}

/* In a hole of the capture, packet 11 may have been reported as delivered. */
static void a_bunch_in_a_packet_of_which_no_report_was_captured_is_unknown(void **state) {
    serve(10, 11, 69, 0);
    serve(12, 13, 69, 0);
    answer(70, 10, 1);
    serve(60, 14, 69, 0);
    answer(80, 60, 1); /* reports 29 to 60 */
    serve(61, 15, 80, 1);
    assert_int_equal(latest.at_least, 1);
}

static void bunches_before_the_capture_are_unknown(void **state) {
    serve(500, 1, 69, 0); /* a retransmission: 2 to 200 were sent before the capture */
    serve(501, 200, 69, 0);
    assert_bounds(1, 200);
    answer(70, 501, 3);
    serve(502, 201, 70, 1);
    assert_int_equal(latest.at_least, 1);
    serve(503, 202, 70, 1);
    assert_bounds(2, 2);
}

/* The sequence after a gap may be damaged: the next bunch confirms it. */
static void bunches_of_a_complete_capture_are_held(void **state) {
    serve(10, 11, 69, 0);
    serve(12, 210, 69, 0);
    assert_bounds(1, 200);
    answer(70, 12, 5); /* 11 is lost */
    serve(13, 211, 70, 1);
    assert_int_equal(latest.at_least, 200);
}

/* A bunch that appears after a missing packet may have been sent first in that packet. */
static void a_bunch_may_have_been_sent_in_a_missing_packet(void **state) {
    serve(10, 11, 69, 0);
    serve(11, 12, 69, 0);
    answer(70, 11, 3);
    serve(13, 13, 70, 1);
    assert_bounds(1, 3);
    answer(71, 13, 5);
    serve(14, 14, 71, 3);
    assert_bounds(1, 4);
    answer(72, 14, 3); /* packet 12 is reported: nothing of it can follow */
    serve(15, 15, 72, 7);
    assert_bounds(1, 1);
}

/* ---- up to 4.21 ---- */

static int begin_legacy(void **state) {
    begin("4.18");
    return 0;
}

static void serve_legacy(int64_t id, uint32_t ch_seq, int64_t ack_id) {
    if (ack_id >= 0) {
        tracker_fixture_ack(&shared_fixture, ack_id);
    }
    serve(id, ch_seq, 0, 0);
}

static void answer_legacy(int64_t id, int64_t ack_id) {
    tracker_fixture_ack(&shared_fixture, ack_id);
    answer(id, 0, 0);
}

static void an_ack_up_to_4_21_frees_once_it_is_shown_to_have_arrived(void **state) {
    serve_legacy(10, 11, -1);
    serve_legacy(11, 12, -1);
    assert_bounds(2, 2);
    answer_legacy(70, 10);
    serve_legacy(12, 13, -1);
    assert_bounds(2, 3);
    answer_legacy(71, 11);
    serve_legacy(13, 14, 70);
    assert_bounds(2, 4); /* the first acks also end the wait for packets before the capture */
    serve_legacy(14, 15, 71);
    assert_bounds(3, 3);
}

/* A packet of the client without acks, which is cut after its header or whole. */
static void answer_cut(bool is_cut) {
    serve_legacy(10, 11, -1);
    serve_legacy(11, 12, -1);
    shared_fixture.captured_bytes = is_cut ? 3 : 0;
    tracker_fixture_bunch(&shared_fixture, 4);
    answer(70, 0, 0);
    shared_fixture.captured_bytes = 0;
    serve_legacy(12, 13, -1);
}

static void acks_beyond_the_cut_can_free(void **state) {
    answer_cut(true);
    assert_bounds(1, 3);
}

static void a_whole_packet_without_acks_frees_nothing(void **state) {
    answer_cut(false);
    assert_bounds(3, 3);
}

#define IN(setup, test) cmocka_unit_test_setup_teardown(test, setup, tracker_fixture_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN(begin_with_handshake, a_damaged_bunch_is_not_held),
        IN(begin_with_handshake, a_damaged_sequence_shows_no_buffer),
        IN(begin_with_handshake, a_missing_bunch_is_held),
        IN(begin_with_handshake, acks_far_ahead_may_have_freed_bunches),
        IN(begin_with_handshake, acks_far_ahead_free_only_what_they_acknowledge),
        IN(begin_with_handshake, a_report_outlives_its_packet),
        IN(begin_with_handshake, a_report_outlives_its_packet_when_the_table_grows),
        IN(begin_with_handshake, a_forgotten_nak_frees_nothing),
        IN(begin_with_handshake, an_ack_frees_once_it_is_shown_to_have_arrived),
        IN(begin_with_handshake, an_ack_in_a_lost_packet_frees_nothing),
        IN(begin_with_handshake, a_nak_frees_nothing),
        IN(begin_with_handshake, a_retransmission_that_is_due_may_be_acknowledged),
        IN(begin_with_handshake, acks_that_were_not_captured_can_free),
        IN(begin_with_handshake, a_retransmission_shows_what_is_held),
        IN(begin_with_handshake, a_late_packet_is_no_retransmission),
        IN(begin_with_handshake, a_bunch_in_a_lost_packet_is_held),
        IN(begin_with_handshake, a_bunch_in_a_packet_that_was_delivered_and_not_captured_is_unknown),
        IN(begin_with_handshake, a_bunch_in_a_packet_of_which_no_report_was_captured_is_unknown),
        IN(begin_in_the_middle, bunches_before_the_capture_are_unknown),
        IN(begin_with_handshake, bunches_of_a_complete_capture_are_held),
        IN(begin_with_handshake, a_bunch_may_have_been_sent_in_a_missing_packet),
        IN(begin_legacy, acks_beyond_the_cut_can_free),
        IN(begin_legacy, a_whole_packet_without_acks_frees_nothing),
        IN(begin_legacy, an_ack_up_to_4_21_frees_once_it_is_shown_to_have_arrived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
