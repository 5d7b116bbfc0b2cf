/* SPDX-License-Identifier: MIT */
/* Round trips: the half of a direction with the newest half of the other, in the order of the acks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/findings/findings_fixture.h"

/* Packets 1 and 2 of the server are acknowledged after 10 and 60 ms, the latter after missing packets, and packet 1 of
   the client in between after 5 ms, and after it after 7 ms. Then all but the first half wait. */
static void acknowledge(void) {
    uint64_t server = findings_fixture_packet(0, SERVER, 1);
    uint64_t client = findings_fixture_packet(10, CLIENT, 1);
    findings_fixture_ack(1, server, 10);
    findings_fixture_packet(15, SERVER, 2);
    findings_fixture_ack(1, client, 5);
    assert_string_equal("15:15 ", findings_fixture_round_trips());
    client = findings_fixture_packet(75, CLIENT, 4);
    findings_fixture_undecided_ack(2, server + 2, 60);
    findings_fixture_packet(82, SERVER, 3);
    findings_fixture_ack(4, client, 7);
    assert_string_equal("15:15 ", findings_fixture_round_trips());
}

static void test_first_ack(void **state) {
    acknowledge();
    findings_fixture_packet(90, CLIENT, 5);
    findings_fixture_ack(3, 5, 8);
    findings_fixture_first_ack(2, true); /* of a packet of the client */
    assert_string_equal("15:15 ", findings_fixture_round_trips());
    findings_fixture_packet(95, SERVER, 4);
    findings_fixture_first_ack(2, true);
    assert_string_equal("15:15 75:65 82:67 90:15 ", findings_fixture_round_trips());
    findings_fixture_finish(100, true);
    assert_string_equal("15:15 75:65 82:67 90:15 ", findings_fixture_round_trips());
}

static void test_repeated_ack(void **state) {
    acknowledge();
    findings_fixture_first_ack(2, false);
    assert_string_equal("15:15 82:17 ", findings_fixture_round_trips());
}

static void test_unreported(void **state) {
    acknowledge();
    findings_fixture_finish(100, true);
    assert_string_equal("15:15 82:17 ", findings_fixture_round_trips());
}

/* Another tracker does not decide about the acks of the first. */
static void test_dropped_tracker(void **state) {
    acknowledge();
    findings_fixture_drop_tracker();
    findings_fixture_packet(90, SERVER, 4);
    assert_string_equal("15:15 82:17 ", findings_fixture_round_trips());
}

/* An ack of which the tracker has forgotten that it is undecided delays others, but does not stop them. */
static void test_forgotten_ack(void **state) {
    uint64_t server = findings_fixture_packet(0, SERVER, 1);
    findings_fixture_packet(10, CLIENT, 1);
    findings_fixture_undecided_ack(1, server, 10);
    for (int64_t id = 2; id < 3000; id++) {
        server = findings_fixture_packet(id * 10, SERVER, id);
        findings_fixture_packet(id * 10 + 5, CLIENT, id);
        findings_fixture_ack(id, server, 5);
    }
    assert_int_equal(2998, ue_findings_timing(findings_fixture_findings())->halves[SERVER].count);
}

static void test_no_memory(void **state) {
    findings_fixture_exhaust_memory();
    uint64_t server = findings_fixture_packet(0, SERVER, 1);
    findings_fixture_packet(10, CLIENT, 1);
    findings_fixture_undecided_ack(1, server, 10);
    findings_fixture_packet(20, SERVER, 2);
    findings_fixture_first_ack(1, true);
    assert_string_equal("", findings_fixture_round_trips());
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, findings_fixture_set_up, findings_fixture_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_first_ack),       TEST(test_repeated_ack),  TEST(test_unreported),
        TEST(test_dropped_tracker), TEST(test_forgotten_ack), TEST(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
