/* SPDX-License-Identifier: MIT */
/* Acks far ahead of all packets that are known to be sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/observe/tracker_fixture.h"

static unsigned unexcused; /* acks of packets that were not captured */

static void count_unexcused(void *user, const struct ue_observed_event *event) {
    unexcused += event->type == UE_OBSERVED_ACK && event->ack.frame == 0 && !event->ack.is_excused;
}

static void begin_ahead(int64_t acked_id) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 6, 0);
    tracker_fixture_packet(&shared_fixture, SERVER, 7, 100, 1);
    shared_fixture.length = 0;
    tracker_fixture_packet(&shared_fixture, SERVER, 8, acked_id, 1);
}

/* The client continues far before them, and the server takes them back: the packets were never sent. */
static void acks_that_are_taken_back_are_of_packets_that_were_never_sent(void **state) {
    begin_ahead(200);
    tracker_fixture_packet(&shared_fixture, CLIENT, 101, 6, 0);
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 101, 3);
    tracker_fixture_expect(&shared_fixture, "3 s packet 8, 2 in flight\n"
                                            "4 c packet 101, 1 in flight\n"
                                            "5 s packet 9, 3 in flight\n"
                                            "5 s never sent in 3, 101-200\n"
                                            "5 s ack 101 in 4 after 10\n");
    assert_int_equal(shared_fixture_counts(CLIENT)->acked, 2);
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked, 0);
}

/* The next packet acknowledges as much: the capture lacks the packets. */
static void acks_that_are_confirmed_are_of_packets_that_are_missing(void **state) {
    begin_ahead(200);
    assert_int_equal(shared_fixture_counts(CLIENT)->acked, 1);
    tracker_fixture_packet(&shared_fixture, CLIENT, 201, 8, 3);
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 201, 3);
    assert_non_null(strstr(shared_fixture.text, "3 s ack 200 unseen\n5 s ack 201 in 4 after 10\n"));
    assert_null(strstr(shared_fixture.text, "never sent"));
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked, 31);
}

/* The capture is out of order: it has the packet, after its ack. */
static void a_packet_may_be_captured_after_its_ack(void **state) {
    begin_ahead(200);
    tracker_fixture_packet(&shared_fixture, CLIENT, 200, 8, 3);
    tracker_fixture_packet(&shared_fixture, CLIENT, 201, 8, 3);
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 201, 3);
    assert_non_null(strstr(shared_fixture.text, "3 s ack 200 in 4\n6 s ack 201 in 5 after 10\n"));
}

/* Without a packet of the client it is not known that it did not send them. */
static void acks_that_are_only_taken_back_are_no_accusation(void **state) {
    begin_ahead(200);
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 100, 1);
    tracker_fixture_packet(&shared_fixture, CLIENT, 201, 8, 3);
    tracker_fixture_packet(&shared_fixture, SERVER, 10, 201, 3);
    assert_null(strstr(shared_fixture.text, "never sent"));
}

/* Packets that are reordered, or few that the capture lacks. */
static void acks_that_are_little_ahead_count_at_once(void **state) {
    begin_ahead(164);
    assert_non_null(strstr(shared_fixture.text, "3 s ack 164 unseen\n"));
    tracker_fixture_packet(&shared_fixture, CLIENT, 101, 7, 1);
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 101, 3);
    assert_null(strstr(shared_fixture.text, "never sent"));
}

/* A capture begins in the middle with packets 12 and 15 of the client. The first packet of the server acknowledges all
   up to 13, which may have been captured before; its next one also 14, which the capture lacks. */
static void begin_between(void) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 12, 7, 1);
    tracker_fixture_packet(&shared_fixture, CLIENT, 15, 7, 1);
    tracker_fixture_packet(&shared_fixture, SERVER, 8, 13, 15);
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 15, 63);
    shared_fixture.length = 0;
}

static void a_late_packet_whose_ack_was_excused_was_not_counted(void **state) {
    begin_between();
    tracker_fixture_packet(&shared_fixture, CLIENT, 11, 7, 1);
    tracker_fixture_packet(&shared_fixture, CLIENT, 13, 7, 1);
    assert_non_null(strstr(shared_fixture.text, "packet 11 late,"));
    assert_non_null(strstr(shared_fixture.text, "packet 13 late,"));
}

static void a_late_packet_whose_ack_was_counted_is_no_longer_missing(void **state) {
    begin_between();
    tracker_fixture_packet(&shared_fixture, CLIENT, 14, 7, 1);
    assert_non_null(strstr(shared_fixture.text, "packet 14 late acked unseen after its ack in 4,"));
}

/* Packet 16 comes late, too, but before the server reports it. */
static void a_late_packet_that_was_reported_as_not_delivered_is_refused(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 12, 7, 1);
    tracker_fixture_packet(&shared_fixture, SERVER, 8, 12, 1);
    tracker_fixture_packet(&shared_fixture, CLIENT, 14, 8, 1);
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 14, 5);
    tracker_fixture_packet(&shared_fixture, CLIENT, 13, 8, 1);
    assert_non_null(strstr(shared_fixture.text, "packet 13 late refused after its nak in 4,"));
    tracker_fixture_packet(&shared_fixture, CLIENT, 17, 9, 1);
    tracker_fixture_packet(&shared_fixture, CLIENT, 16, 9, 1);
    assert_non_null(strstr(shared_fixture.text, "packet 16 late,"));
}

/* Packets that were captured as another connection, for example before the client's port changed. */
static void acks_of_packets_before_the_first_captured_acks_are_excused(void **state) {
    shared_fixture.listener = (struct ue_observer_callbacks){.event = count_unexcused};
    unexcused = 0;
    begin_between();
    assert_int_equal(unexcused, 1);
}

/* The first packets of the client are 0 and 2; before them the server acknowledged the one before. */
static void acks_before_the_first_packet_excuse_none_after_it(void **state) {
    shared_fixture.listener = (struct ue_observer_callbacks){.event = count_unexcused};
    unexcused = 0;
    tracker_fixture_packet(&shared_fixture, SERVER, 8, 16383, 1);
    tracker_fixture_packet(&shared_fixture, CLIENT, 0, 8, 1);
    tracker_fixture_packet(&shared_fixture, CLIENT, 2, 8, 1);
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 2, 7);
    assert_int_equal(unexcused, 1);
}

/* ---- the first acks of a capture ---- */

/* The header of the first packet is damaged: nothing between its ack and those of the next packets was sent. */
static void a_damaged_first_ack_names_no_packets(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 0, 12287, 1);
    for (int64_t id = 1; id < 4; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 16383, 0);
    }
    tracker_fixture_packet(&shared_fixture, SERVER, 0, 3, 0xf);
    tracker_fixture_packet(&shared_fixture, CLIENT, 4, 0, 1);
    assert_true(shared_fixture_counts(SERVER)->nacked <= 1);
}

/* The first ack of the capture is of packet 400, and its history has the 31 packets before it. */
static void report_one_packet_of_300(void) {
    for (int64_t id = 100; id < 400; id += 40) {
        tracker_fixture_packet(&shared_fixture, SERVER, id, 4, 0);
    }
    tracker_fixture_packet(&shared_fixture, CLIENT, 5, 400, 1);
}

/* Older packets may have been reported before the capture. */
static void acks_before_the_capture_are_no_naks(void **state) {
    report_one_packet_of_300();
    assert_int_equal(shared_fixture_counts(SERVER)->nacked, 31);
}

/* The capture begins with the connection. */
static void skipped_packets_of_a_whole_capture_are_naks(void **state) {
    tracker_fixture_handshake(&shared_fixture, SERVER, UE_HANDSHAKE_CHALLENGE, false, 100, 5);
    report_one_packet_of_300();
    assert_int_equal(shared_fixture_counts(SERVER)->nacked, 300);
}

#define IN(test) cmocka_unit_test_setup_teardown(test, tracker_fixture_set_up, tracker_fixture_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN(acks_that_are_taken_back_are_of_packets_that_were_never_sent),
        IN(acks_that_are_confirmed_are_of_packets_that_are_missing),
        IN(a_packet_may_be_captured_after_its_ack),
        IN(acks_that_are_only_taken_back_are_no_accusation),
        IN(acks_that_are_little_ahead_count_at_once),
        IN(a_late_packet_that_was_reported_as_not_delivered_is_refused),
        IN(a_late_packet_whose_ack_was_excused_was_not_counted),
        IN(a_late_packet_whose_ack_was_counted_is_no_longer_missing),
        IN(acks_of_packets_before_the_first_captured_acks_are_excused),
        IN(acks_before_the_first_packet_excuse_none_after_it),
        IN(a_damaged_first_ack_names_no_packets),
        IN(acks_before_the_capture_are_no_naks),
        IN(skipped_packets_of_a_whole_capture_are_naks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
