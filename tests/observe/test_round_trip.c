/* SPDX-License-Identifier: MIT */
/* The time from a packet to its first ack. An ack that an earlier packet may have had has none: the transcript prints
   "after" only for a round trip. */
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
    (void)state;
    client_sends(11, 12);
    tracker_fixture_packet(&shared_fixture, SERVER, 8, 12, 3);
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 12, 3);
    client_sends(13, 13);
    tracker_fixture_packet(&shared_fixture, SERVER, 10, 13, 7);
    expect_line("3 s ack 11 in 1 after 20\n3 s ack 12 in 2 after 10\n");
    expect_line("6 s ack 13 in 5 after 10\n");
}

static void a_missing_packet_may_have_had_the_acks_of_the_next(void **state) {
    (void)state;
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
    (void)state;
    begin_legacy();
    client_sends(11, 12);
    server_acknowledges(8, 11, 11);
    server_acknowledges(9, 11, 12);
    expect_line("3 s ack 11 in 1 after 20\n");
    expect_line("4 s ack 12 in 2 after 20\n");
}

static void a_missing_packet_may_have_had_a_legacy_ack(void **state) {
    (void)state;
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
    (void)state;
    begin_legacy();
    client_sends(11, 13);
    server_acknowledges(8, 11, 11);
    server_acknowledges(10, 13, 13);
    client_sends(14, 14);
    server_acknowledges(11, 12, 14);
    expect_line("5 s ack 13 in 3\n");
    expect_line("7 s ack 12 in 2\n7 s ack 14 in 6 after 10\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_new_ack_of_a_packet_is_a_round_trip, tracker_fixture_set_up,
                                        tracker_fixture_tear_down),
        cmocka_unit_test_setup_teardown(a_missing_packet_may_have_had_the_acks_of_the_next, tracker_fixture_set_up,
                                        tracker_fixture_tear_down),
        cmocka_unit_test_setup_teardown(the_first_copy_of_a_legacy_ack_is_a_round_trip, tracker_fixture_set_up,
                                        tracker_fixture_tear_down),
        cmocka_unit_test_setup_teardown(a_missing_packet_may_have_had_a_legacy_ack, tracker_fixture_set_up,
                                        tracker_fixture_tear_down),
        cmocka_unit_test_setup_teardown(a_legacy_ack_that_is_repeated_later_is_no_round_trip, tracker_fixture_set_up,
                                        tracker_fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
