/* SPDX-License-Identifier: MIT */
/* Datagrams of many connections are gathered, so that those of a connection are returned together. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/packet_tracker.h>
#include "libcodec/observe/observer_state.h"
#include "tests/observe/observer_fixture.h"

#define CLIENTS_MAX 48
#define MOVED_TO (CLIENTS_MAX + 1) /* the address that client 1 moves to */
#define RETURNED_MAX 1024

struct returned {
    uint32_t streams[RETURNED_MAX];
    uint64_t frames[RETURNED_MAX];
    size_t count;
};

struct gathering {
    struct observer_fixture f;
    struct traffic traffic[CLIENTS_MAX + 1]; /* by client, from 1 */
    unsigned clients;
    struct returned returned;
};

static void on_event(void *user, const struct ue_observed_event *event) {}

/* Returns the number of datagrams that are returned now. */
static size_t drain(struct gathering *g) {
    const struct ue_observed_datagram *datagram;
    size_t before = g->returned.count;
    while ((datagram = ue_observer_next(g->f.observer)) != NULL) {
        assert_true(g->returned.count < RETURNED_MAX);
        g->returned.streams[g->returned.count] = datagram->record.connection->stream;
        g->returned.frames[g->returned.count++] = datagram->frame;
    }
    return g->returned.count - before;
}

static void finish(struct gathering *g) {
    ue_observer_flush(g->f.observer);
    drain(g);
    assert_int_equal(g->f.observer->waiting_count, 0);
}

/* With all clients connected, and nothing waiting. */
static void begin_in_order(struct gathering *g, enum ue_observer_order order, size_t gathered_max, unsigned clients) {
    const struct ue_observer_options options = {.order = order, .gathered_max = gathered_max};
    memset(g, 0, sizeof *g);
    g->clients = clients;
    observer_fixture_begin_with(&g->f, &options, SIZE_MAX);
    for (unsigned client = 1; client <= clients; client++) {
        uint8_t cookie[UE_COOKIE_BYTES];
        memset(cookie, 1 + (int)client, sizeof cookie);
        traffic_init(&g->traffic[client], RELEASE, STOCK, client);
        observer_fixture_connect(&g->f, &g->traffic[client], client, cookie);
    }
    finish(g);
    g->returned.count = 0;
}

static void begin(struct gathering *g, size_t gathered_max, unsigned clients) {
    begin_in_order(g, UE_OBSERVER_BY_CONNECTION, gathered_max, clients);
}

/* Each client, of which number 1 has this address, sends a packet. Returns the number of datagrams returned before the
   last packet. */
static size_t send_round(struct gathering *g, unsigned address_of_1) {
    size_t before_last = 0;
    for (unsigned client = 1; client <= g->clients; client++) {
        before_last = g->returned.count;
        observer_fixture_packet(&g->f, &g->traffic[client], CLIENT, client == 1 ? address_of_1 : client);
        drain(g);
    }
    return before_last;
}

static void those_of_a_connection_are_returned_together(void **state) {
    static struct gathering g;
    begin(&g, 3 * CLIENTS_MAX, CLIENTS_MAX);
    for (unsigned round = 0; round < 3; round++) {
        assert_int_equal(send_round(&g, 1), 0);
    }
    assert_int_equal(g.returned.count, 3 * CLIENTS_MAX);
    for (size_t i = 0; i < g.returned.count; i++) {
        assert_int_equal(g.returned.streams[i], g.returned.streams[i - i % 3]);
        assert_true(i % 3 == 0 || g.returned.frames[i] > g.returned.frames[i - 1]);
    }
    observer_fixture_end(&g.f);
}

static void those_of_few_connections_are_returned_at_once(void **state) {
    static struct gathering g;
    begin(&g, 1000, 8);
    send_round(&g, 1);
    assert_int_equal(g.returned.count, 8);
    observer_fixture_end(&g.f);
}

static void those_in_another_order_are_returned_at_once(void **state) {
    static struct gathering g;
    static const enum ue_observer_order orders[] = {UE_OBSERVER_AT_ONCE, UE_OBSERVER_IN_CAPTURE_ORDER};
    for (unsigned i = 0; i < 2; i++) {
        begin_in_order(&g, orders[i], 1000, CLIENTS_MAX);
        send_round(&g, 1);
        assert_int_equal(g.returned.count, CLIENTS_MAX);
        observer_fixture_end(&g.f);
    }
}

static void track_all(struct gathering *g, uint64_t counts[CLIENTS_MAX]) {
    const struct ue_observer_callbacks callbacks = {.event = on_event};
    const struct ue_observed_datagram *datagram;
    ue_observer_flush(g->f.observer);
    while ((datagram = ue_observer_next(g->f.observer)) != NULL) {
        assert_true(ue_observer_track(g->f.observer, datagram, &callbacks));
        const struct ue_tracker *tracker = ue_observer_tracker(datagram->record.connection);
        counts[datagram->record.connection->stream] = ue_tracker_counts(tracker, datagram->role)->packets;
    }
}

/* The tracker of a silent stream is freed, but not while its datagrams wait for those of others. */
static void no_stream_is_silent_while_its_datagrams_wait(void **state) {
    static struct gathering g;
    uint64_t counts[CLIENTS_MAX] = {0};
    begin(&g, 1000, CLIENTS_MAX);
    for (unsigned round = 0; round < 4; round++) {
        send_round(&g, 1);
        g.f.now_ns += UE_OBSERVER_SILENT_NS * 2 / 3;
        if (round == 0) {
            track_all(&g, counts);
        }
    }
    track_all(&g, counts);
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        assert_int_equal(counts[i], 4);
    }
    observer_fixture_end(&g.f);
}

static void those_of_many_bytes_are_returned(void **state) {
    static struct gathering g;
    begin(&g, 1000, CLIENTS_MAX);
    g.f.observer->waiting_bytes = 16u << 20;
    send_round(&g, 1);
    assert_int_equal(g.returned.count, CLIENTS_MAX);
    g.f.observer->waiting_bytes = 0;
    observer_fixture_end(&g.f);
}

static void none_waits_at_the_end(void **state) {
    static struct gathering g;
    begin(&g, 1000, CLIENTS_MAX);
    send_round(&g, 1);
    assert_int_equal(g.returned.count, 0);
    finish(&g);
    assert_int_equal(g.returned.count, CLIENTS_MAX);
    observer_fixture_end(&g.f);
}

static void move_client_1(struct gathering *g) {
    uint8_t orig[UE_COOKIE_BYTES];
    memset(orig, 2, sizeof orig);
    observer_fixture_feed(&g->f, 0, MOVED_TO, g->f.bytes, traffic_restart_request(&g->traffic[1], g->f.bytes));
    drain(g);
    size_t size_bytes = traffic_handshake(&g->traffic[1], UE_HANDSHAKE_RESTART_RESPONSE, 6, cookie_b, orig, g->f.bytes);
    observer_fixture_feed(&g->f, MOVED_TO, 0, g->f.bytes, size_bytes);
    drain(g);
}

/* Packets of client 1 at its old address come after the first ones at the new address. */
static void feed_move(struct gathering *g, size_t gathered_max) {
    begin(g, gathered_max, CLIENTS_MAX);
    send_round(g, 1);
    send_round(g, 1);
    send_round(g, MOVED_TO);
    move_client_1(g);
    for (unsigned round = 0; round < 4; round++) {
        send_round(g, round == 1 ? 1 : MOVED_TO);
    }
    finish(g);
}

static size_t frames_of(const struct returned *returned, uint32_t stream, uint64_t frames[RETURNED_MAX]) {
    size_t count = 0;
    for (size_t i = 0; i < returned->count; i++) {
        if (returned->streams[i] == stream) {
            frames[count++] = returned->frames[i];
        }
    }
    return count;
}

/* A client that moves has two connections, which share a stream. */
static void each_stream_has_the_same_order(void **state) {
    static struct gathering one, other;
    feed_move(&one, 0);
    for (size_t gathered_max = 1; gathered_max <= 8 * CLIENTS_MAX; gathered_max++) {
        feed_move(&other, gathered_max);
        assert_int_equal(one.returned.count, other.returned.count);
        for (uint32_t stream = 0; stream < CLIENTS_MAX; stream++) {
            uint64_t expected[RETURNED_MAX], frames[RETURNED_MAX];
            size_t count = frames_of(&one.returned, stream, expected);
            assert_int_equal(frames_of(&other.returned, stream, frames), count);
            assert_memory_equal(frames, expected, count * sizeof *frames);
        }
        observer_fixture_end(&other.f);
    }
    observer_fixture_end(&one.f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_of_a_connection_are_returned_together),
        cmocka_unit_test(those_of_few_connections_are_returned_at_once),
        cmocka_unit_test(those_in_another_order_are_returned_at_once),
        cmocka_unit_test(no_stream_is_silent_while_its_datagrams_wait),
        cmocka_unit_test(those_of_many_bytes_are_returned),
        cmocka_unit_test(none_waits_at_the_end),
        cmocka_unit_test(each_stream_has_the_same_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
