/* SPDX-License-Identifier: MIT */
/* A server and its clients, some of which change their address (endpoint.md 7, 5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/endpoint/server/server_fixture.h"
#include "tests/support/within.h"

/* ---- clients ---- */

static void many_clients_join_and_leave(void **state) {
    static const char *const releases[] = {"4.22", "4.26", "5.1", "5.4", "5.8"};
    for (size_t r = 0; r < sizeof releases / sizeof *releases; r++) {
        struct ue_server_config c = server_config(releases[r]);
        server_fixture_init(&c);
        for (uint32_t i = 0; i < 100; i++) {
            player_connect(i);
        }
        server_run(SECOND_NS);
        assert_int_equal(ue_server_count(server_fixture.server), 100);
        assert_int_equal(server_fixture.joined, 100);
        for (uint32_t i = 0; i < 100; i++) {
            assert_true(player_has_joined(i));
        }
        for (uint32_t i = 0; i < 100; i += 2) {
            ue_conn_close(server_fixture.players[i].conn, server_fixture.now_ns, UE_CLOSE_DISCONNECT);
        }
        server_run(SECOND_NS);
        assert_int_equal(ue_server_count(server_fixture.server), 50);
        assert_int_equal(server_fixture.ended, 50);
        assert_int_equal(ue_server_counters(server_fixture.server)->closed, 50);
        assert_true(is_within(ue_server_counters(server_fixture.server)->ended.in_packets, 50 * 5, 50 * 100));
        for (uint32_t i = 0; i < 50; i++) {
            assert_int_equal(ue_server_peer(server_fixture.server, i)->index, i);
        }
        assert_null(ue_server_peer(server_fixture.server, 50));
        for (uint32_t i = 0; i < 100; i++) {
            assert_int_equal(player_has_joined(i), i % 2);
        }
        server_fixture_free();
    }
}

static void connections_have_different_random_seeds(void **state) {
    struct ue_server_config c = server_config("5.4");
    server_fixture_init(&c);
    player_connect(0);
    player_connect(1);
    server_run(SECOND_NS / 10);
    const struct ue_random *a = &ue_server_peer(server_fixture.server, 0)->conn->common.random;
    const struct ue_random *b = &ue_server_peer(server_fixture.server, 1)->conn->common.random;
    assert_memory_not_equal(a->seed, b->seed, UE_SEED_BYTES);
    assert_memory_not_equal(a->seed, c.conn.seed, UE_SEED_BYTES);
    assert_memory_not_equal(b->seed, c.conn.seed, UE_SEED_BYTES);
    server_fixture_free();
}

/* Compares the seeds of the first connection of two servers with different seeds. */
static void connection_seeds_follow_from_the_server_seed(void **state) {
    uint8_t seeds[2][UE_SEED_BYTES];
    for (uint8_t i = 0; i < 2; i++) {
        struct ue_server_config c = server_config("5.4");
        uint8_t seed[UE_SEED_BYTES] = {i};
        c.conn.seed = seed;
        server_fixture_init(&c);
        player_connect(0);
        server_run(SECOND_NS / 10);
        memcpy(seeds[i], ue_server_peer(server_fixture.server, 0)->conn->common.random.seed, UE_SEED_BYTES);
        server_fixture_free();
    }
    assert_memory_not_equal(seeds[0], seeds[1], UE_SEED_BYTES);
}

static void the_server_copies_its_key(void **state) {
    uint8_t key[UE_KEY_BYTES] = {3};
    struct ue_server_config c = server_config("5.4");
    c.conn.settings.handlers[0] = UE_HANDLER_AESGCM;
    c.conn.key = key;
    server_fixture_init(&c);
    uint8_t same_key[UE_KEY_BYTES] = {3};
    memset(key, 0, sizeof key);
    server_fixture.config.conn.key = same_key;
    player_connect(0);
    server_fixture.players[0].login.config.encryption_token = "t";
    server_run(SECOND_NS);
    assert_true(player_has_joined(0));
    assert_true(ue_server_peer(server_fixture.server, 0)->conn->sender.is_encrypting);
    server_fixture_free();
}

static void the_deadline_is_the_earliest_of_the_connections(void **state) {
    struct ue_server_config c = server_config("5.4");
    server_fixture_init(&c);
    assert_true(ue_server_deadline(server_fixture.server) == UINT64_MAX);
    player_connect(0);
    server_run(SECOND_NS);
    player_connect(1);
    server_run(SECOND_NS / 10);
    uint64_t first = ue_conn_deadline(ue_server_peer(server_fixture.server, 0)->conn);
    uint64_t second = ue_conn_deadline(ue_server_peer(server_fixture.server, 1)->conn);
    assert_true(ue_server_deadline(server_fixture.server) == (first < second ? first : second));
    assert_true(ue_server_peer(server_fixture.server, 0)->accepted_ns <
                ue_server_peer(server_fixture.server, 1)->accepted_ns);
    server_fixture_free();
}

static void a_connection_without_memory_is_refused(void **state) {
    struct ue_server_config c = server_config("5.4");
    c.conn.memory_limit_bytes = 1000;
    server_fixture_init(&c);
    server_fixture.config.conn.memory_limit_bytes = 0;
    player_connect(0);
    server_run(2 * SECOND_NS);
    assert_int_equal(ue_server_count(server_fixture.server), 0);
    assert_true(is_within(ue_server_counters(server_fixture.server)->refused_full, 1, 2));
    assert_int_equal(ue_conn_state(server_fixture.players[0].conn), UE_CONN_HANDSHAKE); /* it received no Ack */
    server_fixture_free();
}

/* An Upgrade, which says which versions the server accepts, answers a client whose version is refused. */
static void a_client_of_another_version_learns_it(void **state) {
    struct ue_server_config c = server_config("5.4");
    server_fixture_init(&c);
    server_fixture.config.conn.min_handshake_version = 1;
    player_connect(0);
    server_run(SECOND_NS);
    assert_int_equal(ue_server_count(server_fixture.server), 0);
    assert_int_equal(ue_server_listener_counters(server_fixture.server)->upgrades, 1);
    assert_int_equal(ue_conn_state(server_fixture.players[0].conn), UE_CONN_CLOSED);
    server_fixture_free();
}

static void a_full_server_accepts_nobody_until_a_client_leaves(void **state) {
    struct ue_server_config c = server_config("5.4");
    c.max_connections = 2;
    server_fixture_init(&c);
    player_connect(0);
    player_connect(1);
    server_run(SECOND_NS);
    player_connect(2);
    server_run(3 * SECOND_NS);
    assert_int_equal(ue_server_count(server_fixture.server), 2);
    assert_true(is_within(ue_server_counters(server_fixture.server)->refused_full, 2, 3)); /* one attempt per second */
    assert_int_equal(ue_server_counters(server_fixture.server)->late_responses, 0);
    assert_int_equal(ue_conn_state(server_fixture.players[2].conn), UE_CONN_HANDSHAKE);
    ue_conn_close(server_fixture.players[0].conn, server_fixture.now_ns, UE_CLOSE_DISCONNECT);
    server_run(3 * SECOND_NS);
    assert_true(player_has_joined(2));
    assert_false(player_has_joined(0));
    server_fixture_free();
}

static void a_peer_is_freed_after_its_last_event_is_read(void **state) {
    struct ue_server_config c = server_config("5.4");
    server_fixture_init(&c);
    player_connect(0);
    server_run(SECOND_NS);
    struct ue_peer *peer = ue_server_peer(server_fixture.server, 0);
    peer->user = &c;
    ue_conn_close(peer->conn, server_fixture.now_ns, UE_CLOSE_HOST_CLOSED);
    for (int i = 0; i < 5; i++) {
        ue_server_tick(server_fixture.server, server_fixture.now_ns += TICK_NS);
        server_deliver_datagrams();
    }
    struct ue_peer *of_event = NULL;
    struct ue_event event = {0};
    assert_int_equal(ue_server_count(server_fixture.server), 1);
    while (ue_server_next_event(server_fixture.server, &of_event, &event)) {
    }
    assert_int_equal(event.state, UE_CONN_CLOSED);
    assert_ptr_equal(of_event->user, &c);
    ue_server_tick(server_fixture.server, server_fixture.now_ns);
    assert_int_equal(ue_server_count(server_fixture.server), 0);
    server_fixture_free();
}

static void a_peer_that_resends_its_close_is_freed_after_a_second(void **state) {
    struct ue_server_config c = server_config("5.4");
    c.conn.options.resend_close = true;
    server_fixture_init(&c);
    player_connect(0);
    server_run(SECOND_NS);
    ue_conn_close(ue_server_peer(server_fixture.server, 0)->conn, server_fixture.now_ns, UE_CLOSE_HOST_CLOSED);
    server_run(SECOND_NS * 9 / 10);
    assert_int_equal(ue_server_count(server_fixture.server), 1);
    server_run(SECOND_NS * 2 / 10);
    assert_int_equal(ue_server_count(server_fixture.server), 0);
    server_fixture_free();
}

/* Pops two packets of the client. */
static void pop_two_packets(uint8_t bytes[2][1024], size_t *sizes) {
    struct ue_bytes datagram;
    for (size_t i = 0; i < 2; i++) {
        struct ue_outgoing bunch = {.reliable = true, .data = {(const uint8_t *)"\x11\0\0\0\0", 0, 40}}; /* DebugText */
        assert_int_equal(ue_conn_send(server_fixture.players[0].conn, server_fixture.now_ns, &bunch, NULL), UE_OK);
        ue_conn_flush(server_fixture.players[0].conn, server_fixture.now_ns);
        assert_true(ue_conn_next_datagram(server_fixture.players[0].conn, &datagram));
        memcpy(bytes[i], datagram.bytes, datagram.size_bytes);
        sizes[i] = datagram.size_bytes;
    }
}

/* After a late packet the server keeps early packets; ue_server_end_receive ends the wait. */
static void early_packets_wait_until_the_end_of_receive(void **state) {
    struct ue_server_config c = server_config("5.4");
    uint8_t bytes[2][1024];
    size_t sizes[2];
    server_fixture_init(&c);
    player_connect(0);
    server_run(SECOND_NS);
    struct ue_conn *conn = ue_server_peer(server_fixture.server, 0)->conn;
    pop_two_packets(bytes, sizes);
    server_receive(&server_fixture.players[0].address, bytes[1], sizes[1]);
    server_receive(&server_fixture.players[0].address, bytes[0], sizes[0]);
    pop_two_packets(bytes, sizes);
    server_receive(&server_fixture.players[0].address, bytes[1], sizes[1]);
    assert_int_equal(conn->receiver.order_cache.count, 1);
    ue_server_end_receive(server_fixture.server, server_fixture.now_ns);
    assert_int_equal(conn->receiver.order_cache.count, 0);
    server_fixture_free();
}

/* ---- clients that change their address ---- */

static uint32_t send_reliable(struct ue_conn *conn, const char *text) {
    uint32_t channel = 1;
    if (ue_channel_find(&conn->channels, channel) == NULL) {
        assert_int_equal(ue_conn_open(conn, UE_KIND_VOICE, channel, &channel), UE_OK);
    }
    struct ue_outgoing bunch = {.channel = channel, .reliable = true, .data = {(const uint8_t *)text, 0, 8}};
    assert_int_equal(ue_conn_send(conn, server_fixture.now_ns, &bunch, NULL), UE_OK);
    return channel;
}

/* The connection continues, and the reliable bunch that was in flight arrives. */
static void a_client_with_a_new_address_keeps_its_connection(void **state) {
    static const char *const releases[] = {"4.22", "4.26", "5.1", "5.4", "5.8"};
    for (size_t r = 0; r < sizeof releases / sizeof *releases; r++) {
        struct ue_server_config c = server_config(releases[r]);
        server_fixture_init(&c);
        player_connect(0);
        server_run(11 * SECOND_NS); /* within 10 s of a handshake clients ignore restart requests */
        struct ue_peer *peer = ue_server_peer(server_fixture.server, 0);
        int64_t id = peer->conn->receiver.in_packet_id;
        server_fixture.players[0].address = server_host(500);
        send_reliable(server_fixture.players[0].conn, "R");
        server_run(3 * SECOND_NS);
        assert_int_equal(ue_server_counters(server_fixture.server)->rebound, 1);
        assert_int_equal(ue_server_counters(server_fixture.server)->accepted, 1);
        assert_int_equal(ue_server_listener_counters(server_fixture.server)->accepted,
                         2); /* the client received the Ack and did not resend */
        assert_ptr_equal(ue_server_peer(server_fixture.server, 0), peer);
        assert_int_equal(ue_server_count(server_fixture.server), 1);
        assert_ptr_equal(ue_server_find(server_fixture.server, &server_fixture.players[0].address), peer);
        struct ue_host old = server_host(0);
        assert_null(ue_server_find(server_fixture.server, &old));
        assert_true(peer->conn->receiver.in_packet_id > id);
        assert_int_equal(ue_conn_unacked(server_fixture.players[0].conn, 1), 0);
        assert_true(peer->conn->common.statistics.counters.in_packets_lost > 0);
        server_fixture_free();
    }
}

static void repeated_address_changes_keep_one_connection(void **state) {
    struct ue_server_config c = server_config("5.4");
    server_fixture_init(&c);
    player_connect(0);
    for (uint32_t move = 1; move <= 5; move++) {
        server_run(12 * SECOND_NS);
        server_fixture.players[0].address = server_host(1000 + move % 2);
    }
    server_run(3 * SECOND_NS);
    assert_int_equal(ue_server_counters(server_fixture.server)->rebound, 5);
    assert_int_equal(ue_server_count(server_fixture.server), 1);
    assert_true(player_has_joined(0));
    server_fixture_free();
}

static void a_restart_of_an_ended_connection_is_refused(void **state) {
    struct ue_server_config c = server_config("5.4");
    server_fixture_init(&c);
    player_connect(0);
    server_run(11 * SECOND_NS);
    ue_conn_close(ue_server_peer(server_fixture.server, 0)->conn, server_fixture.now_ns, UE_CLOSE_HOST_CLOSED);
    struct ue_host to;
    struct ue_bytes bytes;
    while (ue_server_next_datagram(server_fixture.server, &to, &bytes)) { /* drops the datagrams */
    }
    server_fixture.players[0].address = server_host(500);
    server_run(3 * SECOND_NS);
    assert_int_equal(ue_server_count(server_fixture.server), 0);
    assert_true(is_within(ue_server_counters(server_fixture.server)->refused_restart, 1, 3));
    assert_true(server_fixture.players[0].conn->handshake.client.restarting); /* the client received no Ack */
    server_fixture_free();
}

/* The network delays a copy of the Response until the client has changed its address. */
static void a_late_response_opens_no_second_connection(void **state) {
    struct ue_server_config c = server_config("5.4");
    server_fixture_init(&c);
    player_connect(0);
    uint8_t copy[UE_HANDSHAKE_DATAGRAM_BYTES];
    size_t copy_bytes = 0;
    struct ue_bytes bytes;
    for (int i = 0; i < 2; i++) { /* the Initial, then the Response */
        assert_true(ue_conn_next_datagram(server_fixture.players[0].conn, &bytes));
        copy_bytes = bytes.size_bytes;
        memcpy(copy, bytes.bytes, copy_bytes);
        server_receive(&server_fixture.players[0].address, copy, copy_bytes);
        server_deliver_datagrams();
    }
    assert_int_equal(ue_server_count(server_fixture.server), 1);
    struct ue_host old = server_fixture.players[0].address;
    server_run(11 * SECOND_NS);
    server_fixture.players[0].address = server_host(500);
    server_run(3 * SECOND_NS);
    assert_int_equal(ue_server_counters(server_fixture.server)->rebound, 1);
    server_receive(&old, copy, copy_bytes);
    assert_int_equal(ue_server_refusal(server_fixture.server).reason, UE_REFUSAL_LATE_RESPONSE);
    assert_int_equal(ue_server_counters(server_fixture.server)->late_responses, 1);
    assert_int_equal(ue_server_counters(server_fixture.server)->refused_machine, 0);
    assert_int_equal(ue_server_counters(server_fixture.server)->refused_full, 0);
    server_deliver_datagrams();
    assert_int_equal(server_fixture.restart_requests, 0); /* nothing was sent to the old address */
    assert_int_equal(ue_server_count(server_fixture.server), 1);
    assert_int_equal(ue_server_listener_counters(server_fixture.server)->accepted, 3); /* the cookie was still valid */
    server_fixture_free();
}

/* Delivers the next datagram of a client to the server, without the server's reply. */
static void pass_on(uint32_t number) {
    struct ue_bytes bytes;
    assert_true(ue_conn_next_datagram(server_fixture.players[number].conn, &bytes));
    server_receive(&server_fixture.players[number].address, bytes.bytes, bytes.size_bytes);
}

/* The queue of replies is full: the connection begins without an Ack, which the repeated Response gets. */
static void an_ack_without_space_in_the_queue_is_sent_later(void **state) {
    for (uint32_t max_replies = 1; max_replies <= 2; max_replies++) {
        struct ue_server_config c = server_config("5.4");
        c.max_replies = max_replies;
        server_fixture_init(&c);
        player_connect(0);
        player_connect(1);
        pass_on(0);
        server_deliver_datagrams();
        pass_on(1); /* its Challenge waits */
        pass_on(0); /* a Response */
        assert_int_equal(ue_server_count(server_fixture.server), 1);
        assert_int_equal(ue_server_counters(server_fixture.server)->replies_lost, 2 - max_replies);
        server_deliver_datagrams();
        assert_int_equal(ue_conn_state(server_fixture.players[0].conn),
                         max_replies == 1 ? UE_CONN_HANDSHAKE : UE_CONN_PENDING);
        server_run(2 * SECOND_NS);
        assert_true(player_has_joined(0));
        assert_int_equal(ue_server_counters(server_fixture.server)->accepted, 2);
        server_fixture_free();
    }
}

static void unusable_configurations_are_refused(void **state) {
    struct counting_allocator memory;
    static char text[UE_LOGIN_TEXT_BYTES + 1];
    memset(text, 'x', UE_LOGIN_TEXT_BYTES);
    for (int i = 0; i < 6; i++) {
        struct ue_server_config c = server_config("5.4");
        counting_allocator_init(&memory, i == 0 ? 8192 : SIZE_MAX);
        c.conn.profile = i == 1 ? NULL : c.conn.profile;
        c.login.map = i == 2 ? text : NULL;
        c.conn.settings.reliable_buffer = i == 4 ? 600 : 0; /* more than half the channel sequences */
        c.ddos.severity_count = i == 3 ? UE_DDOS_STATES_MAX + 1 : 0;
        struct ue_server *server = ue_server_new(&memory.allocator, &c, 0);
        assert_int_equal(server != NULL, i == 5);
        if (server != NULL) {
            ue_server_free(server);
        }
        assert_int_equal(memory.used_bytes, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_clients_join_and_leave),
        cmocka_unit_test(connections_have_different_random_seeds),
        cmocka_unit_test(connection_seeds_follow_from_the_server_seed),
        cmocka_unit_test(the_server_copies_its_key),
        cmocka_unit_test(the_deadline_is_the_earliest_of_the_connections),
        cmocka_unit_test(a_connection_without_memory_is_refused),
        cmocka_unit_test(a_client_of_another_version_learns_it),
        cmocka_unit_test(a_full_server_accepts_nobody_until_a_client_leaves),
        cmocka_unit_test(a_peer_is_freed_after_its_last_event_is_read),
        cmocka_unit_test(a_peer_that_resends_its_close_is_freed_after_a_second),
        cmocka_unit_test(early_packets_wait_until_the_end_of_receive),
        cmocka_unit_test(a_client_with_a_new_address_keeps_its_connection),
        cmocka_unit_test(repeated_address_changes_keep_one_connection),
        cmocka_unit_test(a_restart_of_an_ended_connection_is_refused),
        cmocka_unit_test(a_late_response_opens_no_second_connection),
        cmocka_unit_test(an_ack_without_space_in_the_queue_is_sent_later),
        cmocka_unit_test(unusable_configurations_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
