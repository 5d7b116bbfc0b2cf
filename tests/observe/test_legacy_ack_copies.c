/* SPDX-License-Identifier: MIT */
/* Acks up to 4.21 that prove nothing: copies after the ack of a later packet, and acks that were captured late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/observe/tracker_fixture.h"

static void expect_counts(uint64_t acked, uint64_t nacked, uint64_t unsure) {
    assert_int_equal(shared_fixture_counts(CLIENT)->acked, acked);
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked, nacked);
    assert_int_equal(shared_fixture_counts(CLIENT)->unsure, unsure);
    shared_fixture.length = 0;
}

/* A packet of this side with up to two acks; 0: none. */
static void send(unsigned side, int64_t id, int64_t first_ack, int64_t second_ack) {
    if (first_ack != 0) {
        tracker_fixture_ack(&shared_fixture, first_ack);
    }
    if (second_ack != 0) {
        tracker_fixture_ack(&shared_fixture, second_ack);
    }
    tracker_fixture_packet(&shared_fixture, side, id, 0, 0);
}

/* The client sends packets 10 to 13; packet 1 of the server acknowledges 10. */
static void acknowledge_first(void) {
    for (int64_t id = 10; id < 14; id++) {
        send(CLIENT, id, 0, 0);
    }
    send(SERVER, 1, 10, 0);
}

/* Then packet 2 acknowledges 11. */
static void acknowledge_first_two(void) {
    acknowledge_first();
    send(SERVER, 2, 11, 0);
}

/* The client has received packets 1 and 3, not 2. The ack of 11 after that of 12 comes too late: 11 counts as lost. */
static void a_copy_after_the_ack_of_a_later_packet_changes_nothing(void **state) {
    acknowledge_first_two();
    send(SERVER, 3, 12, 11);
    send(CLIENT, 14, 1, 3);
    send(SERVER, 4, 13, 12);
    expect_counts(3, 1, 0);
    assert_int_equal(ue_tracker_packet_state(shared_fixture.tracker, CLIENT, 11), UE_TRACKER_PACKET_NOT_DELIVERED);
}

static void a_copy_before_the_ack_of_a_later_packet_counts(void **state) {
    acknowledge_first_two();
    send(SERVER, 3, 11, 12);
    send(CLIENT, 14, 1, 3);
    send(SERVER, 4, 12, 13);
    expect_counts(4, 0, 0);
}

/* Packet 3 acknowledges 12, packet 4 repeats the ack of 11. The client receives 4, and overtaking if it is not 0. */
static void overtake(int64_t overtaking) {
    acknowledge_first_two();
    send(SERVER, 3, 12, 0);
    send(SERVER, 4, 11, 12);
    tracker_fixture_ack(&shared_fixture, 1);
    send(CLIENT, 14, overtaking, 4);
    send(SERVER, 5, 13, 0);
}

static void a_copy_after_a_packet_with_a_later_ack_changes_nothing(void **state) {
    overtake(3);
    expect_counts(3, 1, 0);
}

static void a_copy_after_a_lost_packet_with_a_later_ack_counts(void **state) {
    overtake(0);
    expect_counts(4, 0, 0);
}

/* Packet 2 is missing, and may have acknowledged 11. The copies that follow the ack of 12 do not show that. */
static void a_copy_does_not_show_that_the_first_one_arrived(void **state) {
    acknowledge_first();
    send(SERVER, 3, 12, 11);
    send(CLIENT, 14, 1, 3);
    send(SERVER, 4, 13, 12);
    expect_counts(4, 0, 1);
}

/* Packet 2 is missing, and may have acknowledged 11 first. Packet 3 repeats that, and is lost. */
static void lose_one_copy(int64_t arrived) {
    acknowledge_first();
    send(SERVER, 3, 11, 12);
    send(SERVER, 4, 12, 13);
    tracker_fixture_ack(&shared_fixture, 1);
    send(CLIENT, 14, arrived, 4);
    send(SERVER, 5, 13, 0);
}

static void a_copy_that_was_not_captured_may_have_arrived(void **state) {
    lose_one_copy(2);
    expect_counts(4, 0, 1);
}

static void a_copy_in_a_packet_that_was_lost_too_did_not_arrive(void **state) {
    lose_one_copy(0);
    expect_counts(3, 1, 0);
}

/* Packet 10 is captured after the first ack, which may not be the first of the connection. */
static void an_early_packet_that_is_late_may_have_been_acknowledged(void **state) {
    send(CLIENT, 12, 0, 0);
    send(SERVER, 1, 12, 0);
    send(CLIENT, 10, 0, 0);
    send(CLIENT, 11, 0, 0);
    expect_counts(1, 0, 2);
}

static void an_early_packet_before_the_first_ack_counts_once(void **state) {
    send(CLIENT, 12, 0, 0);
    send(CLIENT, 11, 0, 0);
    send(SERVER, 1, 12, 0);
    send(CLIENT, 10, 0, 0);
    expect_counts(1, 0, 2);
}

/* Server packet 2 acknowledges 300, far ahead of packet 101. The next ack is of `next`. */
static void acknowledge_far_ahead(int64_t next) {
    send(CLIENT, 100, 0, 0);
    send(SERVER, 1, 100, 0);
    send(CLIENT, 101, 0, 0);
    send(SERVER, 2, 101, 300);
    for (int64_t id = 102; id <= 301; id++) {
        send(CLIENT, id, 0, 0);
        shared_fixture.length = 0;
    }
    send(SERVER, 3, next, 301);
}

static void an_ack_far_ahead_leaves_its_packet_open(void **state) {
    acknowledge_far_ahead(0);
    expect_counts(3, 198, 1);
}

static void an_ack_far_ahead_that_comes_again_counts(void **state) {
    acknowledge_far_ahead(300);
    expect_counts(4, 198, 0);
}

#define IN(test) cmocka_unit_test_setup_teardown(test, tracker_fixture_set_up_legacy, tracker_fixture_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN(a_copy_after_the_ack_of_a_later_packet_changes_nothing),
        IN(a_copy_before_the_ack_of_a_later_packet_counts),
        IN(a_copy_after_a_packet_with_a_later_ack_changes_nothing),
        IN(a_copy_after_a_lost_packet_with_a_later_ack_counts),
        IN(a_copy_does_not_show_that_the_first_one_arrived),
        IN(a_copy_that_was_not_captured_may_have_arrived),
        IN(a_copy_in_a_packet_that_was_lost_too_did_not_arrive),
        IN(an_early_packet_that_is_late_may_have_been_acknowledged),
        IN(an_early_packet_before_the_first_ack_counts_once),
        IN(an_ack_far_ahead_leaves_its_packet_open),
        IN(an_ack_far_ahead_that_comes_again_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
