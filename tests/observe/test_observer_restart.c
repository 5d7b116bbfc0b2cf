/* SPDX-License-Identifier: MIT */
/* How the observer joins a client at a new address to its earlier connection, whatever cookies a forger sends. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "libcodec/observe/observer_state.h"
#include "tests/observe/observer_fixture.h"

/* A frame in which packets without handshake are no proof. */
#define BETWEEN_WINDOWS UE_RECOGNITION_WINDOW

struct cookie {
    uint8_t bytes[UE_COOKIE_BYTES];
};

static struct cookie cookie_of(unsigned number) {
    struct cookie cookie;
    memset(cookie.bytes, 1 + (int)number, sizeof cookie.bytes);
    return cookie;
}

/* The client continues the connection that had cookie `orig`, and gets cookie `next`. */
static void move(struct observer_fixture *f, struct traffic *t, unsigned client, unsigned orig, unsigned next) {
    const struct cookie cookies[] = {cookie_of(orig), cookie_of(next)};
    uint8_t bytes[PACKET_BYTES];
    size_t size_bytes =
        traffic_handshake(t, UE_HANDSHAKE_RESTART_RESPONSE, 6, cookies[1].bytes, cookies[0].bytes, bytes);
    assert_true(observer_fixture_feed(f, client, 0, bytes, size_bytes));
    observer_fixture_drain(f);
}

static void connect_with(struct observer_fixture *f, struct traffic *t, unsigned client, unsigned cookie) {
    const struct cookie bytes = cookie_of(cookie);
    observer_fixture_connect(f, t, client, bytes.bytes);
}

/* ---- cookies ---- */

/* Returns the number of streams after a client got `challenges` cookies, and continued with number `orig`. */
static uint64_t streams_after(unsigned challenges, unsigned orig) {
    struct observer_fixture f;
    struct traffic t;
    observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
    traffic_init(&t, RELEASE, STOCK, 1);
    for (unsigned i = 0; i < challenges; i++) {
        const struct cookie cookie = cookie_of(i);
        observer_fixture_handshake(&f, &t, 1, UE_HANDSHAKE_INITIAL, NULL);
        observer_fixture_drain(&f);
        observer_fixture_handshake(&f, &t, 1, UE_HANDSHAKE_CHALLENGE, cookie.bytes);
        observer_fixture_drain(&f);
    }
    move(&f, &t, 2, orig, 100);
    uint64_t streams = ue_observer_stream_count(f.observer);
    observer_fixture_end(&f);
    return streams;
}

/* A retransmitted Initial leads to several Challenges, and the client may have answered any of them. */
static void each_of_several_challenges_is_remembered(void **state) {
    for (unsigned orig = 0; orig < UE_CONNECTION_COOKIES; orig++) {
        assert_int_equal(streams_after(UE_CONNECTION_COOKIES, orig), 1);
    }
}

static void the_latest_four_cookies_are_remembered(void **state) {
    for (unsigned challenges = UE_CONNECTION_COOKIES + 1; challenges < 4 * UE_CONNECTION_COOKIES; challenges++) {
        assert_int_equal(streams_after(challenges, challenges - UE_CONNECTION_COOKIES - 1), 2);
        assert_int_equal(streams_after(challenges, challenges - UE_CONNECTION_COOKIES), 1);
        assert_int_equal(streams_after(challenges, challenges - 1), 1);
    }
}

/* ---- streams ---- */

static void a_client_may_move_many_times(void **state) {
    struct observer_fixture f;
    struct traffic t;
    observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
    traffic_init(&t, RELEASE, STOCK, 1);
    connect_with(&f, &t, 1, 0);
    for (unsigned i = 1; i < 20; i++) {
        move(&f, &t, 1 + i, i - 1, i);
        assert_int_equal(f.record.connection->stream, 0);
        assert_int_equal(ue_observer_stream_count(f.observer), 1);
    }
    observer_fixture_end(&f);
}

/* Forged restarts in a circle: a connection that another one continues does not continue a third one. */
static void restarts_in_a_circle_keep_the_count(void **state) {
    struct observer_fixture f;
    struct traffic t;
    observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
    traffic_init(&t, RELEASE, STOCK, 1);
    for (unsigned client = 0; client < 3; client++) {
        connect_with(&f, &t, 1 + client, client);
    }
    move(&f, &t, 2, 0, 10);
    assert_int_equal(f.record.connection->stream, 0);
    assert_int_equal(ue_observer_stream_count(f.observer), 2);
    move(&f, &t, 1, 2, 11);
    assert_int_equal(f.record.connection->stream, 0);
    assert_int_equal(ue_observer_stream_count(f.observer), 2);
    move(&f, &t, 3, 1, 12);
    assert_int_equal(f.record.connection->stream, 0);
    assert_int_equal(ue_observer_stream_count(f.observer), 1);
    observer_fixture_end(&f);
}

/* The cookie proves the protocol, so that no packet need prove it any more. */
static void a_continued_connection_needs_no_packets_as_proof(void **state) {
    struct observer_fixture f;
    struct traffic t;
    observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
    traffic_init(&t, RELEASE, STOCK, 1);
    connect_with(&f, &t, 1, 0);
    assert_false(ue_observer_is_expecting(f.observer, BETWEEN_WINDOWS));
    f.is_ours = false;
    observer_fixture_handshake(&f, &t, 2, UE_HANDSHAKE_INITIAL, NULL);
    assert_true(ue_observer_is_expecting(f.observer, BETWEEN_WINDOWS));
    move(&f, &t, 2, 0, 1);
    assert_true(f.record.connection->is_proven);
    assert_false(ue_observer_is_expecting(f.observer, BETWEEN_WINDOWS));
    observer_fixture_end(&f);
}

/* Likewise a port that shows the protocol after an Initial. */
static void a_known_port_needs_no_packets_as_proof(void **state) {
    struct observer_fixture f;
    struct traffic t;
    observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
    traffic_init(&t, RELEASE, STOCK, 1);
    f.is_ours = false;
    observer_fixture_handshake(&f, &t, 1, UE_HANDSHAKE_INITIAL, NULL);
    f.is_ours = true;
    observer_fixture_packet(&f, &t, CLIENT, 1);
    assert_true(f.record.connection->is_proven);
    assert_false(ue_observer_is_expecting(f.observer, BETWEEN_WINDOWS));
    observer_fixture_end(&f);
}

/* ---- the handshake is not in the capture ---- */

static void feed_packets(struct observer_fixture *f, struct traffic *t, unsigned client, unsigned count) {
    for (unsigned n = 0; n < count; n++) {
        observer_fixture_packet(f, t, n % 2 != 0 ? SERVER : CLIENT, client);
        observer_fixture_drain(f);
    }
}

/* The client of `before` goes on as client 9, with the sequences of `after`. Returns its stream. */
static uint32_t stream_after_move(struct observer_fixture *f, struct traffic *after) {
    observer_fixture_packet(f, after, CLIENT, 9);
    observer_fixture_drain(f);
    observer_fixture_restart(f, after, 9, cookie_a);
    ue_observer_flush(f->observer);
    observer_fixture_drain(f);
    return f->record.connection->stream;
}

static void sequences_that_go_on_join(void **state) {
    struct observer_fixture f;
    struct traffic t, other;
    observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
    traffic_init(&t, "4.25", STOCK, 1);
    traffic_init(&other, "4.25", STOCK, 2);
    feed_packets(&f, &other, 1, 40);
    feed_packets(&f, &t, 2, 40);
    assert_int_equal(ue_observer_stream_count(f.observer), 2);
    assert_int_equal(stream_after_move(&f, &t), 1);
    assert_int_equal(ue_observer_stream_count(f.observer), 2);
    observer_fixture_end(&f);
}

/* Another client, or two connections with which the sequences could go on: nothing is certain. */
static void sequences_that_do_not_decide_join_nothing(void **state) {
    for (unsigned is_twin = 0; is_twin < 2; is_twin++) {
        struct observer_fixture f;
        struct traffic t, other;
        observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
        traffic_init(&t, "4.25", STOCK, 1);
        other = t;
        feed_packets(&f, &t, 1, 40);
        feed_packets(&f, &other, 2, 40);
        if (!is_twin) {
            traffic_init(&t, "4.25", STOCK, 3);
        }
        assert_int_equal(stream_after_move(&f, &t), 2);
        assert_int_equal(ue_observer_stream_count(f.observer), 3);
        observer_fixture_end(&f);
    }
}

/* With its handshake in the capture, the cookie of the client's message counts. */
static void a_known_cookie_is_not_replaced_by_sequences(void **state) {
    struct observer_fixture f;
    struct traffic t;
    observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
    traffic_init(&t, "4.25", STOCK, 1);
    observer_fixture_connect(&f, &t, 1, cookie_b);
    feed_packets(&f, &t, 1, 40);
    observer_fixture_packet(&f, &t, CLIENT, 9);
    observer_fixture_drain(&f);
    move(&f, &t, 9, 3, 4);
    assert_int_equal(f.record.connection->stream, 1);
    observer_fixture_end(&f);
}

/* A client that began less than ten seconds ago ignores requests until then, so that hundreds of its packets come
   before its cookie. They join the earlier connection from the request on, before any is returned; those of another
   client, which the server asks, too, do not. */
static void a_request_joins_by_sequences(void **state) {
    for (unsigned is_other = 0; is_other < 2; is_other++) {
        struct observer_fixture f;
        struct traffic t;
        observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
        traffic_init(&t, "4.25", STOCK, 1);
        observer_fixture_connect(&f, &t, 1, cookie_b);
        feed_packets(&f, &t, 1, 40);
        if (is_other) {
            traffic_init(&t, "4.25", STOCK, 3);
        }
        for (unsigned n = 0; n < 2 * UE_DETECTION_HELD_MAX; n++) {
            observer_fixture_packet(&f, &t, CLIENT, 9);
            assert_true(n != 0 || observer_fixture_drain(&f) == 0);
            observer_fixture_feed(&f, 0, 9, f.bytes, traffic_restart_request(&t, f.bytes));
            observer_fixture_drain(&f);
            assert_true(is_other || f.record.connection->stream == 0);
        }
        assert_int_equal(ue_observer_stream_count(f.observer), 1 + is_other);
        observer_fixture_end(&f);
    }
}

/* The sequences join client 9 to client 1. */
static void join_by_sequences(struct observer_fixture *f, struct traffic *t) {
    struct traffic other;
    observer_fixture_begin(f, UE_OBSERVER_BY_CONNECTION);
    traffic_init(t, "4.25", STOCK, 1);
    traffic_init(&other, "4.25", STOCK, 2);
    connect_with(f, t, 1, 1);
    feed_packets(f, t, 1, 40);
    connect_with(f, &other, 2, 2);
    feed_packets(f, t, 9, 1);
    observer_fixture_feed(f, 0, 9, f->bytes, traffic_restart_request(t, f->bytes));
    observer_fixture_drain(f);
    assert_int_equal(f->record.connection->stream, 0);
    assert_int_equal(ue_observer_stream_count(f->observer), 2);
}

/* Client 9, which the sequences join to client 1, sends a cookie. Returns its stream. */
static uint32_t stream_after_guess(struct observer_fixture *f, struct traffic *t, unsigned cookie) {
    join_by_sequences(f, t);
    move(f, t, 9, cookie, 9);
    assert_int_equal(ue_observer_stream_count(f->observer), 2);
    return f->record.connection->stream;
}

/* The cookie is proof. The connection that the sequences named goes on, and its client may move. */
static void a_cookie_replaces_what_sequences_joined(void **state) {
    struct observer_fixture f;
    struct traffic t;
    assert_int_equal(stream_after_guess(&f, &t, 2), 1);
    feed_packets(&f, &t, 9, 2);
    assert_int_equal(f.record.connection->stream, 1);
    feed_packets(&f, &t, 1, 2);
    assert_int_equal(f.record.connection->stream, 0);
    move(&f, &t, 10, 1, 10);
    assert_int_equal(f.record.connection->stream, 0);
    move(&f, &t, 11, 9, 11);
    assert_int_equal(f.record.connection->stream, 1);
    assert_int_equal(ue_observer_stream_count(f.observer), 2);
    observer_fixture_end(&f);
}

/* The cookie of the connection that the sequences named, after which another one changes nothing; and an unknown one.
 */
static void a_cookie_confirms_what_sequences_joined(void **state) {
    for (unsigned cookie = 1; cookie <= 3; cookie += 2) {
        struct observer_fixture f;
        struct traffic t;
        assert_int_equal(stream_after_guess(&f, &t, cookie), 0);
        if (cookie == 1) {
            move(&f, &t, 9, 2, 12);
            assert_int_equal(f.record.connection->stream, 0);
        }
        observer_fixture_end(&f);
    }
}

/* The cookie of client 10 proves that it continues client 1, whatever client 9 sends after that. */
static void a_proven_continuation_outlives_a_guess(void **state) {
    struct observer_fixture f;
    struct traffic t;
    join_by_sequences(&f, &t);
    move(&f, &t, 10, 1, 10);
    assert_int_equal(f.record.connection->stream, 0);
    move(&f, &t, 9, 2, 9);
    move(&f, &t, 1, 2, 11);
    assert_int_equal(f.record.connection->stream, 0);
    observer_fixture_end(&f);
}

/* ---- decryption ---- */

struct decryption_calls {
    unsigned begun, ended, adopted, learned;
    struct ue_decryptor sessions[8];
    bool is_open[8];
};

static struct ue_decryptor *begin_session(void *user, const struct ue_address sides[2],
                                          const struct ue_settings *settings) {
    struct decryption_calls *calls = user;
    if (sides[0].bytes[3] == 3) {
        return NULL; /* client 3 is not encrypted */
    }
    calls->is_open[calls->begun] = true;
    return &calls->sessions[calls->begun++];
}

static void end_session(void *user, struct ue_decryptor *session) {
    struct decryption_calls *calls = user;
    assert_true(calls->is_open[session - calls->sessions]);
    calls->is_open[session - calls->sessions] = false;
    calls->ended++;
}

static void adopt_session(void *user, struct ue_decryptor *session, const struct ue_decryptor *earlier) {
    struct decryption_calls *calls = user;
    assert_int_equal(session - calls->sessions, 1);
    assert_int_equal(earlier - calls->sessions, 0);
    calls->adopted++;
}

static void learn_session(void *user, struct ue_decryptor *session, const struct ue_detection *detection,
                          const struct ue_decode_state *state, const uint8_t *bytes, size_t size_bytes) {
    struct decryption_calls *calls = user;
    assert_true(calls->is_open[session - calls->sessions]);
    assert_ptr_equal(detection->settings.decryptor, session);
    assert_int_not_equal(size_bytes, 0);
    calls->learned++;
}

/* Each session that begins ends once; clients 1 and 2 have one, and client 2 continues client 1. */
static void decryption_sessions_are_balanced(void **state) {
    struct observer_fixture f;
    struct traffic t;
    static struct decryption_calls calls;
    const struct ue_decryption decryption = {begin_session, end_session, adopt_session, learn_session, &calls};
    observer_fixture_begin_with(
        &f, &(const struct ue_observer_options){.order = UE_OBSERVER_AT_ONCE, .decryption = &decryption}, SIZE_MAX);
    traffic_init(&t, RELEASE, STOCK, 1);
    connect_with(&f, &t, 1, 0);
    assert_int_equal(calls.learned, 4);
    connect_with(&f, &t, 3, 1);
    assert_null(f.record.connection->decryptor);
    assert_int_equal(calls.learned, 4);
    move(&f, &t, 2, 0, 2);
    assert_ptr_equal(f.record.connection->decryptor, &calls.sessions[1]);
    assert_int_equal(calls.begun, 2);
    assert_int_equal(calls.adopted, 1);
    move(&f, &t, 2, 1, 3);
    assert_int_equal(calls.adopted, 1);
    assert_int_equal(calls.ended, 0);
    observer_fixture_end(&f);
    assert_int_equal(calls.ended, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_of_several_challenges_is_remembered),
        cmocka_unit_test(the_latest_four_cookies_are_remembered),
        cmocka_unit_test(a_client_may_move_many_times),
        cmocka_unit_test(restarts_in_a_circle_keep_the_count),
        cmocka_unit_test(a_continued_connection_needs_no_packets_as_proof),
        cmocka_unit_test(a_known_port_needs_no_packets_as_proof),
        cmocka_unit_test(decryption_sessions_are_balanced),
        cmocka_unit_test(sequences_that_go_on_join),
        cmocka_unit_test(sequences_that_do_not_decide_join_nothing),
        cmocka_unit_test(a_known_cookie_is_not_replaced_by_sequences),
        cmocka_unit_test(a_request_joins_by_sequences),
        cmocka_unit_test(a_cookie_replaces_what_sequences_joined),
        cmocka_unit_test(a_cookie_confirms_what_sequences_joined),
        cmocka_unit_test(a_proven_continuation_outlives_a_guess),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
