/* SPDX-License-Identifier: MIT */
#include "tests/endpoint/server_stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define POOL_BYTES ((size_t)64 << 20)

struct server_stage stage;

struct ue_host host(uint32_t number) {
    struct ue_host address = {0};
    address.size_bytes = (uint8_t)snprintf(address.text, sizeof address.text, "10.%u.%u.%u:7777", number >> 16,
                                           number >> 8 & 255, number & 255);
    return address;
}

struct ue_server_config config(const char *release) {
    static const uint8_t seed[UE_SEED_BYTES] = {7};
    return (struct ue_server_config){
        .conn = {.profile = ue_profile_find(release), .seed = seed, .network_version = 42},
        .login = {.map = "/Game/Arena"},
    };
}

void begin(const struct ue_server_config *configured) {
    memset(&stage, 0, sizeof stage);
    stage.now_ns = 100 * SECOND_NS;
    stage.region = malloc(POOL_BYTES);
    stage.pool = ue_pool_init(stage.region, POOL_BYTES);
    stage.player_region = malloc(POOL_BYTES);
    stage.player_pool = ue_pool_init(stage.player_region, POOL_BYTES);
    stage.rng = (struct rng){7};
    stage.config = *configured;
    stage.server = ue_server_new(stage.pool, configured, stage.now_ns);
    assert_non_null(stage.server);
}

void end(void) {
    for (size_t i = 0; i < PLAYERS_MAX; i++) {
        ue_conn_free(stage.players[i].conn);
    }
    ue_server_free(stage.server);
    assert_int_equal(ue_pool_used_bytes(stage.pool), 0);
    assert_int_equal(ue_pool_used_bytes(stage.player_pool), 0);
    free(stage.region);
    free(stage.player_region);
}

void connect_player(uint32_t number) {
    static const struct ue_login_config login = {.player = "p"};
    uint8_t seed[UE_SEED_BYTES] = {0};
    memcpy(seed, &number, sizeof number);
    struct player *p = &stage.players[number];
    struct ue_conn_config client = stage.config.conn;
    client.role = UE_ROLE_CLIENT;
    client.seed = seed;
    p->conn = ue_conn_new(stage.player_pool, &client);
    assert_non_null(p->conn);
    assert_int_equal(ue_login_init(&p->login, p->conn, &login), UE_OK);
    p->address = host(number);
    ue_conn_connect(p->conn, stage.now_ns);
}

void drop_player(uint32_t number) {
    ue_conn_free(stage.players[number].conn);
    stage.players[number].conn = NULL;
}

static struct player *player_at(const struct ue_host *address) {
    for (size_t i = 0; i < PLAYERS_MAX; i++) {
        struct player *p = &stage.players[i];
        if (p->conn != NULL && p->address.size_bytes == address->size_bytes &&
            memcmp(p->address.text, address->text, address->size_bytes) == 0) {
            return p;
        }
    }
    return NULL;
}

static bool is_lost(void) {
    return stage.loss_percent != 0 && rng_chance(&stage.rng, stage.loss_percent);
}

void take_datagrams(void) {
    struct ue_host to;
    struct ue_bytes bytes;
    while (ue_server_next_datagram(stage.server, &to, &bytes)) {
        struct player *p = player_at(&to);
        if (p != NULL && is_lost()) {
            continue;
        }
        if (p != NULL) {
            ue_conn_receive(p->conn, stage.now_ns, bytes.bytes, bytes.size_bytes);
        } else {
            stage.restart_requests++;
        }
    }
}

static void take_events(void) {
    struct ue_peer *peer;
    struct ue_event event;
    while (ue_server_next_event(stage.server, &peer, &event)) {
        if (stage.on_event != NULL) {
            stage.on_event(peer, &event);
        }
        if (event.type == UE_EVENT_STATE) {
            stage.joined += event.state == UE_CONN_OPEN;
            stage.ended += event.state == UE_CONN_CLOSED;
            assert_ptr_equal(ue_server_peer(stage.server, peer->index), peer);
        }
    }
}

static void tick_player(struct player *p) {
    struct ue_bytes bytes;
    struct ue_event event;
    ue_conn_end_receive(p->conn, stage.now_ns);
    ue_login_tick(&p->login, stage.now_ns);
    ue_conn_tick(p->conn, stage.now_ns);
    while (ue_conn_next_datagram(p->conn, &bytes)) {
        if (!is_lost()) {
            ue_server_receive(stage.server, stage.now_ns, &p->address, bytes.bytes, bytes.size_bytes);
        }
    }
    while (ue_conn_next_event(p->conn, &event)) {
    }
}

void run(uint64_t duration_ns) {
    for (uint64_t until_ns = stage.now_ns + duration_ns; stage.now_ns < until_ns; stage.now_ns += TICK_NS) {
        for (size_t i = 0; i < PLAYERS_MAX; i++) {
            if (stage.players[i].conn != NULL) {
                tick_player(&stage.players[i]);
            }
        }
        ue_server_end_receive(stage.server, stage.now_ns);
        ue_server_tick(stage.server, stage.now_ns);
        take_events();
        take_datagrams();
    }
}

void receive(const struct ue_host *from, const void *bytes, size_t size_bytes) {
    ue_server_receive(stage.server, stage.now_ns, from, bytes, size_bytes);
}

bool has_joined(uint32_t number) {
    const struct ue_peer *peer = ue_server_find(stage.server, &stage.players[number].address);
    return peer != NULL && peer->login.state == UE_LOGIN_DONE;
}
