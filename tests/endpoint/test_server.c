/* SPDX-License-Identifier: MIT */
/* A server and its clients, also those who move (endpoint.md 16.1, 21.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/endpoint/server_stage.h"
#include "tests/support/within.h"

/* ---- clients ---- */

static void many_clients_join_and_leave(void **state) {
    (void)state;
    static const char *const releases[] = {"4.22", "4.26", "5.1", "5.4", "5.8"};
    for (size_t r = 0; r < sizeof releases / sizeof *releases; r++) {
        struct ue_server_config c = config(releases[r]);
        begin(&c);
        for (uint32_t i = 0; i < 100; i++) {
            connect_player(i);
        }
        run(SECOND_NS);
        assert_int_equal(ue_server_count(stage.server), 100);
        assert_int_equal(stage.joined, 100);
        for (uint32_t i = 0; i < 100; i++) {
            assert_true(has_joined(i));
        }
        for (uint32_t i = 0; i < 100; i += 2) {
            ue_conn_close(stage.players[i].conn, stage.now_ns, UE_CLOSE_DISCONNECT);
        }
        run(SECOND_NS);
        assert_int_equal(ue_server_count(stage.server), 50);
        assert_int_equal(stage.ended, 50);
        assert_int_equal(ue_server_counters(stage.server)->buried, 50);
        assert_true(is_within(ue_server_counters(stage.server)->ended.in_packets, 50 * 5, 50 * 100));
        for (uint32_t i = 0; i < 50; i++) {
            assert_int_equal(ue_server_peer(stage.server, i)->index, i);
        }
        assert_null(ue_server_peer(stage.server, 50));
        for (uint32_t i = 0; i < 100; i++) {
            assert_int_equal(has_joined(i), i % 2);
        }
        end();
    }
}

static void connections_never_share_random_numbers(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    begin(&c);
    connect_player(0);
    connect_player(1);
    run(SECOND_NS / 10);
    const struct ue_random *a = &ue_server_peer(stage.server, 0)->conn->random;
    const struct ue_random *b = &ue_server_peer(stage.server, 1)->conn->random;
    assert_memory_not_equal(a->seed, b->seed, UE_SEED_BYTES);
    assert_memory_not_equal(a->seed, c.conn.seed, UE_SEED_BYTES);
    assert_memory_not_equal(b->seed, c.conn.seed, UE_SEED_BYTES);
    end();
}

/* Seeds of the first connection of servers with different seeds. */
static void what_nobody_guesses_comes_from_the_seed(void **state) {
    (void)state;
    uint8_t seeds[2][UE_SEED_BYTES];
    for (uint8_t i = 0; i < 2; i++) {
        struct ue_server_config c = config("5.4");
        uint8_t seed[UE_SEED_BYTES] = {i};
        c.conn.seed = seed;
        begin(&c);
        connect_player(0);
        run(SECOND_NS / 10);
        memcpy(seeds[i], ue_server_peer(stage.server, 0)->conn->random.seed, UE_SEED_BYTES);
        end();
    }
    assert_memory_not_equal(seeds[0], seeds[1], UE_SEED_BYTES);
}

static void the_key_need_not_outlive_the_creation(void **state) {
    (void)state;
    uint8_t key[UE_KEY_BYTES] = {3};
    struct ue_server_config c = config("5.4");
    c.conn.settings.handlers[0] = UE_HANDLER_AESGCM;
    c.conn.key = key;
    begin(&c);
    uint8_t same_key[UE_KEY_BYTES] = {3};
    memset(key, 0, sizeof key);
    stage.config.conn.key = same_key;
    connect_player(0);
    stage.players[0].login.config.encryption_token = "t";
    run(SECOND_NS);
    assert_true(has_joined(0));
    assert_true(ue_server_peer(stage.server, 0)->conn->is_encrypting);
    end();
}

static void the_deadline_is_the_nearest_one(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    begin(&c);
    assert_true(ue_server_deadline(stage.server) == UINT64_MAX);
    connect_player(0);
    run(SECOND_NS);
    connect_player(1);
    run(SECOND_NS / 10);
    uint64_t first = ue_conn_deadline(ue_server_peer(stage.server, 0)->conn);
    uint64_t second = ue_conn_deadline(ue_server_peer(stage.server, 1)->conn);
    assert_true(ue_server_deadline(stage.server) == (first < second ? first : second));
    assert_true(ue_server_peer(stage.server, 0)->accepted_ns < ue_server_peer(stage.server, 1)->accepted_ns);
    end();
}

static void a_connection_without_memory_is_none(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    c.conn.memory_limit_bytes = 1000;
    begin(&c);
    stage.config.conn.memory_limit_bytes = 0;
    connect_player(0);
    run(2 * SECOND_NS);
    assert_int_equal(ue_server_count(stage.server), 0);
    assert_true(is_within(ue_server_counters(stage.server)->refused_full, 1, 2));
    end();
}

static void a_full_server_says_nothing_until_somebody_leaves(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    c.max_connections = 2;
    begin(&c);
    connect_player(0);
    connect_player(1);
    run(SECOND_NS);
    connect_player(2);
    run(3 * SECOND_NS);
    assert_int_equal(ue_server_count(stage.server), 2);
    assert_true(is_within(ue_server_counters(stage.server)->refused_full, 2, 3)); /* once a second */
    assert_int_equal(ue_conn_state(stage.players[2].conn), UE_CONN_HANDSHAKE);
    ue_conn_close(stage.players[0].conn, stage.now_ns, UE_CLOSE_DISCONNECT);
    run(3 * SECOND_NS);
    assert_true(has_joined(2));
    assert_false(has_joined(0));
    end();
}

static void a_peer_lives_until_its_last_event_was_taken(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    begin(&c);
    connect_player(0);
    run(SECOND_NS);
    struct ue_peer *peer = ue_server_peer(stage.server, 0);
    peer->user = &c;
    ue_conn_close(peer->conn, stage.now_ns, UE_CLOSE_HOST_CLOSED);
    for (int i = 0; i < 5; i++) {
        ue_server_tick(stage.server, stage.now_ns += TICK_NS);
        take_datagrams();
    }
    struct ue_peer *of_event = NULL;
    struct ue_event event = {0};
    assert_int_equal(ue_server_count(stage.server), 1);
    while (ue_server_next_event(stage.server, &of_event, &event)) {
    }
    assert_int_equal(event.state, UE_CONN_CLOSED);
    assert_ptr_equal(of_event->user, &c);
    ue_server_tick(stage.server, stage.now_ns);
    assert_int_equal(ue_server_count(stage.server), 0);
    end();
}

static void those_who_repeat_their_close_linger_for_a_second(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    c.conn.options.resend_close = true;
    begin(&c);
    connect_player(0);
    run(SECOND_NS);
    ue_conn_close(ue_server_peer(stage.server, 0)->conn, stage.now_ns, UE_CLOSE_HOST_CLOSED);
    run(SECOND_NS * 9 / 10);
    assert_int_equal(ue_server_count(stage.server), 1);
    run(SECOND_NS * 2 / 10);
    assert_int_equal(ue_server_count(stage.server), 0);
    end();
}

/* Two packets of the player. */
static void take_two(uint8_t bytes[2][1024], size_t *sizes) {
    struct ue_bytes datagram;
    for (size_t i = 0; i < 2; i++) {
        struct ue_outgoing bunch = {.reliable = true, .data = {(const uint8_t *)"\x11\0\0\0\0", 0, 40}}; /* DebugText */
        assert_int_equal(ue_conn_send(stage.players[0].conn, stage.now_ns, &bunch, NULL), UE_OK);
        ue_conn_flush(stage.players[0].conn, stage.now_ns);
        assert_true(ue_conn_next_datagram(stage.players[0].conn, &datagram));
        memcpy(bytes[i], datagram.bytes, datagram.size_bytes);
        sizes[i] = datagram.size_bytes;
    }
}

/* A late packet makes the server wait for early ones; the end of receiving ends the wait. */
static void early_packets_wait_until_receiving_ends(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    uint8_t bytes[2][1024];
    size_t sizes[2];
    begin(&c);
    connect_player(0);
    run(SECOND_NS);
    struct ue_conn *conn = ue_server_peer(stage.server, 0)->conn;
    take_two(bytes, sizes);
    receive(&stage.players[0].address, bytes[1], sizes[1]);
    receive(&stage.players[0].address, bytes[0], sizes[0]);
    take_two(bytes, sizes);
    receive(&stage.players[0].address, bytes[1], sizes[1]);
    assert_int_equal(conn->reorder.count, 1);
    ue_server_end_receive(stage.server, stage.now_ns);
    assert_int_equal(conn->reorder.count, 0);
    end();
}

/* ---- clients that move ---- */

static uint32_t send_reliable(struct ue_conn *conn, const char *text) {
    uint32_t channel = 1;
    if (ue_conn_channel(conn, channel) == NULL) {
        assert_int_equal(ue_conn_open(conn, UE_KIND_VOICE, channel, &channel), UE_OK);
    }
    struct ue_outgoing bunch = {.channel = channel, .reliable = true, .data = {(const uint8_t *)text, 0, 8}};
    assert_int_equal(ue_conn_send(conn, stage.now_ns, &bunch, NULL), UE_OK);
    return channel;
}

/* The same connection goes on, with the reliable bunch that was sent on the way. */
static void a_moved_client_is_found_by_its_cookie(void **state) {
    (void)state;
    static const char *const releases[] = {"4.22", "4.26", "5.1", "5.4", "5.8"};
    for (size_t r = 0; r < sizeof releases / sizeof *releases; r++) {
        struct ue_server_config c = config(releases[r]);
        begin(&c);
        connect_player(0);
        run(11 * SECOND_NS); /* sooner than 10 s after a handshake, clients refuse to restart */
        struct ue_peer *peer = ue_server_peer(stage.server, 0);
        int64_t id = peer->conn->in_packet_id;
        stage.players[0].address = host(500);
        send_reliable(stage.players[0].conn, "R");
        run(3 * SECOND_NS);
        assert_int_equal(ue_server_counters(stage.server)->rebound, 1);
        assert_int_equal(ue_server_counters(stage.server)->accepted, 1);
        assert_int_equal(ue_server_listener_counters(stage.server)->accepted, 2); /* the Ack came at once */
        assert_ptr_equal(ue_server_peer(stage.server, 0), peer);
        assert_int_equal(ue_server_count(stage.server), 1);
        assert_ptr_equal(ue_server_find(stage.server, &stage.players[0].address), peer);
        struct ue_host old = host(0);
        assert_null(ue_server_find(stage.server, &old));
        assert_true(peer->conn->in_packet_id > id);
        assert_int_equal(ue_conn_unacked(stage.players[0].conn, 1), 0);
        assert_true(peer->conn->counters.in_packets_lost > 0);
        end();
    }
}

static void who_moves_again_and_again_stays_one_connection(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    begin(&c);
    connect_player(0);
    for (uint32_t move = 1; move <= 5; move++) {
        run(12 * SECOND_NS);
        stage.players[0].address = host(1000 + move % 2);
    }
    run(3 * SECOND_NS);
    assert_int_equal(ue_server_counters(stage.server)->rebound, 5);
    assert_int_equal(ue_server_count(stage.server), 1);
    assert_true(has_joined(0));
    end();
}

static void a_restart_of_an_ended_connection_is_refused(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    begin(&c);
    connect_player(0);
    run(11 * SECOND_NS);
    ue_conn_close(ue_server_peer(stage.server, 0)->conn, stage.now_ns, UE_CLOSE_HOST_CLOSED);
    struct ue_host to;
    struct ue_bytes bytes;
    while (ue_server_next_datagram(stage.server, &to, &bytes)) { /* lost on the way */
    }
    stage.players[0].address = host(500);
    run(3 * SECOND_NS);
    assert_int_equal(ue_server_count(stage.server), 0);
    assert_true(is_within(ue_server_counters(stage.server)->refused_restart, 1, 3));
    assert_true(stage.players[0].conn->shake.restarting); /* no Ack came */
    end();
}

/* The network holds a copy of the Response back until its sender has moved. */
static void a_late_response_makes_no_second_connection(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    begin(&c);
    connect_player(0);
    uint8_t copy[UE_HANDSHAKE_DATAGRAM_BYTES];
    size_t copy_bytes = 0;
    struct ue_bytes bytes;
    for (int i = 0; i < 2; i++) { /* Initial, then Response */
        assert_true(ue_conn_next_datagram(stage.players[0].conn, &bytes));
        copy_bytes = bytes.size_bytes;
        memcpy(copy, bytes.bytes, copy_bytes);
        receive(&stage.players[0].address, copy, copy_bytes);
        take_datagrams();
    }
    assert_int_equal(ue_server_count(stage.server), 1);
    struct ue_host old = stage.players[0].address;
    run(11 * SECOND_NS);
    stage.players[0].address = host(500);
    run(3 * SECOND_NS);
    assert_int_equal(ue_server_counters(stage.server)->rebound, 1);
    receive(&old, copy, copy_bytes);
    assert_int_equal(ue_server_count(stage.server), 1);
    assert_int_equal(ue_server_listener_counters(stage.server)->accepted, 3); /* valid it was */
    end();
}

static void what_cannot_work_is_no_server(void **state) {
    (void)state;
    static uint8_t small[UE_POOL_BYTES_MIN + 4096], large[4 << 20];
    static char text[UE_LOGIN_TEXT_BYTES + 1];
    memset(text, 'x', UE_LOGIN_TEXT_BYTES);
    for (int i = 0; i < 6; i++) {
        struct ue_server_config c = config("5.4");
        struct ue_pool *pool = i == 0 ? ue_pool_init(small, sizeof small) : ue_pool_init(large, sizeof large);
        c.conn.profile = i == 1 ? NULL : c.conn.profile;
        c.login.map = i == 2 ? text : NULL;
        c.conn.settings.reliable_buffer = i == 4 ? 600 : 0; /* more than half of the channel sequences */
        c.ddos.severity_count = i == 3 ? UE_DDOS_STATES_MAX + 1 : 0;
        struct ue_server *server = ue_server_new(pool, &c, 0);
        assert_int_equal(server != NULL, i == 5);
        if (server != NULL) {
            ue_server_free(server);
        }
        assert_int_equal(ue_pool_used_bytes(pool), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_clients_join_and_leave),
        cmocka_unit_test(connections_never_share_random_numbers),
        cmocka_unit_test(what_nobody_guesses_comes_from_the_seed),
        cmocka_unit_test(the_key_need_not_outlive_the_creation),
        cmocka_unit_test(the_deadline_is_the_nearest_one),
        cmocka_unit_test(a_connection_without_memory_is_none),
        cmocka_unit_test(a_full_server_says_nothing_until_somebody_leaves),
        cmocka_unit_test(a_peer_lives_until_its_last_event_was_taken),
        cmocka_unit_test(those_who_repeat_their_close_linger_for_a_second),
        cmocka_unit_test(early_packets_wait_until_receiving_ends),
        cmocka_unit_test(a_moved_client_is_found_by_its_cookie),
        cmocka_unit_test(who_moves_again_and_again_stays_one_connection),
        cmocka_unit_test(a_restart_of_an_ended_connection_is_refused),
        cmocka_unit_test(a_late_response_makes_no_second_connection),
        cmocka_unit_test(what_cannot_work_is_no_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
