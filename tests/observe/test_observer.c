/* SPDX-License-Identifier: MIT */
/* The observer: which connection a datagram belongs to, when it is returned, and what is kept of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/observer.h>
#include "tests/observe/detection_fixture.h"
#include "tests/support/counting_allocator.h"

#define RELEASE "5.1"
#define HOSTS 50
#define PACKETS 100

struct observer_fixture {
    struct ue_observer *observer;
    struct counting_allocator memory;
    uint64_t frame;
    int64_t now_ns;
    bool is_ours; /* of the next datagrams */
    struct ue_datagram_record record;
    uint64_t events;
    uint8_t bytes[PACKET_BYTES]; /* of the datagram fed last */
};

static const struct ue_settings stock = {0};

static void begin_limited(struct observer_fixture *f, enum ue_observer_order order, size_t limit_bytes) {
    memset(f, 0, sizeof *f);
    f->is_ours = true;
    counting_allocator_init(&f->memory, limit_bytes);
    const struct ue_observer_options options = {
        .allocator = f->memory.allocator, .hash_seed = 1, .order = order, .settings = &stock};
    f->observer = ue_observer_new(&options);
}

static void begin(struct observer_fixture *f, enum ue_observer_order order) {
    begin_limited(f, order, SIZE_MAX);
}

static void end(struct observer_fixture *f) {
    ue_observer_free(f->observer);
    assert_int_equal(f->memory.used_bytes, 0);
}

static struct ue_address address_of(unsigned host) {
    return (struct ue_address){.bytes = {10, 0, (uint8_t)(host >> 8), (uint8_t)host}, .size_bytes = 4, .port = 7777};
}

static bool feed(struct observer_fixture *f, unsigned from, unsigned to, const uint8_t *bytes, size_t size_bytes) {
    const struct ue_captured_datagram captured = {.frame = ++f->frame,
                                                  .time_ns = f->now_ns,
                                                  .source = address_of(from),
                                                  .destination = address_of(to),
                                                  .bytes = bytes,
                                                  .captured_bytes = size_bytes,
                                                  .length_bytes = size_bytes,
                                                  .is_ours = f->is_ours};
    return ue_observer_feed(f->observer, &captured, &f->record);
}

static bool feed_packet(struct observer_fixture *f, struct traffic *t, unsigned side, unsigned client) {
    size_t size_bytes = traffic_packet(t, side, f->bytes);
    return feed(f, side == CLIENT ? client : 0, side == CLIENT ? 0 : client, f->bytes, size_bytes);
}

static uint64_t drain(struct observer_fixture *f) {
    uint64_t count = 0;
    while (ue_observer_next(f->observer) != NULL) {
        count++;
    }
    return count;
}

static uint64_t connect_client(struct observer_fixture *f, struct traffic *t, unsigned client, const uint8_t *cookie) {
    static const enum ue_handshake_type types[] = {UE_HANDSHAKE_INITIAL, UE_HANDSHAKE_CHALLENGE, UE_HANDSHAKE_RESPONSE,
                                                   UE_HANDSHAKE_ACK};
    uint64_t returned = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        uint8_t bytes[PACKET_BYTES];
        bool is_client = i % 2 == 0;
        size_t size = traffic_handshake(t, types[i], i == 0 ? 0 : 5, i == 0 ? no_cookie : cookie, NULL, bytes);
        feed(f, is_client ? client : 0, is_client ? 0 : client, bytes, size);
        returned += drain(f);
    }
    return returned;
}

/* ---- connections ---- */

static void each_pair_of_addresses_is_a_stream(void **state) {
    (void)state;
    struct observer_fixture f;
    begin(&f, UE_OBSERVER_IN_CAPTURE_ORDER);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned client = 1; client <= HOSTS; client++) {
            struct traffic t;
            traffic_init(&t, RELEASE, STOCK, client);
            assert_true(feed_packet(&f, &t, round % 2 == 0 ? CLIENT : SERVER, client));
            assert_int_equal(f.record.connection->stream, client - 1);
            assert_int_equal(f.record.decode.side, round % 2);
        }
    }
    assert_int_equal(ue_observer_stream_count(f.observer), HOSTS);
    end(&f);
}

static void other_protocols_are_not_accepted(void **state) {
    (void)state;
    struct observer_fixture f;
    struct traffic t;
    begin(&f, UE_OBSERVER_IN_CAPTURE_ORDER);
    traffic_init(&t, RELEASE, STOCK, 1);
    f.is_ours = false;
    assert_false(feed_packet(&f, &t, CLIENT, 1));
    assert_int_equal(ue_observer_stream_count(f.observer), 0);
    end(&f);
}

/* Without a known port the handshake proves the protocol; its messages come out, too. */
static void a_handshake_proves_the_protocol(void **state) {
    (void)state;
    struct observer_fixture f;
    struct traffic t;
    begin(&f, UE_OBSERVER_IN_CAPTURE_ORDER);
    traffic_init(&t, RELEASE, STOCK, 1);
    f.is_ours = false;
    uint8_t bytes[PACKET_BYTES];
    assert_true(feed(&f, 1, 0, bytes, traffic_handshake(&t, UE_HANDSHAKE_INITIAL, 0, no_cookie, NULL, bytes)));
    assert_false(f.record.connection->is_proven);
    assert_null(ue_observer_next(f.observer));
    assert_true(feed(&f, 0, 1, bytes, traffic_handshake(&t, UE_HANDSHAKE_CHALLENGE, 5, cookie_a, NULL, bytes)));
    assert_true(f.record.connection->is_proven);
    ue_observer_flush(f.observer);
    assert_int_equal(drain(&f), 2);
    end(&f);
}

/* One message in the form of an Initial is no proof, and is dropped after a while. */
static void an_unanswered_initial_is_dropped(void **state) {
    (void)state;
    struct observer_fixture f;
    struct traffic t;
    begin(&f, UE_OBSERVER_BY_CONNECTION);
    traffic_init(&t, RELEASE, STOCK, 1);
    f.is_ours = false;
    uint8_t bytes[PACKET_BYTES];
    feed(&f, 1, 0, bytes, traffic_handshake(&t, UE_HANDSHAKE_INITIAL, 0, no_cookie, NULL, bytes));
    size_t before = f.memory.used_bytes;
    memset(bytes, 0x5a, sizeof bytes);
    for (unsigned i = 0; i < 2 * PACKETS; i++) {
        feed(&f, 0, 1, bytes, 1200);
        assert_null(ue_observer_next(f.observer));
    }
    assert_true(f.memory.used_bytes < before);
    assert_int_equal(ue_observer_stream_count(f.observer), 0);
    end(&f);
}

/* A handshake on the addresses of an earlier connection begins another. */
static void a_new_handshake_is_a_new_connection(void **state) {
    (void)state;
    struct observer_fixture f;
    struct traffic t;
    begin(&f, UE_OBSERVER_BY_CONNECTION);
    traffic_init(&t, RELEASE, STOCK, 1);
    connect_client(&f, &t, 1, cookie_a);
    feed_packet(&f, &t, CLIENT, 1);
    drain(&f);
    const struct ue_observed_connection *first = f.record.connection;
    connect_client(&f, &t, 1, cookie_b);
    assert_true(f.record.connection != first);
    assert_int_equal(f.record.connection->stream, 1);
    end(&f);
}

static void restart(struct observer_fixture *f, struct traffic *t, unsigned client, const uint8_t *orig) {
    feed(f, 0, client, f->bytes, traffic_restart_request(t, f->bytes));
    drain(f);
    feed(f, client, 0, f->bytes, traffic_handshake(t, UE_HANDSHAKE_RESTART_RESPONSE, 6, cookie_b, orig, f->bytes));
    drain(f);
}

/* The cookie of a restart handshake joins a client at a new address to its earlier connection. */
static void a_restart_continues_the_stream(void **state) {
    (void)state;
    struct observer_fixture f;
    struct traffic t;
    begin(&f, UE_OBSERVER_BY_CONNECTION);
    traffic_init(&t, RELEASE, STOCK, 1);
    connect_client(&f, &t, 1, cookie_a);
    feed_packet(&f, &t, CLIENT, 1);
    drain(&f);
    feed_packet(&f, &t, CLIENT, 2);
    assert_int_equal(drain(&f), 0); /* may have moved: waits */
    restart(&f, &t, 2, cookie_a);
    assert_int_equal(f.record.connection->stream, 0);
    assert_int_equal(ue_observer_stream_count(f.observer), 1);
    end(&f);
}

static void an_unknown_cookie_continues_nothing(void **state) {
    (void)state;
    struct observer_fixture f;
    struct traffic t;
    begin(&f, UE_OBSERVER_BY_CONNECTION);
    traffic_init(&t, RELEASE, STOCK, 1);
    connect_client(&f, &t, 1, cookie_a);
    restart(&f, &t, 2, cookie_b);
    assert_int_equal(f.record.connection->stream, 1);
    assert_int_equal(ue_observer_stream_count(f.observer), 2);
    end(&f);
}

/* ---- order ---- */

/* Client 1 has no handshake, so that its generation is not certain; that of client 2 is. Returns the number of
   datagrams that are returned before the end of the capture. */
static uint64_t returned_before_the_end(enum ue_observer_order order, uint64_t *at_the_end) {
    struct observer_fixture f;
    struct traffic t[2];
    begin(&f, order);
    traffic_init(&t[0], RELEASE, STOCK, 1);
    traffic_init(&t[1], RELEASE, STOCK, 2);
    feed_packet(&f, &t[0], CLIENT, 1);
    uint64_t first = drain(&f);
    uint64_t returned = first + connect_client(&f, &t[1], 2, cookie_a);
    feed_packet(&f, &t[1], CLIENT, 2);
    returned += drain(&f);
    ue_observer_flush(f.observer);
    *at_the_end = drain(&f);
    end(&f);
    return returned;
}

static void connections_wait_for_each_other_only_in_capture_order(void **state) {
    uint64_t at_the_end;
    (void)state;
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

static void on_event(void *user, const struct ue_tracker_event *event) {
    struct observer_fixture *f = user;
    f->events += event->type == UE_TRACKER_PACKET;
}

/* Returns the number of packets that the tracker of this client has seen. */
static uint64_t track(struct observer_fixture *f, struct traffic *t, unsigned client) {
    const struct ue_observer_callbacks callbacks = {.event = on_event, .user = f};
    uint8_t bytes[PACKET_BYTES];
    assert_true(feed(f, client, 0, bytes, traffic_packet(t, CLIENT, bytes)));
    const struct ue_observed_datagram *datagram = ue_observer_next(f->observer);
    assert_non_null(datagram);
    assert_true(ue_observer_track(f->observer, datagram, &callbacks));
    const struct ue_tracker *tracker = ue_observer_tracker(datagram->record.connection);
    return ue_tracker_counts(tracker, CLIENT)->packets + ue_tracker_counts(tracker, SERVER)->packets;
}

static void the_streams_unused_longest_are_freed(void **state) {
    (void)state;
    struct observer_fixture f;
    struct traffic t[4];
    begin(&f, UE_OBSERVER_AT_ONCE);
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
    end(&f);
}

/* The stream in use is not freed, whatever its size. */
static void the_stream_in_use_may_exceed_the_limit(void **state) {
    (void)state;
    struct observer_fixture f;
    struct traffic t[2];
    begin(&f, UE_OBSERVER_AT_ONCE);
    traffic_init(&t[0], RELEASE, STOCK, 0);
    traffic_init(&t[1], RELEASE, STOCK, 1);
    ue_observer_set_limit(f.observer, 1);
    for (uint64_t i = 0; i < PACKETS; i++) {
        assert_int_equal(track(&f, &t[0], 1), i + 1);
    }
    assert_int_equal(track(&f, &t[1], 2), 1);
    assert_int_equal(track(&f, &t[0], 1), 1);
    end(&f);
}

static void silent_streams_are_freed(void **state) {
    (void)state;
    struct observer_fixture f;
    struct traffic t[2];
    begin(&f, UE_OBSERVER_AT_ONCE);
    traffic_init(&t[0], RELEASE, STOCK, 0);
    traffic_init(&t[1], RELEASE, STOCK, 1);
    track(&f, &t[0], 1);
    f.now_ns = UE_OBSERVER_SILENT_NS;
    track(&f, &t[1], 2);
    assert_int_equal(track(&f, &t[0], 1), 2);
    f.now_ns = 2 * UE_OBSERVER_SILENT_NS + 1;
    track(&f, &t[1], 2);
    assert_int_equal(track(&f, &t[0], 1), 1);
    end(&f);
}

/* A cut datagram is returned with a terminator, and is not tracked. */
static void cut_datagrams_are_not_tracked(void **state) {
    (void)state;
    struct observer_fixture f;
    struct traffic t;
    uint8_t bytes[PACKET_BYTES];
    const struct ue_observer_callbacks callbacks = {.event = on_event, .user = &f};
    begin(&f, UE_OBSERVER_AT_ONCE);
    traffic_init(&t, RELEASE, STOCK, 1);
    struct ue_captured_datagram captured = {.frame = 1,
                                            .source = address_of(1),
                                            .destination = address_of(0),
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
    end(&f);
}

/* ---- memory ---- */

/* Whatever allocation fails, nothing is lost but the datagrams concerned, and everything is freed. */
static void every_allocation_may_fail(void **state) {
    (void)state;
    for (size_t limit = 0; limit < 40000; limit += 97) {
        struct observer_fixture f;
        struct traffic t;
        const struct ue_observer_callbacks callbacks = {.event = on_event, .user = &f};
        begin_limited(&f, UE_OBSERVER_BY_CONNECTION, limit);
        traffic_init(&t, RELEASE, STOCK, limit);
        for (unsigned i = 0; f.observer != NULL && i < 20; i++) {
            uint8_t bytes[PACKET_BYTES];
            feed(&f, 1 + i % 3, 0, bytes, traffic_packet(&t, CLIENT, bytes));
            const struct ue_observed_datagram *datagram;
            while ((datagram = ue_observer_next(f.observer)) != NULL) {
                ue_observer_track(f.observer, datagram, &callbacks);
            }
        }
        end(&f);
    }
}

/* Forged addresses: the connections that were silent the longest are forgotten. */
static void connections_are_limited(void **state) {
    (void)state;
    struct observer_fixture f;
    struct traffic t;
    uint8_t bytes[PACKET_BYTES];
    begin(&f, UE_OBSERVER_AT_ONCE);
    traffic_init(&t, RELEASE, STOCK, 1);
    size_t size_bytes = traffic_packet(&t, CLIENT, bytes);
    for (unsigned i = 0; i < UE_OBSERVER_CONNECTIONS_MAX + HOSTS; i++) {
        struct ue_captured_datagram captured = {.frame = i + 1,
                                                .source = address_of(i % 65000),
                                                .destination = address_of(1),
                                                .bytes = bytes,
                                                .captured_bytes = size_bytes,
                                                .length_bytes = size_bytes,
                                                .is_ours = true};
        captured.source.port = (uint16_t)(1 + i / 65000);
        ue_observer_feed(f.observer, &captured, &f.record);
        assert_int_equal(drain(&f), 1);
    }
    assert_int_equal(ue_observer_forgotten_count(f.observer), HOSTS);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_pair_of_addresses_is_a_stream),
        cmocka_unit_test(other_protocols_are_not_accepted),
        cmocka_unit_test(a_handshake_proves_the_protocol),
        cmocka_unit_test(an_unanswered_initial_is_dropped),
        cmocka_unit_test(a_new_handshake_is_a_new_connection),
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
