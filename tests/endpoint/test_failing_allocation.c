/* SPDX-License-Identifier: MIT */
/* Each allocation fails in turn, once: of a server and of a client that joins it, sends, receives and leaves. Nothing
   crashes or leaks, what cannot be created is NULL, and a connection that exists works or says why it closed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <uerudp/server.h>
#include "tests/support/counting_allocator.h"

#define TICK_NS UINT64_C(33333333)
#define TICKS 90
#define EARLY_EACH 5   /* every fifth datagram of the server arrives after the next one */
#define BIG_BYTES 4000 /* several fragments */

static const struct ue_host client_address = {.size_bytes = 14, .text = "127.0.0.1:9999"};

static struct {
    struct counting_allocator memory;
    struct ue_server *server;
    struct ue_conn *client;
    struct ue_login *login;
    uint64_t now_ns;
    uint32_t datagrams;
    uint8_t held[2048]; /* a datagram that arrives late */
    size_t held_bytes;
    bool has_joined;
    bool has_closed;
    uint32_t bunches; /* received by the client on its player's channel */
} world;

static struct ue_conn_config base_config(const char *release) {
    static const uint8_t seed[UE_SEED_BYTES] = {1};
    return (struct ue_conn_config){.profile = ue_profile_find(release), .seed = seed};
}

/* False: no memory. */
static bool create(const char *release) {
    const struct ue_server_config server = {
        .conn = base_config(release), .login = {.map = "/Map"}, .max_connections = 4, .max_recent = 4};
    const struct ue_conn_config client = base_config(release);
    const struct ue_login_config login = {.player = "Ada"};
    world.server = ue_server_new(&world.memory.allocator, &server, world.now_ns);
    world.client = ue_conn_new(&world.memory.allocator, &client);
    if (world.server == NULL || world.client == NULL) {
        return false;
    }
    world.login = ue_login_new(world.client, &login);
    if (world.login == NULL) {
        return false;
    }
    ue_conn_connect(world.client, world.now_ns);
    return true;
}

static void receive_at_client(const struct ue_bytes *datagram) {
    assert_true(datagram->size_bytes <= sizeof world.held);
    if (++world.datagrams % EARLY_EACH == 0 && world.held_bytes == 0) {
        memcpy(world.held, datagram->bytes, datagram->size_bytes);
        world.held_bytes = datagram->size_bytes;
        return;
    }
    ue_conn_receive(world.client, world.now_ns, datagram->bytes, datagram->size_bytes);
    if (world.held_bytes != 0) {
        ue_conn_receive(world.client, world.now_ns, world.held, world.held_bytes);
        world.held_bytes = 0;
    }
}

static void send_of_size(struct ue_conn *conn, uint32_t channel, bool reliable, size_t size_bytes) {
    static const uint8_t bytes[BIG_BYTES];
    const struct ue_outgoing bunch = {
        .channel = channel, .reliable = reliable, .merge = true, .data = {bytes, 0, size_bytes * 8}};
    ue_conn_send(conn, world.now_ns, &bunch, NULL);
}

/* The server opens the player's channel, on which it sends whole and split bunches. */
static void play(const struct ue_peer *peer, unsigned tick) {
    uint32_t opened;
    if (ue_login_status(peer->login)->state == UE_LOGIN_DONE && tick % 3 == 0) {
        ue_conn_open(peer->conn, UE_KIND_ACTOR, 2, &opened);
        send_of_size(peer->conn, 2, true, tick % 2 == 0 ? BIG_BYTES : 20);
        send_of_size(peer->conn, 2, true, 30);
        send_of_size(peer->conn, 2, false, 40);
    }
}

static void read_server(unsigned tick) {
    struct ue_host to;
    struct ue_bytes datagram;
    struct ue_peer *peer;
    struct ue_event event;
    for (uint32_t i = 0; i < ue_server_count(world.server); i++) {
        play(ue_server_peer(world.server, i), tick);
    }
    ue_server_tick(world.server, world.now_ns);
    while (ue_server_next_event(world.server, &peer, &event)) {
    }
    while (ue_server_next_datagram(world.server, &to, &datagram)) {
        receive_at_client(&datagram);
    }
}

static void read_client(void) {
    struct ue_bytes datagram;
    struct ue_event event;
    while (ue_conn_next_event(world.client, &event)) {
        world.bunches += event.type == UE_EVENT_BUNCH && event.channel == 2;
        world.has_closed |= event.type == UE_EVENT_STATE && event.state == UE_CONN_CLOSED;
    }
    while (ue_conn_next_datagram(world.client, &datagram)) {
        ue_server_receive(world.server, world.now_ns, &client_address, datagram.bytes, datagram.size_bytes);
    }
    ue_server_end_receive(world.server, world.now_ns);
}

static void tick(unsigned number) {
    read_server(number);
    ue_conn_end_receive(world.client, world.now_ns);
    ue_login_tick(world.login, world.now_ns);
    send_of_size(world.client, 0, true, 0);
    if (number == TICKS - 4) {
        ue_conn_close(world.client, world.now_ns, UE_CLOSE_DISCONNECT);
    }
    ue_conn_tick(world.client, world.now_ns);
    read_client();
    world.has_joined |= ue_login_status(world.login)->state == UE_LOGIN_DONE;
    world.now_ns += TICK_NS;
}

/* Returns whether the allocation was reached. */
static bool run(const char *release, size_t failing) {
    memset(&world, 0, sizeof world);
    world.now_ns = UINT64_C(5000000000);
    counting_allocator_init(&world.memory, SIZE_MAX);
    world.memory.failing = failing;
    bool exists = create(release);
    assert_true(exists || world.memory.allocations >= failing);
    for (unsigned number = 0; exists && number < TICKS; number++) {
        tick(number);
    }
    if (exists) {
        assert_int_equal(ue_conn_state(world.client), UE_CONN_CLOSED);
    }
    ue_server_free(world.server);
    ue_login_free(world.login);
    ue_conn_free(world.client);
    if (world.memory.used_bytes != 0 || world.memory.blocks != 0) {
        fail_msg("%s: %zu bytes leak after the failure of allocation %zu", release, world.memory.used_bytes, failing);
    }
    return world.memory.allocations >= failing;
}

static void each_allocation_fails_in_turn(void **state) {
    const char *release = *state;
    size_t joined = 0;
    size_t failing = 1;
    run(release, 0);
    assert_true(world.has_joined && world.has_closed && world.bunches > 20);
    for (; run(release, failing); failing++) {
        joined += world.has_joined;
    }
    assert_true(failing > 100);
    assert_true(joined > failing * 3 / 4); /* one failure ends little */
}

static char releases[][8] = {"4.13", "4.22", "5.5", "5.8"};

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(each_allocation_fails_in_turn, releases[0]),
        cmocka_unit_test_prestate(each_allocation_fails_in_turn, releases[1]),
        cmocka_unit_test_prestate(each_allocation_fails_in_turn, releases[2]),
        cmocka_unit_test_prestate(each_allocation_fails_in_turn, releases[3]),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
