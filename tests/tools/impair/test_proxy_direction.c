/* SPDX-License-Identifier: MIT */
/* One direction of a link with simulated time: the effects of rules and of the network, and the comments in the
   recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <uerudp/time_ns.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/capture/packet_headers.h"
#include "tools/impair/proxy_direction.h"

#define WAIT_ROUNDS 1000

static struct direction_fixture {
    struct net_socket *receiver;
    struct impair_endpoint in, out;
    struct impair_recording *recording;
    struct impair_direction *direction;
    char *path;
    unsigned refusals;
} fixture;

static void on_refused(void *user, enum net_socket_result result) {
    assert_int_not_equal(result, NET_SOCKET_DONE);
    fixture.refusals++;
}

static struct impair_endpoint open_end(enum impair_side side, const struct net_socket *to) {
    char text[NET_ADDRESS_TEXT_BYTES];
    struct impair_endpoint end = {
        .side = side, .socket = net_socket_connect(net_address_format(net_socket_local(to), text), 0, NULL)};
    assert_non_null(end.socket);
    end.peer = *net_socket_peer(end.socket);
    end.local = *net_socket_local(end.socket);
    return end;
}

/* A direction towards a listening socket. The test itself passes datagrams to it. */
static void begin(const struct sim_link_config stages[IMPAIR_STAGES]) {
    int file = g_file_open_tmp("relay-XXXXXX.pcapng", &fixture.path, NULL);
    assert_true(file >= 0);
    close(file);
    const struct impair_recording_paths paths = {.both = fixture.path};
    fixture.receiver = net_socket_listen("127.0.0.1", 0, NULL);
    fixture.in = open_end(IMPAIR_SIDE_CLIENT, fixture.receiver);
    fixture.out = open_end(IMPAIR_SIDE_SERVER, fixture.receiver);
    fixture.recording = impair_recording_open(&paths);
    fixture.refusals = 0;
    struct impair_direction_config config = {
        .in = &fixture.in, .out = &fixture.out, .recording = fixture.recording, .refused = on_refused};
    if (stages != NULL) {
        memcpy(config.stages, stages, sizeof config.stages);
    }
    fixture.direction = impair_direction_new(&config);
    assert_non_null(fixture.direction);
}

/* Closes the direction. Returns "payload[: comment]" of each recorded datagram, a line each; free with g_free. */
static char *end(void) {
    GString *said = g_string_new(NULL);
    char error[CAPTURE_ERROR_BYTES];
    struct capture_packet packet;
    struct capture_udp udp;
    impair_direction_free(fixture.direction);
    assert_true(impair_recording_close(fixture.recording));
    struct capture *capture = capture_open_file(fixture.path, error);
    struct ip_fragments *fragments = ip_fragments_new();
    assert_non_null(capture);
    while (capture_next(capture, &packet) == CAPTURE_PACKET) {
        assert_int_equal(capture_packet_find_udp(fragments, &packet, &udp), CAPTURE_HEADERS_UDP);
        g_string_append_len(said, (const char *)udp.payload, (gssize)udp.captured_bytes);
        g_string_append_printf(said, "%s%.*s\n", packet.comment != NULL ? ": " : "", (int)packet.comment_bytes,
                               packet.comment != NULL ? packet.comment : "");
    }
    capture_close(capture);
    ip_fragments_free(fragments);
    unlink(fixture.path);
    g_free(fixture.path);
    net_socket_free(fixture.in.socket);
    net_socket_free(fixture.out.socket);
    net_socket_free(fixture.receiver);
    return g_string_free(said, FALSE);
}

static void assert_record(const char *expected) {
    char *said = end();
    assert_string_equal(said, expected);
    g_free(said);
}

static void enter(uint64_t ms, const char *text, struct rules_outcome outcome, const char *rules) {
    impair_direction_receive(fixture.direction, ms * UE_NS_PER_MS, (const uint8_t *)text, strlen(text), &outcome,
                             rules);
}

static uint64_t run(uint64_t ms) {
    return impair_direction_run(fixture.direction, ms * UE_NS_PER_MS);
}

/* The next datagrams at the receiver are those of the text, separated by spaces. Delivery is not immediate. */
static void assert_arrives(const char *expected) {
    char **texts = g_strsplit(expected, " ", -1);
    for (size_t i = 0; texts[i] != NULL && *expected != '\0'; i++) {
        struct net_address from;
        uint8_t bytes[64];
        size_t size = 0;
        for (int round = 0; round < WAIT_ROUNDS; round++) {
            if (net_socket_receive(fixture.receiver, &from, bytes, sizeof bytes, &size) == NET_SOCKET_DONE) {
                break;
            }
            g_usleep(1000);
        }
        assert_int_equal(size, strlen(texts[i]));
        assert_memory_equal(bytes, texts[i], size);
    }
    g_strfreev(texts);
    struct net_address from;
    uint8_t byte[64];
    size_t size;
    assert_int_equal(net_socket_receive(fixture.receiver, &from, byte, sizeof byte, &size), NET_SOCKET_WOULD_BLOCK);
}

static void test_nothing(void **state) {
    begin(NULL);
    enter(1, "one", (struct rules_outcome){0}, "");
    enter(2, "", (struct rules_outcome){0}, "");
    assert_true(run(3) == UINT64_MAX);
    const struct impair_counters *counters = impair_direction_counters(fixture.direction);
    assert_int_equal(counters->datagrams, 2);
    assert_int_equal(counters->delivered, 2);
    assert_int_equal(counters->delivered_bytes, 3);
    assert_record("one\none\n\n\n");
}

static void test_dropped(void **state) {
    begin(NULL);
    enter(1, "one", (struct rules_outcome){.is_dropped = true}, "rule: drop");
    enter(2, "two", (struct rules_outcome){0}, "");
    assert_arrives("two");
    assert_int_equal(impair_direction_counters(fixture.direction)->dropped, 1);
    assert_record("one: rule: drop; dropped\ntwo\ntwo\n");
}

/* The recording is ordered by time, although the delay of the first datagram is known last. */
static void test_delayed_by_a_rule(void **state) {
    begin(NULL);
    enter(1, "one", (struct rules_outcome){.delay_ns = 5 * UE_NS_PER_MS}, "rule: delay=5");
    enter(2, "two", (struct rules_outcome){0}, "");
    assert_true(run(5) == 6 * UE_NS_PER_MS);
    assert_arrives("two");
    assert_true(run(7) == UINT64_MAX);
    assert_arrives("one");
    assert_int_equal(impair_direction_counters(fixture.direction)->reordered, 1);
    assert_record("one: rule: delay=5; delayed by 5.0 ms, reordered\ntwo\ntwo\n"
                  "one: rule: delay=5; delayed by 5.0 ms, reordered\n");
}

static void test_reordered_by_a_rule(void **state) {
    begin(NULL);
    enter(1, "one", (struct rules_outcome){.is_reordered = true}, "");
    assert_arrives("");
    enter(2, "two", (struct rules_outcome){0}, "");
    assert_arrives("two one");
    enter(10, "alone", (struct rules_outcome){.is_reordered = true}, "");
    assert_true(run(11) == 10 * UE_NS_PER_MS + SIM_LINK_REORDER_TIMEOUT_NS);
    run(10 + SIM_LINK_REORDER_TIMEOUT_NS / UE_NS_PER_MS);
    assert_arrives("alone");
    assert_record("one: delayed by 1.0 ms, reordered\ntwo\ntwo\none: delayed by 1.0 ms, reordered\n"
                  "alone: delayed by 50.0 ms\nalone: delayed by 50.0 ms\n");
}

static void test_copies(void **state) {
    begin(NULL);
    enter(1, "one", (struct rules_outcome){.copies = 2}, "rule: duplicate=2");
    assert_arrives("one one one");
    assert_int_equal(impair_direction_counters(fixture.direction)->duplicated, 2);
    assert_record("one: rule: duplicate=2\none: rule: duplicate=2\none: rule: duplicate=2\n"
                  "one: rule: duplicate=2\n");
}

static void test_flipped_bits(void **state) {
    begin(NULL);
    enter(1, "abc", (struct rules_outcome){.flip_count = 2, .flips = {0, 17}}, "rule: corrupt=2");
    assert_arrives("`ba");
    assert_int_equal(impair_direction_counters(fixture.direction)->corrupted, 1);
    assert_record("abc: rule: corrupt=2; corrupted bit 0, 17\n`ba: rule: corrupt=2; corrupted bit 0, 17\n");
}

/* The third stage drops copies that the first stage made, after the datagram itself has been lost. */
static void test_lost_late(void **state) {
    const struct sim_link_config stages[IMPAIR_STAGES] = {
        {.duplicate = 1}, {.delay_ns = 5 * UE_NS_PER_MS}, {.loss = 1}};
    begin(stages);
    enter(1, "one", (struct rules_outcome){0}, "");
    assert_true(run(2) == 6 * UE_NS_PER_MS);
    run(6);
    assert_int_equal(impair_direction_counters(fixture.direction)->lost, 2);
    assert_record("one: duplicated; lost; lost\n");
}

static void test_ticks(void **state) {
    const struct sim_link_config stages[IMPAIR_STAGES] = {{.frame_delay_ticks = 1}, {0}, {.frame_delay_ticks = 1}};
    begin(stages);
    enter(1, "one", (struct rules_outcome){0}, "");
    assert_arrives("");
    impair_direction_tick(fixture.direction, 2 * UE_NS_PER_MS);
    assert_arrives("");
    impair_direction_tick(fixture.direction, 3 * UE_NS_PER_MS);
    assert_arrives("one");
    assert_record("one: delayed by 2.0 ms\none: delayed by 2.0 ms\n");
}

static void test_in_flight(void **state) {
    const struct sim_link_config stages[IMPAIR_STAGES] = {{.delay_ns = 5 * UE_NS_PER_MS}};
    begin(stages);
    enter(1, "one", (struct rules_outcome){0}, "");
    enter(1, "two", (struct rules_outcome){.delay_ns = UE_NS_PER_MS}, "");
    assert_record("one: under way when the link ended\ntwo: under way when the link ended\n");
}

/* The system reports the error of the first datagram with the second one. */
static void test_refused(void **state) {
    begin(NULL);
    net_socket_free(fixture.receiver);
    fixture.receiver = NULL;
    for (int round = 0; round < WAIT_ROUNDS && fixture.refusals == 0; round++) {
        enter(1, "x", (struct rules_outcome){0}, "");
        g_usleep(1000);
    }
    assert_int_equal(fixture.refusals, 1);
    assert_int_equal(impair_direction_counters(fixture.direction)->refused, 1);
    char *said = end();
    assert_true(g_str_has_suffix(said, "x: not sent: no program listens\n"));
    g_free(said);
}

static void test_memory_bounded(void **state) {
    begin(NULL);
    for (unsigned i = 0; i < SIM_LINK_DATAGRAMS_MAX + 3; i++) {
        enter(1, "x", (struct rules_outcome){.delay_ns = UE_NS_PER_MS}, "");
    }
    assert_int_equal(impair_direction_counters(fixture.direction)->overflowed, 3);
    char *said = end();
    assert_true(g_str_has_suffix(said, "x: lost: queue full\n"));
    g_free(said);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_delayed_by_a_rule),
        cmocka_unit_test(test_reordered_by_a_rule),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_flipped_bits),
        cmocka_unit_test(test_lost_late),
        cmocka_unit_test(test_ticks),
        cmocka_unit_test(test_in_flight),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
