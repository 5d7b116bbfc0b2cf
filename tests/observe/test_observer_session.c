/* SPDX-License-Identifier: MIT */
/* The packet that opens channel 0 begins a session (protocol.md 5.7), also if its handshake was not captured. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/packet_tracker.h>
#include <uerudp/seq.h>
#include "libcodec/observe/observer_state.h"
#include "tests/observe/observer_fixture.h"

#define SEQ_MASK (UE_PACKET_SEQ_MAX - 1)

struct session {
    struct observer_fixture f;
    struct traffic t;
    struct ue_observed_datagram latest;
    uint64_t nacked; /* reported by all datagrams */
};

static void on_event(void *user, const struct ue_observed_event *event) {
    ((struct session *)user)->nacked += event->type == UE_OBSERVED_NAK;
}

static void track(struct session *s) {
    const struct ue_observer_callbacks callbacks = {.event = on_event, .user = s};
    const struct ue_observed_datagram *datagram;
    while ((datagram = ue_observer_next(s->f.observer)) != NULL) {
        s->latest = *datagram;
        ue_observer_track(s->f.observer, datagram, &callbacks);
    }
}

static void begin(struct session *s, const char *release) {
    memset(s, 0, sizeof *s);
    observer_fixture_begin(&s->f, UE_OBSERVER_AT_ONCE);
    traffic_init(&s->t, release, STOCK, 1);
}

/* Both sides begin with these sequences. */
static void begin_ids(struct session *s, uint16_t client, uint16_t server) {
    s->t.sides[CLIENT].seq = (uint16_t)((client - 1) & SEQ_MASK);
    s->t.sides[SERVER].seq = (uint16_t)((server - 1) & SEQ_MASK);
}

static void packets(struct session *s, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        for (unsigned side = 0; side < 2; side++) {
            observer_fixture_packet(&s->f, &s->t, side, 1);
            track(s);
        }
    }
}

static void handshake(struct session *s) {
    observer_fixture_connect(&s->f, &s->t, 1, cookie_a);
    struct ue_sequences first = ue_cookie_sequences(cookie_a);
    begin_ids(s, first.client, first.server);
}

struct opening {
    unsigned side;
    uint16_t ch_seq;
    uint32_t history;
    uint32_t channel;
    bool is_closed; /* it does not open */
};

static size_t encode_opening(struct session *s, const struct opening *opening, uint8_t *bytes) {
    static const uint8_t payload[10];
    bool is_legacy = s->t.profile->packet == UE_PACKET_LEGACY;
    struct ue_item item = {.bunch = {.control = !opening->is_closed,
                                     .open = !opening->is_closed,
                                     .reliable = true,
                                     .channel = opening->channel,
                                     .ch_seq = opening->ch_seq & 1023u,
                                     .ch_type = is_legacy ? UE_CHANNEL_CONTROL : 0,
                                     .has_name = !is_legacy,
                                     .name = {.hardcoded = !is_legacy, .index = is_legacy ? 0 : UE_NAME_CONTROL},
                                     .data = {payload, 0, 80}}};
    struct ue_datagram d = {.items = &item, .item_count = 1};
    struct ue_fault fault;
    size_t size_bytes;
    traffic_header(&s->t, opening->side, &d.packet);
    d.packet.history[0] = opening->history;
    assert_int_equal(ue_datagram_encode(&s->t.sides[opening->side].x, &d, bytes, PACKET_BYTES, &size_bytes, &fault),
                     UE_OK);
    return size_bytes;
}

static void feed(struct session *s, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    observer_fixture_feed(&s->f, side == CLIENT ? 1 : 0, side == CLIENT ? 0 : 1, bytes, size_bytes);
    track(s);
}

static void send_opening(struct session *s, const struct opening *opening) {
    uint8_t bytes[PACKET_BYTES];
    feed(s, opening->side, bytes, encode_opening(s, opening, bytes));
}

/* The packet with which a client begins at this sequence. */
static struct opening opening_at(uint16_t seq) {
    return (struct opening){.side = CLIENT, .ch_seq = (uint16_t)(seq + 1)};
}

static const struct ue_tracker_counts *counts(const struct session *s, unsigned side) {
    return ue_tracker_counts(ue_observer_tracker(s->latest.record.connection), side);
}

static uint32_t stream(const struct session *s) {
    return s->f.record.connection->stream;
}

/* ---- the first packet of a capture ---- */

/* What the handshake would have told is known: the server's packet 2000 is missing, and none before it. */
static void a_capture_after_the_handshake_knows_the_first_sequences(void **state) {
    static const char *const releases[] = {"4.22", "4.25", "5.1", "5.5", "5.8"};
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        struct session s;
        const struct opening opening = opening_at(1027);
        begin(&s, releases[i]);
        begin_ids(&s, 1027, 2000);
        send_opening(&s, &opening);
        assert_int_equal(s.nacked, 0);
        assert_true(s.latest.record.decode.packet_ids.begins_session);
        assert_int_equal(s.latest.record.decode.packet_ids.acked_before, 1999);
        s.t.sides[SERVER].seq = 2000; /* the next is 2001 */
        packets(&s, 3);
        assert_int_equal(counts(&s, CLIENT)->missing, 0);
        assert_int_equal(counts(&s, SERVER)->missing, 1);
        assert_int_equal(s.nacked, 0);
        observer_fixture_end(&s.f);
    }
}

/* A first packet with another bunch, or with a history, is in the middle of a session. */
static void another_first_packet_tells_nothing(void **state) {
    static const struct opening others[] = {{.side = CLIENT, .ch_seq = 1027},
                                            {.side = CLIENT, .ch_seq = 1028, .history = 1},
                                            {.side = CLIENT, .ch_seq = 1028, .channel = 2},
                                            {.side = CLIENT, .ch_seq = 1028, .is_closed = true}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct session s;
        begin(&s, RELEASE);
        begin_ids(&s, 1027, 2000);
        send_opening(&s, &others[i]);
        assert_false(s.latest.record.decode.packet_ids.begins_session);
        s.t.sides[SERVER].seq = 2000;
        packets(&s, 3);
        assert_int_equal(counts(&s, SERVER)->missing, 0);
        observer_fixture_end(&s.f);
    }
}

/* ---- another session of the same addresses ---- */

static void another_session_is_another_stream(void **state) {
    static const uint16_t seqs[] = {1027, 9000, 16383};
    for (size_t i = 0; i < sizeof seqs / sizeof *seqs; i++) {
        struct session s;
        const struct opening opening = opening_at(seqs[i]);
        begin(&s, RELEASE);
        handshake(&s);
        packets(&s, 100);
        begin_ids(&s, seqs[i], 512);
        send_opening(&s, &opening);
        assert_int_equal(stream(&s), 1);
        assert_true(s.latest.record.decode.packet_ids.begins_session);
        packets(&s, 100);
        assert_int_equal(stream(&s), 1);
        assert_int_equal(s.nacked, 0);
        assert_int_equal(counts(&s, CLIENT)->missing + counts(&s, SERVER)->missing, 0);
        assert_int_equal(s.latest.record.connection->detection.server_side, SERVER);
        assert_int_equal(ue_observer_stream_count(s.f.observer), 2);
        observer_fixture_end(&s.f);
    }
}

/* Then its first packet counts once, for the connection before it. */
static void a_session_without_memory_is_no_connection(void **state) {
    struct session s;
    const struct opening opening = opening_at(1027);
    begin(&s, RELEASE);
    handshake(&s);
    packets(&s, 100);
    const struct ue_observed_connection *connection = s.f.record.connection;
    uint32_t before = connection->detection.datagrams;
    s.f.memory.failing = s.f.memory.allocations + 1;
    begin_ids(&s, 1027, 512);
    send_opening(&s, &opening);
    assert_true(s.f.memory.allocations >= s.f.memory.failing);
    assert_ptr_equal(s.f.record.connection, connection);
    assert_int_equal(connection->detection.datagrams, before + 1);
    assert_false(s.latest.record.decode.packet_ids.has_id);
    assert_int_equal(ue_observer_stream_count(s.f.observer), 1);
    observer_fixture_end(&s.f);
}

/* Before the result of the detection is final, too. */
static void a_session_may_follow_the_first_packets(void **state) {
    struct session s;
    const struct opening openings[] = {opening_at(12054), opening_at(1027)};
    begin(&s, RELEASE);
    begin_ids(&s, 12054, 10245);
    send_opening(&s, &openings[0]);
    begin_ids(&s, 1027, 513);
    send_opening(&s, &openings[1]);
    assert_int_equal(stream(&s), 1);
    packets(&s, 100);
    assert_int_equal(s.nacked, 0);
    assert_int_equal(counts(&s, CLIENT)->missing + counts(&s, SERVER)->missing, 0);
    assert_int_equal(ue_observer_stream_count(s.f.observer), 2);
    observer_fixture_end(&s.f);
}

/* As after a second handshake: the server answered the first one, and sent no packet. */
static void an_attempt_after_one_without_answer_is_the_same_stream(void **state) {
    struct session s;
    const struct opening opening = opening_at(1027);
    begin(&s, RELEASE);
    handshake(&s);
    begin_ids(&s, 1027, 512);
    send_opening(&s, &opening);
    packets(&s, 3);
    assert_int_equal(stream(&s), 0);
    assert_int_equal(s.nacked, 0);
    assert_int_equal(counts(&s, CLIENT)->missing, 0);
    assert_int_equal(ue_observer_stream_count(s.f.observer), 1);
    observer_fixture_end(&s.f);
}

/* ---- copies of the opening bunch ---- */

static void retransmissions_begin_no_session(void **state) {
    struct session s;
    uint16_t seq = ue_cookie_sequences(cookie_a).client;
    struct opening opening = opening_at(seq);
    begin(&s, RELEASE);
    handshake(&s);
    send_opening(&s, &opening);
    for (unsigned lost = 0; lost < 1100; lost += 100) { /* packets before the retransmission */
        s.t.sides[CLIENT].seq = (uint16_t)((seq + lost) & SEQ_MASK);
        send_opening(&s, &opening);
        assert_int_equal(stream(&s), 0);
    }
    assert_int_equal(ue_observer_stream_count(s.f.observer), 1);
    observer_fixture_end(&s.f);
}

/* Late copies, and copies whose sequence the network changed where the number of the bunch does not depend on it. */
static void copies_begin_no_session(void **state) {
    for (unsigned change = 0; change < 16; change++) {
        for (unsigned is_known = 0; is_known < 2; is_known++) {
            struct session s;
            uint8_t bytes[PACKET_BYTES];
            uint16_t seq = ue_cookie_sequences(cookie_a).client;
            const struct opening opening = opening_at(seq);
            begin(&s, RELEASE);
            is_known != 0 ? handshake(&s) : begin_ids(&s, seq, 700);
            size_t size_bytes = encode_opening(&s, &opening, bytes);
            feed(&s, CLIENT, bytes, size_bytes);
            packets(&s, 200);
            begin_ids(&s, (uint16_t)(seq ^ change << 10), 700);
            send_opening(&s, &opening);
            assert_int_equal(ue_observer_stream_count(s.f.observer), 1);
            observer_fixture_end(&s.f);
        }
    }
}

/* The network delivers the first packet of a session once more after the next session began. */
static void late_copies_of_the_session_before_begin_no_session(void **state) {
    for (unsigned has_handshake = 0; has_handshake < 2; has_handshake++) {
        struct session s;
        uint8_t bytes[PACKET_BYTES];
        const struct opening openings[] = {opening_at(5000), opening_at(ue_cookie_sequences(cookie_a).client)};
        begin(&s, RELEASE);
        begin_ids(&s, 5000, 700);
        size_t size_bytes = encode_opening(&s, &openings[0], bytes);
        feed(&s, CLIENT, bytes, size_bytes);
        packets(&s, 100);
        if (has_handshake != 0) {
            handshake(&s);
            feed(&s, CLIENT, bytes, size_bytes); /* before the first packet of the session, too */
        } else {
            begin_ids(&s, ue_cookie_sequences(cookie_a).client, 3000);
        }
        send_opening(&s, &openings[1]);
        packets(&s, 3);
        for (unsigned i = 0; i < 2; i++) {
            feed(&s, CLIENT, bytes, size_bytes);
            packets(&s, 100);
        }
        assert_int_equal(ue_observer_stream_count(s.f.observer), 2);
        assert_int_equal(stream(&s), 1);
        assert_int_equal(s.nacked, 0);
        assert_int_equal(counts(&s, CLIENT)->missing + counts(&s, SERVER)->missing, 0);
        observer_fixture_end(&s.f);
    }
}

/* The server begins with another sequence. */
static void a_session_may_begin_with_the_sequence_of_the_one_before(void **state) {
    struct session s;
    const struct opening openings[] = {opening_at(5000), opening_at(9000)};
    begin(&s, RELEASE);
    for (unsigned i = 0; i < 3; i++) {
        begin_ids(&s, i == 1 ? 9000 : 5000, (uint16_t)(700 + i));
        send_opening(&s, &openings[i % 2]);
        packets(&s, 100);
        assert_int_equal(stream(&s), i);
    }
    assert_int_equal(ue_observer_stream_count(s.f.observer), 3);
    observer_fixture_end(&s.f);
}

/* A server does not open channel 0, and up to 4.21 no packet has the ack that the first one needs. */
static void other_packets_begin_no_session(void **state) {
    static const char *const releases[] = {RELEASE, "4.18"};
    for (unsigned i = 0; i < 2; i++) {
        struct session s;
        struct opening opening = opening_at(1027);
        opening.side = i == 0 ? SERVER : CLIENT;
        begin(&s, releases[i]);
        handshake(&s);
        packets(&s, 100);
        begin_ids(&s, 1027, 1027);
        send_opening(&s, &opening);
        assert_int_equal(ue_observer_stream_count(s.f.observer), 1);
        observer_fixture_end(&s.f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_capture_after_the_handshake_knows_the_first_sequences),
        cmocka_unit_test(another_first_packet_tells_nothing),
        cmocka_unit_test(another_session_is_another_stream),
        cmocka_unit_test(a_session_without_memory_is_no_connection),
        cmocka_unit_test(a_session_may_follow_the_first_packets),
        cmocka_unit_test(an_attempt_after_one_without_answer_is_the_same_stream),
        cmocka_unit_test(retransmissions_begin_no_session),
        cmocka_unit_test(copies_begin_no_session),
        cmocka_unit_test(late_copies_of_the_session_before_begin_no_session),
        cmocka_unit_test(a_session_may_begin_with_the_sequence_of_the_one_before),
        cmocka_unit_test(other_packets_begin_no_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
