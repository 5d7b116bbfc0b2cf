/* SPDX-License-Identifier: MIT */
#include "tests/endpoint/server/server_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define MEMORY_BYTES ((size_t)64 << 20)

struct server_fixture server_fixture;

struct ue_host server_host(uint32_t number) {
    struct ue_host address = {0};
    address.size_bytes = (uint8_t)snprintf(address.text, sizeof address.text, "10.%u.%u.%u:7777", number >> 16,
                                           number >> 8 & 255, number & 255);
    return address;
}

struct ue_server_config server_config(const char *release) {
    static const uint8_t seed[UE_SEED_BYTES] = {7};
    return (struct ue_server_config){
        .conn = {.profile = ue_profile_find(release), .seed = seed, .network_version = 42},
        .login = {.map = "/Game/Arena"},
    };
}

void server_fixture_init(const struct ue_server_config *config) {
    memset(&server_fixture, 0, sizeof server_fixture);
    server_fixture.now_ns = 100 * SECOND_NS;
    counting_allocator_init(&server_fixture.memory, SIZE_MAX);
    counting_allocator_init(&server_fixture.player_memory, SIZE_MAX);
    server_fixture.rng = (struct rng){7};
    server_fixture.config = *config;
    server_fixture.config.memory_limit_bytes = MEMORY_BYTES;
    server_fixture.server =
        ue_server_new(&server_fixture.memory.allocator, &server_fixture.config, server_fixture.now_ns);
    assert_non_null(server_fixture.server);
}

void server_fixture_free(void) {
    for (size_t i = 0; i < PLAYERS_MAX; i++) {
        ue_conn_free(server_fixture.players[i].conn);
    }
    ue_server_free(server_fixture.server);
    assert_int_equal(server_fixture.memory.used_bytes, 0);
    assert_int_equal(server_fixture.player_memory.used_bytes, 0);
}

void player_connect(uint32_t number) {
    static const struct ue_login_config login = {.player = "p"};
    uint8_t seed[UE_SEED_BYTES] = {0};
    memcpy(seed, &number, sizeof number);
    struct server_player *p = &server_fixture.players[number];
    struct ue_conn_config client = server_fixture.config.conn;
    client.role = UE_ROLE_CLIENT;
    client.seed = seed;
    p->conn = ue_conn_new(&server_fixture.player_memory.allocator, &client);
    assert_non_null(p->conn);
    assert_int_equal(ue_login_init(&p->login, p->conn, &login), UE_OK);
    p->address = server_host(number);
    ue_conn_connect(p->conn, server_fixture.now_ns);
}

void player_free(uint32_t number) {
    ue_conn_free(server_fixture.players[number].conn);
    server_fixture.players[number].conn = NULL;
}

static struct server_player *find_player(const struct ue_host *address) {
    for (size_t i = 0; i < PLAYERS_MAX; i++) {
        struct server_player *p = &server_fixture.players[i];
        if (p->conn != NULL && p->address.size_bytes == address->size_bytes &&
            memcmp(p->address.text, address->text, address->size_bytes) == 0) {
            return p;
        }
    }
    return NULL;
}

static bool is_next_lost(void) {
    return server_fixture.loss_percent != 0 && rng_chance(&server_fixture.rng, server_fixture.loss_percent);
}

void server_deliver_datagrams(void) {
    struct ue_host to;
    struct ue_bytes bytes;
    while (ue_server_next_datagram(server_fixture.server, &to, &bytes)) {
        struct server_player *p = find_player(&to);
        if (p != NULL && is_next_lost()) {
            continue;
        }
        if (p != NULL) {
            ue_conn_receive(p->conn, server_fixture.now_ns, bytes.bytes, bytes.size_bytes);
        } else {
            server_fixture.restart_requests++;
        }
    }
}

static void handle_events(void) {
    struct ue_peer *peer;
    struct ue_event event;
    while (ue_server_next_event(server_fixture.server, &peer, &event)) {
        if (server_fixture.on_event != NULL) {
            server_fixture.on_event(peer, &event);
        }
        if (event.type == UE_EVENT_STATE) {
            server_fixture.joined += event.state == UE_CONN_OPEN;
            server_fixture.ended += event.state == UE_CONN_CLOSED;
            assert_ptr_equal(ue_server_peer(server_fixture.server, peer->index), peer);
        }
    }
}

static void player_tick(struct server_player *p) {
    struct ue_bytes bytes;
    struct ue_event event;
    ue_conn_end_receive(p->conn, server_fixture.now_ns);
    ue_login_tick(&p->login, server_fixture.now_ns);
    ue_conn_tick(p->conn, server_fixture.now_ns);
    while (ue_conn_next_datagram(p->conn, &bytes)) {
        if (!is_next_lost()) {
            ue_server_receive(server_fixture.server, server_fixture.now_ns, &p->address, bytes.bytes, bytes.size_bytes);
        }
    }
    while (ue_conn_next_event(p->conn, &event)) {
    }
}

void server_run(uint64_t duration_ns) {
    for (uint64_t until_ns = server_fixture.now_ns + duration_ns; server_fixture.now_ns < until_ns;
         server_fixture.now_ns += TICK_NS) {
        for (size_t i = 0; i < PLAYERS_MAX; i++) {
            if (server_fixture.players[i].conn != NULL) {
                player_tick(&server_fixture.players[i]);
            }
        }
        ue_server_end_receive(server_fixture.server, server_fixture.now_ns);
        ue_server_tick(server_fixture.server, server_fixture.now_ns);
        handle_events();
        server_deliver_datagrams();
    }
}

void server_receive(const struct ue_host *from, const void *bytes, size_t size_bytes) {
    ue_server_receive(server_fixture.server, server_fixture.now_ns, from, bytes, size_bytes);
}

bool player_has_joined(uint32_t number) {
    const struct ue_peer *peer = ue_server_find(server_fixture.server, &server_fixture.players[number].address);
    return peer != NULL && ue_login_status(peer->login)->state == UE_LOGIN_DONE;
}
