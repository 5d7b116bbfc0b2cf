/* SPDX-License-Identifier: MIT */
/* Clients that make a server allocate as much memory as possible, beside regular clients (embedding.md 7). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/endpoint/server/server_fixture.h"
#include "tests/support/hostile.h"
#include "tests/support/within.h"

#define REGULAR 20
#define HOSTILE 36
#define HOSTILE_FIRST 64 /* number of the first hostile client */
#define PACKETS_PER_TICK 60
#define CHANNELS_PER_TICK 200
#define SMALL_BYTES 600
#define LARGE_BYTES 60000 /* about 65 fragments */
#define STALL_NS (120 * SECOND_NS)

/* ---- regular clients ---- */

static struct {
    uint32_t channel; /* 0: not open */
    uint64_t sent, delivered, delivered_bytes, sent_bytes;
} regular[REGULAR];
static uint8_t data[LARGE_BYTES];

static void on_event(struct ue_peer *peer, const struct ue_event *event) {
    uint32_t number = 0;
    while (number < REGULAR && ue_server_find(server_fixture.server, &server_fixture.players[number].address) != peer) {
        number++;
    }
    if (number < REGULAR && event->type == UE_EVENT_BUNCH && event->channel == regular[number].channel) {
        regular[number].delivered++;
        regular[number].delivered_bytes += event->data.bits / 8;
    }
}

/* Opens a channel at the server; its first bunch opens the channel at the client. */
static void open_channel(uint32_t number) {
    struct ue_peer *peer = ue_server_find(server_fixture.server, &server_fixture.players[number].address);
    assert_non_null(peer);
    assert_int_equal(ue_conn_open(peer->conn, UE_KIND_ACTOR, -1, &regular[number].channel), UE_OK);
    const struct ue_outgoing greeting = {.channel = regular[number].channel, .reliable = true, .data = {data, 0, 80}};
    assert_int_equal(ue_conn_send(peer->conn, server_fixture.now_ns, &greeting, NULL), UE_OK);
}

static void send_message(uint32_t number, size_t size_bytes) {
    struct ue_conn *c = server_fixture.players[number].conn;
    if (ue_conn_room_bits(c, regular[number].channel) < 8 * size_bytes) {
        return; /* no space in the reliable buffer */
    }
    const struct ue_outgoing bunch = {
        .channel = regular[number].channel, .reliable = true, .data = {data, 0, 8 * size_bytes}};
    assert_int_equal(ue_conn_send(c, server_fixture.now_ns, &bunch, NULL), UE_OK);
    regular[number].sent++;
    regular[number].sent_bytes += size_bytes;
}

static void join_regular(uint32_t count) {
    memset(regular, 0, sizeof regular);
    server_fixture.on_event = on_event;
    for (uint32_t i = 0; i < count; i++) {
        player_connect(i);
    }
    server_run(2 * SECOND_NS);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(player_has_joined(i));
        open_channel(i);
    }
    server_run(SECOND_NS);
}

static void send_messages(uint32_t count, uint64_t tick) {
    for (uint32_t i = 0; i < count; i++) {
        if ((tick + i) % 90 == 0) {
            send_message(i, LARGE_BYTES);
        } else if ((tick + i) % 3 == 0) {
            send_message(i, SMALL_BYTES);
        }
    }
}

static void assert_all_delivered(uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        assert_true(player_has_joined(i));
        assert_int_not_equal(regular[i].sent, 0);
        assert_int_equal(regular[i].delivered, regular[i].sent);
        assert_int_equal(regular[i].delivered_bytes, regular[i].sent_bytes);
    }
}

/* ---- hostile clients ---- */

static void attack(uint32_t player, enum hostile_traffic traffic, uint32_t tick) {
    struct ue_conn *c = server_fixture.players[player].conn;
    uint32_t per_tick = traffic == HOSTILE_CHANNELS ? CHANNELS_PER_TICK : PACKETS_PER_TICK;
    for (uint32_t i = 0; i < per_tick && ue_conn_state(c) == UE_CONN_PENDING; i++) {
        hostile_send(c, server_fixture.now_ns, traffic, tick * per_tick + i, true);
    }
    ue_conn_flush(c, server_fixture.now_ns);
}

static void connect_hostile(uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        player_connect(HOSTILE_FIRST + i);
    }
    server_run(2 * SECOND_NS);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(player_has_joined(HOSTILE_FIRST + i));
    }
}

static size_t memory_of(uint32_t player) {
    size_t peak_bytes;
    struct ue_peer *peer = ue_server_find(server_fixture.server, &server_fixture.players[player].address);
    return peer != NULL ? ue_conn_memory_bytes(peer->conn, &peak_bytes) : 0;
}

static size_t memory_of_hostile(void) {
    size_t sum_bytes = 0;
    for (uint32_t i = 0; i < HOSTILE; i++) {
        sum_bytes += memory_of(HOSTILE_FIRST + i);
    }
    return sum_bytes;
}

static void assert_regular_clients_served_beside(enum hostile_traffic traffic, uint32_t loss_percent) {
    struct ue_server_config c = server_config("5.1");
    c.max_connections = 64;
    server_fixture_init(&c);
    join_regular(REGULAR);
    connect_hostile(HOSTILE);
    server_fixture.loss_percent = loss_percent;
    for (uint32_t tick = 0; tick < 120; tick++) {
        send_messages(REGULAR, tick);
        for (uint32_t i = 0; i < HOSTILE; i++) {
            attack(HOSTILE_FIRST + i, traffic, tick);
        }
        server_run(TICK_NS);
    }
    assert_true(is_within(memory_of_hostile(), 4u << 20, 64u << 20)); /* the traffic does fill memory */
    server_run(10 * SECOND_NS);
    assert_all_delivered(REGULAR);
    player_connect(REGULAR); /* new clients can join */
    server_run(10 * SECOND_NS);
    assert_true(player_has_joined(REGULAR));
    server_fixture_free();
}

static void regular_clients_are_served_beside_unfinished_partial_bunches(void **state) {
    assert_regular_clients_served_beside(HOSTILE_PARTS, 0);
}

static void regular_clients_are_served_beside_unfinished_partial_bunches_and_loss(void **state) {
    assert_regular_clients_served_beside(HOSTILE_PARTS, 20);
}

static void regular_clients_are_served_beside_bunches_that_wait(void **state) {
    assert_regular_clients_served_beside(HOSTILE_EARLY, 0);
}

static void regular_clients_are_served_beside_bunches_that_wait_and_loss(void **state) {
    assert_regular_clients_served_beside(HOSTILE_EARLY, 20);
}

static void regular_clients_are_served_beside_a_flood_of_channels(void **state) {
    assert_regular_clients_served_beside(HOSTILE_CHANNELS, 20);
}

/* ---- limits per machine ---- */

static struct ue_host machine_address(uint32_t port) {
    struct ue_host address = {.machine_bytes = 8};
    address.size_bytes = (uint8_t)snprintf(address.text, sizeof address.text, "10.9.8.7:%u", port);
    return address;
}

/* The clients of one machine may use a quarter of the unreserved memory; a client of another machine gets more than its
   own reserve. */
static void one_machine_cannot_use_all_memory(void **state) {
    struct ue_server_config c = server_config("5.1");
    c.max_connections = 64;
    server_fixture_init(&c);
    for (uint32_t i = 0; i < HOSTILE; i++) {
        player_connect(HOSTILE_FIRST + i);
        server_fixture.players[HOSTILE_FIRST + i].address = machine_address(1000 + i);
    }
    server_run(2 * SECOND_NS);
    for (uint32_t tick = 0; tick < 120; tick++) {
        for (uint32_t i = 0; i < HOSTILE; i++) {
            attack(HOSTILE_FIRST + i, HOSTILE_EARLY, tick);
        }
        server_run(TICK_NS);
    }
    size_t reserve_bytes = memory_of_hostile() / HOSTILE;
    player_connect(0);
    server_run(2 * SECOND_NS);
    for (uint32_t tick = 0; tick < 120; tick++) {
        attack(0, HOSTILE_EARLY, tick);
        server_run(TICK_NS);
    }
    assert_true(memory_of(0) > 2 * reserve_bytes);
    server_fixture_free();
}

static void connections_per_machine_are_limited(void **state) {
    struct ue_server_config c = server_config("5.5");
    c.max_per_machine = 3;
    server_fixture_init(&c);
    for (uint32_t i = 0; i < 5; i++) {
        player_connect(i);
        server_fixture.players[i].address = machine_address(1000 + i);
    }
    player_connect(5);
    server_run(3 * SECOND_NS);
    assert_int_equal(ue_server_count(server_fixture.server), 4);
    assert_true(player_has_joined(5));
    for (uint32_t i = 0; i < 5; i++) { /* the others received no Ack */
        bool has_ack = ue_conn_state(server_fixture.players[i].conn) != UE_CONN_HANDSHAKE;
        assert_int_equal(has_ack, player_has_joined(i));
    }
    assert_true(ue_server_counters(server_fixture.server)->refused_machine >= 2);
    assert_int_equal(ue_server_counters(server_fixture.server)->refused_full, 0);
    for (uint32_t i = 0; i < 5; i++) {
        if (player_has_joined(i)) { /* makes space for another client */
            ue_conn_close(server_fixture.players[i].conn, server_fixture.now_ns, UE_CLOSE_DISCONNECT);
            break;
        }
    }
    server_run(3 * SECOND_NS);
    assert_int_equal(ue_server_count(server_fixture.server), 4);
    server_fixture_free();
}

/* ---- stall timeout ---- */

/* Clients with unfinished bunches are closed after two minutes, regular clients are not. */
static void clients_without_progress_are_closed(void **state) {
    struct ue_server_config c = server_config("5.5");
    c.conn.stall_timeout_ns = STALL_NS;
    server_fixture_init(&c);
    join_regular(2);
    connect_hostile(2);
    for (uint32_t tick = 0; tick < 4; tick++) {
        attack(HOSTILE_FIRST, HOSTILE_PARTS, tick);
        attack(HOSTILE_FIRST + 1, HOSTILE_EARLY, tick);
        server_run(TICK_NS);
    }
    for (uint32_t tick = 0; tick < 115 * 30; tick++) {
        send_messages(2, tick);
        server_run(TICK_NS);
    }
    assert_int_equal(ue_server_count(server_fixture.server), 4);
    server_run(10 * SECOND_NS);
    assert_int_equal(ue_server_count(server_fixture.server), 2);
    assert_all_delivered(2);
    server_fixture_free();
}

static void unreliable_parts_without_progress_are_dropped(void **state) {
    struct ue_server_config c = server_config("5.5");
    c.conn.stall_timeout_ns = STALL_NS;
    server_fixture_init(&c);
    connect_hostile(1);
    struct ue_conn *client = server_fixture.players[HOSTILE_FIRST].conn;
    for (uint32_t channel = 0; channel < 20; channel++) {
        hostile_send(client, server_fixture.now_ns, HOSTILE_PARTS, channel * hostile_per_channel(HOSTILE_PARTS), false);
    }
    server_run(SECOND_NS);
    size_t used_bytes = memory_of(HOSTILE_FIRST);
    server_run(125 * SECOND_NS);
    assert_true(player_has_joined(HOSTILE_FIRST));
    assert_true(memory_of(HOSTILE_FIRST) + 20 * 2048 <= used_bytes);
    server_fixture_free();
}

/* Large bunches with 20 % loss, and 50 s without any delivery in the middle of one. */
static void a_slow_client_stays_connected(void **state) {
    struct ue_server_config c = server_config("5.5");
    c.conn.stall_timeout_ns = STALL_NS;
    c.conn.options.burst_limit = 1;
    server_fixture_init(&c);
    join_regular(1);
    server_fixture.loss_percent = 20;
    for (uint32_t tick = 0; tick < 60 * 30; tick++) {
        if (tick == 601) {
            server_fixture.loss_percent = 100;
            server_run(50 * SECOND_NS);
            server_fixture.loss_percent = 20;
        }
        if (tick % 300 == 0) {
            send_message(0, LARGE_BYTES);
        }
        server_run(TICK_NS);
    }
    server_run(30 * SECOND_NS);
    assert_all_delivered(1);
    assert_true(regular[0].sent >= 5);
    server_fixture_free();
}

static void regular_clients_are_served_with_loss(void **state) {
    struct ue_server_config c = server_config("5.1");
    server_fixture_init(&c);
    join_regular(REGULAR);
    server_fixture.loss_percent = 20;
    for (uint32_t tick = 0; tick < 120; tick++) {
        send_messages(REGULAR, tick);
        server_run(TICK_NS);
    }
    server_run(10 * SECOND_NS);
    assert_all_delivered(REGULAR);
    server_fixture_free();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regular_clients_are_served_beside_unfinished_partial_bunches),
        cmocka_unit_test(regular_clients_are_served_beside_unfinished_partial_bunches_and_loss),
        cmocka_unit_test(regular_clients_are_served_beside_bunches_that_wait),
        cmocka_unit_test(regular_clients_are_served_beside_bunches_that_wait_and_loss),
        cmocka_unit_test(regular_clients_are_served_beside_a_flood_of_channels),
        cmocka_unit_test(regular_clients_are_served_with_loss),
        cmocka_unit_test(one_machine_cannot_use_all_memory),
        cmocka_unit_test(connections_per_machine_are_limited),
        cmocka_unit_test(clients_without_progress_are_closed),
        cmocka_unit_test(unreliable_parts_without_progress_are_dropped),
        cmocka_unit_test(a_slow_client_stays_connected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
