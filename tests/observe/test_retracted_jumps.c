/* SPDX-License-Identifier: MIT */
/* Packet ids far ahead: damaged, too early, or after a true loss. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/observe/tracker_fixture.h"

/* The packet that has the id of the retracted jump comes later: the packets before it exist. */
static void a_jump_is_retracted_once(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 400, 0, 0);
    for (int64_t id = 101; id <= 400; id++) {
        if (id != 250) {
            tracker_fixture_packet(&shared_fixture, CLIENT, id, 0, 0);
        }
        shared_fixture.length = 0;
    }
    tracker_fixture_packet(&shared_fixture, CLIENT, 250, 0, 0);
    tracker_fixture_expect(&shared_fixture, "302 c packet 250 late, 0 in flight\n");
}

/* A damaged sequence, 5000, shares the memory of captured packets with packet 1928, which comes late. */
static void a_retracted_jump_makes_no_duplicate(void **state) {
    for (int64_t id = 1900; id <= 2000; id++) {
        if (id != 1928) {
            tracker_fixture_packet(&shared_fixture, CLIENT, id, 0, 0);
        }
        shared_fixture.length = 0;
    }
    tracker_fixture_packet(&shared_fixture, CLIENT, 5000, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 2001, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 1928, 0, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->duplicates, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->late, 1);
    assert_int_equal(shared_fixture_counts(CLIENT)->missing, 0);
}

/* A gap that a damaged sequence seemed to end is still open, with the malformed datagram in it. */
static void a_retracted_jump_keeps_malformed_datagrams(void **state) {
    static const uint8_t bytes[8] = {0};
    const struct ue_packet_ids no_ids = {0};
    const struct ue_tracker_counts *counts = shared_fixture_counts(CLIENT);
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 0, 0);
    tracker_fixture_feed(&shared_fixture, CLIENT, &no_ids, bytes, sizeof bytes);
    tracker_fixture_packet(&shared_fixture, CLIENT, 4000, 0, 0);
    assert_int_equal(counts->missing, 3899);
    assert_int_equal(counts->missing_damaged, 1);
    tracker_fixture_packet(&shared_fixture, CLIENT, 102, 0, 0);
    assert_int_equal(counts->missing, 1);
    assert_int_equal(counts->missing_damaged, 1);
    tracker_fixture_packet(&shared_fixture, CLIENT, 104, 0, 0);
    assert_int_equal(counts->missing, 2);
    assert_int_equal(counts->missing_damaged, 1);
}

/* Each damaged sequence is in another block. */
static void retracted_jumps_leave_memory_for_packets(void **state) {
    for (int64_t n = 0; n < 40; n++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, 100 + n, 0, 0);
        tracker_fixture_packet(&shared_fixture, CLIENT, 2000 + 40 * n, 0, 0);
        shared_fixture.length = 0;
    }
    tracker_fixture_packet(&shared_fixture, CLIENT, 160, 0, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->untracked, 0);
}

static void send_silently(int64_t first_id, int64_t last_id) {
    for (int64_t id = first_id; id <= last_id; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 0, 0);
    }
    shared_fixture.length = 0;
}

/* Reordering brings packet 200 among the first. Its jump is retracted, and it is not missing later. */
static void a_packet_that_came_too_early_is_not_missing(void **state) {
    send_silently(100, 100);
    send_silently(200, 200);
    send_silently(101, 150);
    tracker_fixture_packet(&shared_fixture, SERVER, 7, 200, 1);
    assert_non_null(strstr(shared_fixture.text, "53 s ack 200 excused\n"));
    send_silently(151, 199);
    tracker_fixture_packet(&shared_fixture, CLIENT, 202, 0, 0);
    tracker_fixture_expect(&shared_fixture, "103 c missing 200-201, only 1\n103 c packet 202, 2 in flight\n");
    tracker_fixture_packet(&shared_fixture, CLIENT, 200, 0, 0);
    tracker_fixture_expect(&shared_fixture, "104 c packet 200 again, first in 2, 2 in flight\n");
    assert_int_equal(shared_fixture_counts(CLIENT)->missing, 1);
    assert_int_equal(shared_fixture_counts(CLIENT)->late, 0);
}

/* Likewise before a second jump that is retracted. */
static void two_packets_that_came_too_early_are_not_missing(void **state) {
    send_silently(100, 100);
    send_silently(200, 200);
    send_silently(101, 101);
    send_silently(300, 300);
    send_silently(102, 199);
    send_silently(201, 299);
    send_silently(301, 301);
    assert_int_equal(shared_fixture_counts(CLIENT)->missing, 0);
}

/* Two copies of it come too early; both capture points see the first. */
static void copies_of_a_packet_that_came_too_early_are_recognized(void **state) {
    send_silently(100, 100);
    send_silently(200, 200);
    send_silently(101, 101);
    tracker_fixture_packet(&shared_fixture, CLIENT, 200, 0, 0);
    tracker_fixture_expect(&shared_fixture, "4 c packet 200 again, first in 2, 0 in flight\n");
    shared_fixture.point = 1;
    tracker_fixture_packet(&shared_fixture, CLIENT, 200, 0, 0);
    tracker_fixture_expect(&shared_fixture, "5 c other view\n");
}

/* The id of packet 101 was damaged. Packets 200 and 201, which are others, come in this order. */
static void come_after_damaged(int64_t first_id, int64_t second_id) {
    send_silently(100, 100);
    tracker_fixture_bunch(&shared_fixture, 3);
    send_silently(200, 200);
    send_silently(102, 199);
    send_silently(first_id, first_id);
    send_silently(second_id, second_id);
    assert_int_equal(shared_fixture_counts(CLIENT)->missing, 1);
    assert_int_equal(shared_fixture_counts(CLIENT)->duplicates, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->late, first_id > second_id);
}

static void a_packet_with_the_id_of_a_damaged_one_is_no_copy(void **state) {
    come_after_damaged(200, 201);
}

static void a_late_packet_with_the_id_of_a_damaged_one_is_no_copy(void **state) {
    come_after_damaged(201, 200);
}

/* A damaged sequence far ahead causes one LOST; the older packets after it retract the loss. */
static void a_jump_is_not_walked(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 100 + 8191, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 101, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 0, 0);
    tracker_fixture_expect(&shared_fixture, "1 c packet 100, 0 in flight\n"
                                            "2 c missing 101-8290\n"
                                            "2 c packet 8291, 0 in flight\n"
                                            "3 c nothing missing in 2, 101-8290\n"
                                            "3 c packet 101, 0 in flight\n"
                                            "4 c packet 100 again, first in 1, 0 in flight\n");
    assert_int_equal(shared_fixture_counts(CLIENT)->missing, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->late, 0);
}

/* Packets that were really lost. */
static void a_true_jump_is_believed(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 2100, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 2099, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 2101, 0, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->missing, 1998);
    assert_int_equal(shared_fixture_counts(CLIENT)->late, 1);
}

/* A packet that is late, but was sent before the jump, shows nothing. */
static void a_late_packet_does_not_confirm_a_jump(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 103, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 104 + 4096, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 102, 0, 0);
    shared_fixture.length = 0;
    tracker_fixture_packet(&shared_fixture, CLIENT, 105, 0, 0);
    tracker_fixture_expect(&shared_fixture,
                           "5 c nothing missing in 3, 104-4199\n5 c missing 104-104\n5 c packet 105, 0 in flight\n");
    assert_int_equal(shared_fixture_counts(CLIENT)->missing, 2);
}

/* The receiver acknowledges the damaged sequence, and nothing more: no packet in between gets a nak. */
static void a_disproved_jump_is_not_judged(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 101 + 2048, 0, 0);
    tracker_fixture_packet(&shared_fixture, SERVER, 7, 101 + 2048, 1);
    tracker_fixture_packet(&shared_fixture, SERVER, 8, 101 + 2048, 1);
    shared_fixture.length = 0;
    tracker_fixture_packet(&shared_fixture, CLIENT, 102, 0, 0);
    tracker_fixture_expect(&shared_fixture,
                           "5 c nothing missing in 2, 101-2148\n5 c missing 101-101\n5 c packet 102, 0 in flight\n");
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 101 + 2048, 1);
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked + shared_fixture_counts(CLIENT)->acked, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->missing, 1);
}

#define IN(test) cmocka_unit_test_setup_teardown(test, tracker_fixture_set_up, tracker_fixture_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN(a_jump_is_retracted_once),
        IN(a_retracted_jump_makes_no_duplicate),
        IN(a_retracted_jump_keeps_malformed_datagrams),
        IN(retracted_jumps_leave_memory_for_packets),
        IN(a_packet_that_came_too_early_is_not_missing),
        IN(two_packets_that_came_too_early_are_not_missing),
        IN(copies_of_a_packet_that_came_too_early_are_recognized),
        IN(a_packet_with_the_id_of_a_damaged_one_is_no_copy),
        IN(a_late_packet_with_the_id_of_a_damaged_one_is_no_copy),
        IN(a_jump_is_not_walked),
        IN(a_true_jump_is_believed),
        IN(a_late_packet_does_not_confirm_a_jump),
        IN(a_disproved_jump_is_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
