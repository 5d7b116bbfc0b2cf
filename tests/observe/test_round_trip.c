/* SPDX-License-Identifier: MIT */
/* The time from a packet to its first ack. An ack that a missing packet may have had has none until the missing packet
   is reported: the transcript prints "after" only for a round trip. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/observe/tracker_fixture.h"

static void client_sends(int64_t first_id, int64_t last_id) {
    for (int64_t id = first_id; id <= last_id; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 7, 1);
    }
}

static void expect_line(const char *line) {
    if (strstr(shared_fixture.text, line) == NULL) {
        fail_msg("no line \"%s\" in\n%s", line, shared_fixture.text);
    }
}

/* ---- from 4.22 on: each packet repeats the acks of those before it ---- */

static void every_new_ack_of_a_packet_is_a_round_trip(void **state) {
    client_sends(11, 12);
    tracker_fixture_packet(&shared_fixture, SERVER, 8, 12, 3);
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 12, 3);
    client_sends(13, 13);
    tracker_fixture_packet(&shared_fixture, SERVER, 10, 13, 7);
    expect_line("3 s ack 11 in 1 after 20\n3 s ack 12 in 2 after 10\n");
    expect_line("6 s ack 13 in 5 after 10\n");
}

static void a_missing_packet_may_have_had_the_acks_of_the_next(void **state) {
    client_sends(11, 11);
    tracker_fixture_packet(&shared_fixture, SERVER, 8, 11, 1);
    client_sends(12, 13);
    tracker_fixture_packet(&shared_fixture, SERVER, 10, 13, 7);
    client_sends(14, 14);
    tracker_fixture_packet(&shared_fixture, SERVER, 11, 14, 15);
    expect_line("2 s ack 11 in 1 after 10\n");
    expect_line("5 s ack 12 in 3\n5 s ack 13 in 4\n");
    expect_line("7 s ack 14 in 6 after 10\n");
}

static void expect_no_line(const char *line) {
    if (strstr(shared_fixture.text, line) != NULL) {
        fail_msg("line \"%s\" in\n%s", line, shared_fixture.text);
    }
}

/* Packet 9 of the server is missing before packet 10, which acknowledges 11 and 12. */
static void miss_packet_9(void) {
    client_sends(11, 11);
    tracker_fixture_packet(&shared_fixture, SERVER, 8, 10, 1);
    client_sends(12, 12);
    tracker_fixture_packet(&shared_fixture, SERVER, 10, 12, 7);
    expect_line("4 s ack 11 in 1\n4 s ack 12 in 3\n");
}

static void a_lost_packet_had_no_acks(void **state) {
    miss_packet_9();
    tracker_fixture_packet(&shared_fixture, CLIENT, 13, 10, 5);
    expect_line("5 c nak 9 unseen\n5 c ack 10 in 4 after 10\n5 c first ack 11 in 1: 4 after 30\n5 c first ack 12 in 3: "
                "4 after 10\n");
}

static void a_packet_that_was_delivered_may_have_had_them(void **state) {
    miss_packet_9();
    tracker_fixture_packet(&shared_fixture, CLIENT, 13, 10, 7);
    expect_line(
        "5 c ack 9 unseen\n5 c ack 10 in 4 after 10\n5 c repeated ack 11 in 1: 4\n5 c repeated ack 12 in 3: 4\n");
}

static void so_may_one_that_is_not_reported(void **state) {
    miss_packet_9();
    tracker_fixture_packet(&shared_fixture, CLIENT, 13, 8, 1);
    tracker_fixture_packet(&shared_fixture, SERVER, 11, 12, 15);
    expect_no_line("first ack");
    expect_no_line("repeated ack");
}

/* Of two missing packets one was lost. */
static void one_of_two_packets_may_have_had_them(void **state) {
    client_sends(11, 11);
    tracker_fixture_packet(&shared_fixture, SERVER, 8, 10, 1);
    tracker_fixture_packet(&shared_fixture, SERVER, 11, 11, 3);
    tracker_fixture_packet(&shared_fixture, CLIENT, 12, 11, 13);
    expect_line("4 c ack 9 unseen\n4 c nak 10 unseen\n4 c ack 11 in 3 after 10\n4 c repeated ack 11 in 1: 3\n");
    tracker_fixture_packet(&shared_fixture, SERVER, 14, 12, 7);
    tracker_fixture_packet(&shared_fixture, CLIENT, 13, 14, 0x69);
    expect_line("6 c nak 13 unseen\n6 c ack 14 in 5 after 10\n6 c first ack 12 in 4: 5 after 10\n");
}

/* A client that puts packets in order accepts a late one. Its acks were captured later, too. */
static void a_late_packet_had_its_acks_later(void **state) {
    miss_packet_9();
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 12, 3);
    tracker_fixture_packet(&shared_fixture, CLIENT, 13, 10, 7);
    expect_line("6 c ack 9 in 5 after 10\n6 c ack 10 in 4 after 20\n6 c first ack 11 in 1: 4 after 30\n6 c first ack "
                "12 in 3: 4 after 10\n");
}

static void unless_it_was_captured_elsewhere(void **state) {
    miss_packet_9();
    shared_fixture.point = 1;
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 12, 3);
    tracker_fixture_packet(&shared_fixture, CLIENT, 13, 10, 7);
    expect_line("6 c repeated ack 11 in 1: 4\n6 c repeated ack 12 in 3: 4\n");
}

/* The capture has its packets out of order. */
static void or_its_time_is_earlier(void **state) {
    miss_packet_9();
    shared_fixture.now_ns -= 15 * 1000000;
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 12, 3);
    tracker_fixture_packet(&shared_fixture, CLIENT, 13, 10, 7);
    expect_line("6 c repeated ack 11 in 1: 4\n6 c repeated ack 12 in 3: 4\n");
}

/* More gaps than are remembered: the oldest are forgotten. */
static void many_gaps(void **state) {
    tracker_fixture_packet(&shared_fixture, SERVER, 8, 10, 1);
    for (int64_t i = 0; i < 20; i++) {
        client_sends(11 + i, 11 + i);
        tracker_fixture_packet(&shared_fixture, SERVER, 10 + 2 * i, 11 + i, UINT32_MAX);
    }
    tracker_fixture_packet(&shared_fixture, CLIENT, 31, 48, 0x55555555);
    expect_no_line("first ack 14 ");
    expect_line("first ack 15 in 10: 11 after 10\n");
    expect_line("first ack 30 in 40: 41 after 10\n");
}

/* Without a handshake, packet 8 of the server may have been sent after packet 11 of the client, which acknowledges 7.
 */
static void a_capture_may_lack_packets_before_its_first(void **state) {
    client_sends(11, 11);
    tracker_fixture_packet(&shared_fixture, CLIENT, 12, 8, 1);
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 12, 3);
    expect_line("3 s ack 11 in 1\n3 s ack 12 in 2 after 10\n");
}

static void after_the_handshake_it_is_missing(void **state) {
    tracker_fixture_handshake(&shared_fixture, SERVER, UE_HANDSHAKE_ACK, false, 8, 11);
    client_sends(11, 11);
    tracker_fixture_packet(&shared_fixture, SERVER, 8, 11, 1);
    expect_line("3 s ack 11 in 2 after 10\n");
}

/* ---- up to 4.21: each ack is written into two packets ---- */

static void begin_legacy(void) {
    tracker_fixture_free(&shared_fixture);
    tracker_fixture_init(&shared_fixture, "4.18", SIZE_MAX);
}

static void server_acknowledges(int64_t id, int64_t first_id, int64_t last_id) {
    for (int64_t acked_id = first_id; acked_id <= last_id; acked_id++) {
        tracker_fixture_ack(&shared_fixture, acked_id);
    }
    tracker_fixture_packet(&shared_fixture, SERVER, id, 0, 0);
}

static void the_first_copy_of_a_legacy_ack_is_a_round_trip(void **state) {
    begin_legacy();
    client_sends(11, 12);
    server_acknowledges(8, 11, 11);
    server_acknowledges(9, 11, 12);
    expect_line("3 s ack 11 in 1\n"); /* packet 7 may have it, too */
    expect_line("4 s ack 12 in 2 after 20\n");
}

static void a_missing_packet_may_have_had_a_legacy_ack(void **state) {
    begin_legacy();
    client_sends(11, 12);
    server_acknowledges(8, 11, 11);
    server_acknowledges(10, 12, 12);
    client_sends(13, 13);
    server_acknowledges(11, 12, 13);
    expect_line("4 s ack 12 in 2\n");
    expect_line("6 s ack 13 in 5 after 10\n");
}

/* Packet 9 is missing, and had the first ack of 12. Packet 10 has only that of 13, and packet 11 repeats both. */
static void a_legacy_ack_that_is_repeated_later_is_no_round_trip(void **state) {
    begin_legacy();
    client_sends(11, 13);
    server_acknowledges(8, 11, 11);
    server_acknowledges(10, 13, 13);
    client_sends(14, 14);
    server_acknowledges(11, 12, 14);
    expect_line("5 s ack 13 in 3\n");
    expect_line("7 s ack 12 in 2\n7 s ack 14 in 6 after 10\n");
}

/* Packet 9 of the server is missing before packet 10, which has the ack of 12. */
static void miss_legacy_packet_9(void) {
    begin_legacy();
    client_sends(11, 12);
    server_acknowledges(8, 11, 11);
    server_acknowledges(10, 12, 12);
    expect_line("4 s ack 12 in 2\n");
}

static void a_lost_packet_had_no_legacy_acks(void **state) {
    miss_legacy_packet_9();
    tracker_fixture_ack(&shared_fixture, 8);
    tracker_fixture_ack(&shared_fixture, 10);
    tracker_fixture_packet(&shared_fixture, CLIENT, 13, 0, 0);
    expect_line("5 c nak 9 unseen\n5 c ack 10 in 4 after 10\n5 c first ack 12 in 2: 4 after 20\n");
}

static void a_packet_that_was_delivered_may_have_had_legacy_acks(void **state) {
    miss_legacy_packet_9();
    for (int64_t id = 8; id <= 10; id++) {
        tracker_fixture_ack(&shared_fixture, id);
    }
    tracker_fixture_packet(&shared_fixture, CLIENT, 13, 0, 0);
    expect_line("5 c ack 9 unseen\n5 c repeated ack 12 in 2: 4\n");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, tracker_fixture_set_up, tracker_fixture_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_new_ack_of_a_packet_is_a_round_trip),
        TEST(a_missing_packet_may_have_had_the_acks_of_the_next),
        TEST(a_lost_packet_had_no_acks),
        TEST(a_packet_that_was_delivered_may_have_had_them),
        TEST(so_may_one_that_is_not_reported),
        TEST(one_of_two_packets_may_have_had_them),
        TEST(a_late_packet_had_its_acks_later),
        TEST(unless_it_was_captured_elsewhere),
        TEST(or_its_time_is_earlier),
        TEST(many_gaps),
        TEST(a_capture_may_lack_packets_before_its_first),
        TEST(after_the_handshake_it_is_missing),
        TEST(the_first_copy_of_a_legacy_ack_is_a_round_trip),
        TEST(a_missing_packet_may_have_had_a_legacy_ack),
        TEST(a_legacy_ack_that_is_repeated_later_is_no_round_trip),
        TEST(a_lost_packet_had_no_legacy_acks),
        TEST(a_packet_that_was_delivered_may_have_had_legacy_acks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
