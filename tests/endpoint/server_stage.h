/* SPDX-License-Identifier: MIT */
/* A server and clients whose datagrams arrive at once, in virtual time. */
#ifndef UERUDP_TESTS_ENDPOINT_SERVER_STAGE_H
#define UERUDP_TESTS_ENDPOINT_SERVER_STAGE_H

#include <uerudp/server.h>
#include "tests/support/rng.h"
#include "tools/endpoint/connection.h"

#define TICK_NS UINT64_C(33333333)
#define SECOND_NS UINT64_C(1000000000)
#define PLAYERS_MAX 128

struct player {
    struct ue_conn *conn; /* NULL: none */
    struct ue_login login;
    struct ue_host address;
};

struct server_stage {
    uint8_t *region;
    struct ue_pool *pool; /* the server's */
    uint8_t *player_region;
    struct ue_pool *player_pool;
    struct ue_server *server;
    struct ue_server_config config;
    struct player players[PLAYERS_MAX];
    uint64_t now_ns;
    uint32_t loss_percent; /* of the datagrams between players and server */
    struct rng rng;
    /* What the server's connections report; NULL: nobody listens. */
    void (*on_event)(struct ue_peer *peer, const struct ue_event *event);
    uint32_t restart_requests; /* datagrams for addresses where nobody is */
    uint32_t joined;           /* events */
    uint32_t ended;
};

extern struct server_stage stage;

/* Address number so and so; player n begins at host n. */
struct ue_host host(uint32_t number);
struct ue_server_config config(const char *release);

void begin(const struct ue_server_config *configured);
/* Frees everything and asserts that nothing is left in the pool. */
void end(void);

/* A client of the server's generation, with a login, that begins its handshake. */
void connect_player(uint32_t number);
void drop_player(uint32_t number);
bool has_joined(uint32_t number);

/* Ticks everyone for so long. */
void run(uint64_t duration_ns);
/* Hands the server's datagrams to their players. */
void take_datagrams(void);
void receive(const struct ue_host *from, const void *bytes, size_t size_bytes);

#endif
