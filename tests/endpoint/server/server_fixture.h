/* SPDX-License-Identifier: MIT */
/* A server and clients in virtual time; without loss, datagrams arrive at once. */
#ifndef UERUDP_TESTS_ENDPOINT_SERVER_SERVER_FIXTURE_H
#define UERUDP_TESTS_ENDPOINT_SERVER_SERVER_FIXTURE_H

#include <uerudp/server.h>
#include "tests/support/counting_allocator.h"
#include "tests/support/rng.h"
#include "tools/endpoint/core/connection.h"
#include "tools/endpoint/login/login.h"

#define TICK_NS UINT64_C(33333333)
#define SECOND_NS UINT64_C(1000000000)
#define PLAYERS_MAX 128

struct server_player {
    struct ue_conn *conn; /* NULL: no connection */
    struct ue_login login;
    struct ue_host address;
};

struct server_fixture {
    struct counting_allocator memory; /* the server's */
    struct counting_allocator player_memory;
    struct ue_server *server;
    struct ue_server_config config;
    struct server_player players[PLAYERS_MAX];
    uint64_t now_ns;
    uint32_t loss_percent; /* of the datagrams between players and server */
    struct rng rng;
    /* Called with the events of the server's connections, unless NULL. */
    void (*on_event)(struct ue_peer *peer, const struct ue_event *event);
    uint32_t restart_requests; /* datagrams of the server to addresses without a client */
    uint32_t joined;           /* number of state events */
    uint32_t ended;
};

extern struct server_fixture server_fixture;

/* The address with this number; player n starts with address n. */
struct ue_host server_host(uint32_t number);
struct ue_server_config server_config(const char *release);

void server_fixture_init(const struct ue_server_config *config);
/* Frees everything and asserts that no memory is in use. */
void server_fixture_free(void);

/* Creates a client of the server's generation, with a login, which starts its handshake. */
void player_connect(uint32_t number);
void player_free(uint32_t number);
bool player_has_joined(uint32_t number);

/* Ticks the server and the clients for this time. */
void server_run(uint64_t duration_ns);
/* Delivers the server's datagrams to the clients. */
void server_deliver_datagrams(void);
void server_receive(const struct ue_host *from, const void *bytes, size_t size_bytes);

#endif
