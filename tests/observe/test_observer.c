/* SPDX-License-Identifier: MIT */
/* The observer: which connection a datagram belongs to, when it is returned, and what is kept of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/observe/observer_fixture.h"

#define HOSTS 50
#define PACKETS 100

/* ---- connections ---- */

static void each_pair_of_addresses_is_a_stream(void **state) {
    struct observer_fixture f;
    observer_fixture_begin(&f, UE_OBSERVER_IN_CAPTURE_ORDER);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned client = 1; client <= HOSTS; client++) {
            struct traffic t;
            traffic_init(&t, RELEASE, STOCK, client);
            assert_true(observer_fixture_packet(&f, &t, round % 2 == 0 ? CLIENT : SERVER, client));
            assert_int_equal(f.record.connection->stream, client - 1);
            assert_int_equal(f.record.decode.side, round % 2);
        }
    }
    assert_int_equal(ue_observer_stream_count(f.observer), HOSTS);
    observer_fixture_end(&f);
}

static void other_protocols_are_not_accepted(void **state) {
    struct observer_fixture f;
    struct traffic t;
    observer_fixture_begin(&f, UE_OBSERVER_IN_CAPTURE_ORDER);
    traffic_init(&t, RELEASE, STOCK, 1);
    f.is_ours = false;
    assert_false(observer_fixture_packet(&f, &t, CLIENT, 1));
    assert_int_equal(ue_observer_stream_count(f.observer), 0);
    observer_fixture_end(&f);
}

/* Without a known port the handshake proves the protocol; its messages come out, too. */
static void a_handshake_proves_the_protocol(void **state) {
    struct observer_fixture f;
    struct traffic t;
    observer_fixture_begin(&f, UE_OBSERVER_IN_CAPTURE_ORDER);
    traffic_init(&t, RELEASE, STOCK, 1);
    f.is_ours = false;
    uint8_t bytes[PACKET_BYTES];
    assert_true(
        observer_fixture_feed(&f, 1, 0, bytes, traffic_handshake(&t, UE_HANDSHAKE_INITIAL, 0, no_cookie, NULL, bytes)));
    assert_false(f.record.connection->is_proven);
    assert_null(ue_observer_next(f.observer));
    assert_true(observer_fixture_feed(&f, 0, 1, bytes,
                                      traffic_handshake(&t, UE_HANDSHAKE_CHALLENGE, 5, cookie_a, NULL, bytes)));
    assert_true(f.record.connection->is_proven);
    ue_observer_flush(f.observer);
    assert_int_equal(observer_fixture_drain(&f), 2);
    observer_fixture_end(&f);
}

/* One message in the form of an Initial is no proof, and is dropped after a while. */
static void an_unanswered_initial_is_dropped(void **state) {
    struct observer_fixture f;
    struct traffic t;
    observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
    traffic_init(&t, RELEASE, STOCK, 1);
    f.is_ours = false;
    uint8_t bytes[PACKET_BYTES];
    observer_fixture_feed(&f, 1, 0, bytes, traffic_handshake(&t, UE_HANDSHAKE_INITIAL, 0, no_cookie, NULL, bytes));
    size_t before = f.memory.used_bytes;
    memset(bytes, 0x5a, sizeof bytes);
    for (unsigned i = 0; i < 2 * PACKETS; i++) {
        observer_fixture_feed(&f, 0, 1, bytes, 1200);
        assert_null(ue_observer_next(f.observer));
    }
    assert_true(f.memory.used_bytes < before);
    assert_int_equal(ue_observer_stream_count(f.observer), 0);
    observer_fixture_end(&f);
}

/* A handshake on the addresses of an earlier connection begins another. */
static void a_new_handshake_is_a_new_connection(void **state) {
    struct observer_fixture f;
    struct traffic t;
    observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
    traffic_init(&t, RELEASE, STOCK, 1);
    observer_fixture_connect(&f, &t, 1, cookie_a);
    observer_fixture_packet(&f, &t, CLIENT, 1);
    observer_fixture_drain(&f);
    observer_fixture_packet(&f, &t, SERVER, 1);
    observer_fixture_drain(&f);
    const struct ue_observed_connection *first = f.record.connection;
    observer_fixture_connect(&f, &t, 1, cookie_b);
    assert_true(f.record.connection != first);
    assert_int_equal(f.record.connection->stream, 1);
    observer_fixture_end(&f);
}

/* A client that the server accepts but does not answer tries again: one connection. A server that sent packets, or that
   was not captured, makes the next handshake another connection. */
static void a_failed_attempt_and_the_next_are_one_connection(void **state) {
    for (unsigned senders = 0; senders < 2; senders++) {
        struct observer_fixture f;
        struct traffic t;
        observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
        traffic_init(&t, RELEASE, STOCK, 1);
        for (unsigned attempt = 0; attempt < 3; attempt++) {
            observer_fixture_connect(&f, &t, 1, attempt % 2 == 0 ? cookie_a : cookie_b);
            for (unsigned side = 0; side <= senders; side++) {
                observer_fixture_packet(&f, &t, side, 1);
                observer_fixture_drain(&f);
            }
        }
        assert_int_equal(ue_observer_stream_count(f.observer), senders == 0 ? 1 : 3);
        observer_fixture_end(&f);
    }
}

/* Something returns the first message of a client unchanged: the copy is of the connection, but says nothing of it. */
static void an_echo_of_a_handshake_is_counted(void **state) {
    struct observer_fixture f;
    struct traffic t;
    observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
    traffic_init(&t, RELEASE, STOCK, 1);
    size_t size_bytes = traffic_handshake(&t, UE_HANDSHAKE_INITIAL, 0, no_cookie, NULL, f.bytes);
    observer_fixture_feed(&f, 1, 0, f.bytes, size_bytes);
    observer_fixture_feed(&f, 0, 1, f.bytes, size_bytes);
    assert_true(f.record.decode.is_echo);
    assert_int_equal(f.record.connection->datagrams, 2);
    observer_fixture_end(&f);
}

static void attempts_of_which_one_direction_was_captured_are_separate(void **state) {
    struct observer_fixture f;
    struct traffic t;
    observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
    traffic_init(&t, RELEASE, STOCK, 1);
    for (unsigned attempt = 0; attempt < 3; attempt++) {
        observer_fixture_feed(&f, 1, 0, f.bytes,
                              traffic_handshake(&t, UE_HANDSHAKE_INITIAL, 0, no_cookie, NULL, f.bytes));
        observer_fixture_drain(&f);
        observer_fixture_feed(&f, 1, 0, f.bytes,
                              traffic_handshake(&t, UE_HANDSHAKE_RESPONSE, 5, cookie_a, NULL, f.bytes));
        observer_fixture_drain(&f);
        observer_fixture_packet(&f, &t, CLIENT, 1);
        observer_fixture_drain(&f);
    }
    assert_int_equal(ue_observer_stream_count(f.observer), 3);
    observer_fixture_end(&f);
}

/* The cookie of a restart handshake joins a client at a new address to its earlier connection. */
static void a_restart_continues_the_stream(void **state) {
    struct observer_fixture f;
    struct traffic t;
    observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
    traffic_init(&t, RELEASE, STOCK, 1);
    observer_fixture_connect(&f, &t, 1, cookie_a);
    observer_fixture_packet(&f, &t, CLIENT, 1);
    observer_fixture_drain(&f);
    observer_fixture_packet(&f, &t, CLIENT, 2);
    assert_int_equal(observer_fixture_drain(&f), 0); /* may have moved: waits */
    observer_fixture_restart(&f, &t, 2, cookie_a);
    assert_int_equal(f.record.connection->stream, 0);
    assert_int_equal(ue_observer_stream_count(f.observer), 1);
    observer_fixture_end(&f);
}

static void an_unknown_cookie_continues_nothing(void **state) {
    struct observer_fixture f;
    struct traffic t;
    observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
    traffic_init(&t, RELEASE, STOCK, 1);
    observer_fixture_connect(&f, &t, 1, cookie_a);
    observer_fixture_restart(&f, &t, 2, cookie_b);
    assert_int_equal(f.record.connection->stream, 1);
    assert_int_equal(ue_observer_stream_count(f.observer), 2);
    observer_fixture_end(&f);
}

/* ---- order ---- */

/* Client 1 has no handshake, so that its generation is not certain; that of client 2 is. Returns the number of
   datagrams that are returned before the end of the capture. */
static uint64_t returned_before_the_end(enum ue_observer_order order, uint64_t *at_the_end) {
    struct observer_fixture f;
    struct traffic t[2];
    observer_fixture_begin(&f, order);
    traffic_init(&t[0], RELEASE, STOCK, 1);
    traffic_init(&t[1], RELEASE, STOCK, 2);
    observer_fixture_packet(&f, &t[0], CLIENT, 1);
    uint64_t first = observer_fixture_drain(&f);
    uint64_t returned = first + observer_fixture_connect(&f, &t[1], 2, cookie_a);
    observer_fixture_packet(&f, &t[1], CLIENT, 2);
    returned += observer_fixture_drain(&f);
    ue_observer_flush(f.observer);
    *at_the_end = observer_fixture_drain(&f);
    observer_fixture_end(&f);
    return returned;
}

static void connections_wait_for_each_other_only_in_capture_order(void **state) {
    uint64_t at_the_end;
    assert_int_equal(returned_before_the_end(UE_OBSERVER_IN_CAPTURE_ORDER, &at_the_end), 0);
    assert_int_equal(at_the_end, 6);
    assert_int_equal(returned_before_the_end(UE_OBSERVER_BY_CONNECTION, &at_the_end), 5);
    assert_int_equal(at_the_end, 1);
    assert_int_equal(returned_before_the_end(UE_OBSERVER_AT_ONCE, &at_the_end), 6);
    assert_int_equal(at_the_end, 0);
    assert_int_equal(returned_before_the_end(UE_OBSERVER_NEVER, &at_the_end), 0);
    assert_int_equal(at_the_end, 0);
}

/* ---- tracking ---- */

static void on_event(void *user, const struct ue_observed_event *event) {
    struct observer_fixture *f = user;
    f->events += event->type == UE_OBSERVED_PACKET;
}

/* Returns the number of packets that the tracker of this client has seen. */
static uint64_t track(struct observer_fixture *f, struct traffic *t, unsigned client) {
    const struct ue_observer_callbacks callbacks = {.event = on_event, .user = f};
    uint8_t bytes[PACKET_BYTES];
    assert_true(observer_fixture_feed(f, client, 0, bytes, traffic_packet(t, CLIENT, bytes)));
    const struct ue_observed_datagram *datagram = ue_observer_next(f->observer);
    assert_non_null(datagram);
    assert_true(ue_observer_track(f->observer, datagram, &callbacks));
    const struct ue_tracker *tracker = ue_observer_tracker(datagram->record.connection);
    return ue_tracker_counts(tracker, CLIENT)->packets + ue_tracker_counts(tracker, SERVER)->packets;
}

static void the_streams_unused_longest_are_freed(void **state) {
    struct observer_fixture f;
    struct traffic t[4];
    observer_fixture_begin(&f, UE_OBSERVER_AT_ONCE);
    for (unsigned i = 0; i < 4; i++) {
        traffic_init(&t[i], RELEASE, STOCK, i);
    }
    track(&f, &t[0], 1);
    ue_observer_set_limit(f.observer, 3 * ue_tracker_bytes(ue_observer_tracker(f.record.connection)));
    track(&f, &t[1], 2);
    track(&f, &t[2], 3);
    assert_int_equal(track(&f, &t[0], 1), 2); /* now client 2 is the oldest */
    track(&f, &t[3], 4);
    assert_int_equal(track(&f, &t[0], 1), 3);
    assert_int_equal(track(&f, &t[2], 3), 2);
    assert_int_equal(track(&f, &t[1], 2), 1); /* a new tracker */
    observer_fixture_end(&f);
}

/* The stream in use is not freed, whatever its size. */
static void the_stream_in_use_may_exceed_the_limit(void **state) {
    struct observer_fixture f;
    struct traffic t[2];
    observer_fixture_begin(&f, UE_OBSERVER_AT_ONCE);
    traffic_init(&t[0], RELEASE, STOCK, 0);
    traffic_init(&t[1], RELEASE, STOCK, 1);
    ue_observer_set_limit(f.observer, 1);
    for (uint64_t i = 0; i < PACKETS; i++) {
        assert_int_equal(track(&f, &t[0], 1), i + 1);
    }
    assert_int_equal(track(&f, &t[1], 2), 1);
    assert_int_equal(track(&f, &t[0], 1), 1);
    observer_fixture_end(&f);
}

static void silent_streams_are_freed(void **state) {
    struct observer_fixture f;
    struct traffic t[2];
    observer_fixture_begin(&f, UE_OBSERVER_AT_ONCE);
    traffic_init(&t[0], RELEASE, STOCK, 0);
    traffic_init(&t[1], RELEASE, STOCK, 1);
    track(&f, &t[0], 1);
    f.now_ns = UE_OBSERVER_SILENT_NS;
    track(&f, &t[1], 2);
    assert_int_equal(track(&f, &t[0], 1), 2);
    f.now_ns = 2 * UE_OBSERVER_SILENT_NS + 1;
    track(&f, &t[1], 2);
    assert_int_equal(track(&f, &t[0], 1), 1);
    observer_fixture_end(&f);
}

/* A cut datagram is returned with a terminator, and is not tracked. */
static void cut_datagrams_are_not_tracked(void **state) {
    struct observer_fixture f;
    struct traffic t;
    uint8_t bytes[PACKET_BYTES];
    const struct ue_observer_callbacks callbacks = {.event = on_event, .user = &f};
    observer_fixture_begin(&f, UE_OBSERVER_AT_ONCE);
    traffic_init(&t, RELEASE, STOCK, 1);
    struct ue_captured_datagram captured = {.frame = 1,
                                            .source = observer_fixture_address(1),
                                            .destination = observer_fixture_address(0),
                                            .bytes = bytes,
                                            .length_bytes = traffic_packet(&t, CLIENT, bytes),
                                            .is_ours = true};
    captured.captured_bytes = captured.length_bytes / 2;
    assert_true(ue_observer_feed(f.observer, &captured, &f.record));
    const struct ue_observed_datagram *datagram = ue_observer_next(f.observer);
    assert_true(datagram->is_cut);
    assert_int_equal(datagram->size_bytes, captured.captured_bytes + 1);
    assert_int_not_equal(datagram->bytes[captured.captured_bytes], 0);
    assert_false(ue_observer_track(f.observer, datagram, &callbacks));
    observer_fixture_end(&f);
}

/* ---- memory ---- */

/* Whatever allocation fails, nothing is lost but the datagrams concerned, and everything is freed. */
static void every_allocation_may_fail(void **state) {
    for (size_t limit = 0; limit < 40000; limit += 97) {
        struct observer_fixture f;
        struct traffic t;
        const struct ue_observer_callbacks callbacks = {.event = on_event, .user = &f};
        observer_fixture_begin_limited(&f, UE_OBSERVER_BY_CONNECTION, limit);
        traffic_init(&t, RELEASE, STOCK, limit);
        for (unsigned i = 0; f.observer != NULL && i < 20; i++) {
            uint8_t bytes[PACKET_BYTES];
            observer_fixture_feed(&f, 1 + i % 3, 0, bytes, traffic_packet(&t, CLIENT, bytes));
            const struct ue_observed_datagram *datagram;
            while ((datagram = ue_observer_next(f.observer)) != NULL) {
                ue_observer_track(f.observer, datagram, &callbacks);
            }
        }
        observer_fixture_end(&f);
    }
}

/* Forged addresses: the connections that were silent the longest are forgotten. */
static void connections_are_limited(void **state) {
    struct observer_fixture f;
    struct traffic t;
    uint8_t bytes[PACKET_BYTES];
    observer_fixture_begin(&f, UE_OBSERVER_AT_ONCE);
    traffic_init(&t, RELEASE, STOCK, 1);
    size_t size_bytes = traffic_packet(&t, CLIENT, bytes);
    for (unsigned i = 0; i < UE_OBSERVER_CONNECTIONS_MAX + HOSTS; i++) {
        struct ue_captured_datagram captured = {.frame = i + 1,
                                                .source = observer_fixture_address(i % 65000),
                                                .destination = observer_fixture_address(1),
                                                .bytes = bytes,
                                                .captured_bytes = size_bytes,
                                                .length_bytes = size_bytes,
                                                .is_ours = true};
        captured.source.port = (uint16_t)(1 + i / 65000);
        ue_observer_feed(f.observer, &captured, &f.record);
        assert_int_equal(observer_fixture_drain(&f), 1);
    }
    assert_int_equal(ue_observer_forgotten_count(f.observer), HOSTS);
    observer_fixture_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_pair_of_addresses_is_a_stream),
        cmocka_unit_test(other_protocols_are_not_accepted),
        cmocka_unit_test(a_handshake_proves_the_protocol),
        cmocka_unit_test(an_unanswered_initial_is_dropped),
        cmocka_unit_test(a_new_handshake_is_a_new_connection),
        cmocka_unit_test(a_failed_attempt_and_the_next_are_one_connection),
        cmocka_unit_test(an_echo_of_a_handshake_is_counted),
        cmocka_unit_test(attempts_of_which_one_direction_was_captured_are_separate),
        cmocka_unit_test(a_restart_continues_the_stream),
        cmocka_unit_test(an_unknown_cookie_continues_nothing),
        cmocka_unit_test(connections_wait_for_each_other_only_in_capture_order),
        cmocka_unit_test(the_streams_unused_longest_are_freed),
        cmocka_unit_test(the_stream_in_use_may_exceed_the_limit),
        cmocka_unit_test(silent_streams_are_freed),
        cmocka_unit_test(cut_datagrams_are_not_tracked),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(connections_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
