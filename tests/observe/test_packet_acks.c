/* SPDX-License-Identifier: MIT */
/* Acks far ahead of all packets that are known to be sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/observe/tracker_fixture.h"

static void begin_ahead(int64_t acked_id) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 6, 0);
    tracker_fixture_packet(&shared_fixture, SERVER, 7, 100, 1);
    shared_fixture.length = 0;
    tracker_fixture_packet(&shared_fixture, SERVER, 8, acked_id, 1);
}

/* The client continues far before them, and the server takes them back: the packets were never sent. */
static void acks_that_are_taken_back_are_of_packets_that_were_never_sent(void **state) {
    (void)state;
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
    (void)state;
    begin_ahead(200);
    assert_int_equal(shared_fixture_counts(CLIENT)->acked, 1);
    tracker_fixture_packet(&shared_fixture, CLIENT, 201, 8, 3);
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 201, 3);
    assert_non_null(strstr(shared_fixture.text, "5 s ack 200 unseen\n5 s ack 201 in 4 after 10\n"));
    assert_null(strstr(shared_fixture.text, "never sent"));
}

/* Without a packet of the client it is not known that it did not send them. */
static void acks_that_are_only_taken_back_are_no_accusation(void **state) {
    (void)state;
    begin_ahead(200);
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 100, 1);
    tracker_fixture_packet(&shared_fixture, CLIENT, 201, 8, 3);
    tracker_fixture_packet(&shared_fixture, SERVER, 10, 201, 3);
    assert_null(strstr(shared_fixture.text, "never sent"));
}

/* Packets that are reordered, or few that the capture lacks. */
static void acks_that_are_little_ahead_count_at_once(void **state) {
    (void)state;
    begin_ahead(164);
    assert_non_null(strstr(shared_fixture.text, "3 s ack 164 unseen\n"));
    tracker_fixture_packet(&shared_fixture, CLIENT, 101, 7, 1);
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 101, 3);
    assert_null(strstr(shared_fixture.text, "never sent"));
}

#define IN(test) cmocka_unit_test_setup_teardown(test, tracker_fixture_set_up, tracker_fixture_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN(acks_that_are_taken_back_are_of_packets_that_were_never_sent),
        IN(acks_that_are_confirmed_are_of_packets_that_are_missing),
        IN(acks_that_are_only_taken_back_are_no_accusation),
        IN(acks_that_are_little_ahead_count_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
