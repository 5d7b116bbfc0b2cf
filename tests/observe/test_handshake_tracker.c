/* SPDX-License-Identifier: MIT */
/* Restarts of a connection: complete, seen from one direction, with late copies, and none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <uerudp/time_ns.h>

#include "tests/observe/tracker_fixture.h"

static void message(unsigned side, enum ue_handshake_type type) {
    bool restart =
        type == UE_HANDSHAKE_INITIAL || type == UE_HANDSHAKE_RESTART_REQUEST || type == UE_HANDSHAKE_RESTART_RESPONSE;
    tracker_fixture_handshake(&shared_fixture, side, type, restart, 9, 9);
}

static void connect(void) {
    tracker_fixture_handshake(&shared_fixture, CLIENT, UE_HANDSHAKE_INITIAL, false, 0, 0);
    tracker_fixture_handshake(&shared_fixture, SERVER, UE_HANDSHAKE_CHALLENGE, false, 500, 1027);
    tracker_fixture_handshake(&shared_fixture, CLIENT, UE_HANDSHAKE_RESPONSE, false, 500, 1027);
    tracker_fixture_handshake(&shared_fixture, SERVER, UE_HANDSHAKE_ACK, false, 500, 1027);
    tracker_fixture_packet(&shared_fixture, CLIENT, 1027, 499, 0);
    tracker_fixture_packet(&shared_fixture, SERVER, 500, 1026, 0);
    shared_fixture.length = 0;
    shared_fixture.now_ns += 20 * UE_NS_PER_S;
}

static void restart(void) {
    message(SERVER, UE_HANDSHAKE_RESTART_REQUEST);
    message(CLIENT, UE_HANDSHAKE_INITIAL);
    message(SERVER, UE_HANDSHAKE_CHALLENGE);
    message(CLIENT, UE_HANDSHAKE_RESTART_RESPONSE);
    message(SERVER, UE_HANDSHAKE_ACK);
}

static void a_restart_keeps_the_numbers(void **state) {
    connect();
    restart();
    tracker_fixture_packet(&shared_fixture, CLIENT, 1028, 499, 0);
    tracker_fixture_expect(&shared_fixture, "7 s restarts\n"
                                            "7 s handshake 4\n"
                                            "8 c handshake 0 after 10\n"
                                            "9 s handshake 1 after 10\n"
                                            "10 c handshake 5 after 10\n"
                                            "11 s handshake 3 after 10\n"
                                            "11 s reset\n"
                                            "12 c packet 1028, 2 in flight\n");
    assert_int_equal(shared_fixture_counts(SERVER)->handshakes, 5);
}

static void late_copies_are_no_restart(void **state) {
    connect();
    restart();
    shared_fixture.length = 0;
    restart();
    tracker_fixture_expect(&shared_fixture, "12 s handshake 4\n"
                                            "13 c handshake 0 after 10\n"
                                            "14 s handshake 1 after 10\n"
                                            "15 c handshake 5 after 10\n"
                                            "16 s handshake 3 after 10\n");
}

/* A client restarts again at the earliest 10 s after its last handshake message. */
static void a_second_restart(void **state) {
    connect();
    restart();
    shared_fixture.now_ns += 10 * UE_NS_PER_S;
    shared_fixture.length = 0;
    message(SERVER, UE_HANDSHAKE_RESTART_REQUEST);
    message(SERVER, UE_HANDSHAKE_ACK);
    tracker_fixture_expect(&shared_fixture, "12 s restarts\n"
                                            "12 s handshake 4\n"
                                            "13 s handshake 3\n"
                                            "13 s reset\n");
}

/* The Ack is not in a capture of the client's datagrams. */
static void a_packet_of_the_client_completes_a_restart(void **state) {
    connect();
    message(CLIENT, UE_HANDSHAKE_INITIAL);
    message(CLIENT, UE_HANDSHAKE_RESTART_RESPONSE);
    tracker_fixture_packet(&shared_fixture, CLIENT, 1026, 499, 0); /* it was sent before */
    tracker_fixture_packet(&shared_fixture, CLIENT, 1028, 499, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 1029, 499, 0);
    tracker_fixture_expect(&shared_fixture, "7 c restarts\n"
                                            "7 c handshake 0\n"
                                            "8 c handshake 5\n"
                                            "9 c packet 1026 late, 1 in flight\n"
                                            "10 c packet 1028, 2 in flight\n"
                                            "10 c reset\n"
                                            "11 c packet 1029, 3 in flight\n");
}

/* A server sends no packets to addresses that it does not know. */
static void a_packet_of_the_server_retracts_its_request(void **state) {
    connect();
    message(SERVER, UE_HANDSHAKE_RESTART_REQUEST);
    tracker_fixture_packet(&shared_fixture, CLIENT, 1028, 499, 0);
    tracker_fixture_packet(&shared_fixture, SERVER, 501, 1026, 0);
    message(SERVER, UE_HANDSHAKE_ACK);
    tracker_fixture_expect(&shared_fixture, "7 s restarts\n"
                                            "7 s handshake 4\n"
                                            "8 c packet 1028, 2 in flight\n"
                                            "9 s packet 501, 2 in flight\n"
                                            "9 s no restart\n"
                                            "10 s handshake 3\n");
}

/* Likewise a client that goes on sending packets. Its RestartResponse begins the restart again. */
static void a_packet_of_the_client_retracts_its_restart(void **state) {
    connect();
    message(CLIENT, UE_HANDSHAKE_INITIAL);
    tracker_fixture_packet(&shared_fixture, SERVER, 501, 1026, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 1028, 499, 0);
    message(CLIENT, UE_HANDSHAKE_RESTART_RESPONSE);
    tracker_fixture_expect(&shared_fixture, "7 c restarts\n"
                                            "7 c handshake 0\n"
                                            "8 s packet 501, 2 in flight\n"
                                            "9 c packet 1028, 2 in flight\n"
                                            "9 c no restart\n"
                                            "10 c restarts\n"
                                            "10 c handshake 5\n");
}

/* A client that connects anew does not restart. */
static void another_handshake_retracts_a_restart(void **state) {
    connect();
    message(SERVER, UE_HANDSHAKE_RESTART_REQUEST);
    tracker_fixture_handshake(&shared_fixture, CLIENT, UE_HANDSHAKE_INITIAL, false, 0, 0);
    message(SERVER, UE_HANDSHAKE_ACK);
    tracker_fixture_expect(&shared_fixture, "7 s restarts\n"
                                            "7 s handshake 4\n"
                                            "8 c no restart\n"
                                            "8 c handshake 0\n"
                                            "9 s handshake 3\n");
}

/* A message that is sent again is captured again at each capture point. */
static void other_capture_points_see_the_same_messages(void **state) {
    for (unsigned i = 0; i < 2; i++) {
        shared_fixture.point = 0;
        tracker_fixture_handshake(&shared_fixture, CLIENT, UE_HANDSHAKE_INITIAL, false, 0, 0);
        shared_fixture.point = 1;
        tracker_fixture_handshake(&shared_fixture, CLIENT, UE_HANDSHAKE_INITIAL, false, 0, 0);
    }
    tracker_fixture_handshake(&shared_fixture, SERVER, UE_HANDSHAKE_CHALLENGE, false, 500, 1027);
    shared_fixture.point = 0;
    tracker_fixture_handshake(&shared_fixture, SERVER, UE_HANDSHAKE_CHALLENGE, false, 500, 1027);
    tracker_fixture_expect(&shared_fixture, "1 c handshake 0\n"
                                            "2 c other view\n"
                                            "3 c handshake 0\n"
                                            "4 c other view\n"
                                            "5 s handshake 1 after 20\n"
                                            "6 s other view\n");
    assert_int_equal(shared_fixture_counts(CLIENT)->handshakes, 2);
}

/* Another message of the same type. */
static void other_capture_points_see_other_messages(void **state) {
    tracker_fixture_handshake(&shared_fixture, SERVER, UE_HANDSHAKE_CHALLENGE, false, 500, 1027);
    shared_fixture.point = 1;
    tracker_fixture_handshake(&shared_fixture, SERVER, UE_HANDSHAKE_CHALLENGE, false, 501, 1027);
    tracker_fixture_expect(&shared_fixture, "1 s handshake 1\n"
                                            "2 s handshake 1\n");
}

#define IN(test) cmocka_unit_test_setup_teardown(test, tracker_fixture_set_up, tracker_fixture_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN(a_restart_keeps_the_numbers),
        IN(late_copies_are_no_restart),
        IN(a_second_restart),
        IN(a_packet_of_the_client_completes_a_restart),
        IN(a_packet_of_the_server_retracts_its_request),
        IN(a_packet_of_the_client_retracts_its_restart),
        IN(another_handshake_retracts_a_restart),
        IN(other_capture_points_see_the_same_messages),
        IN(other_capture_points_see_other_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
