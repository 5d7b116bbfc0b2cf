/* SPDX-License-Identifier: MIT */
/* A client and a server whose logins talk through real connections, in virtual time. */
#ifndef UERUDP_TESTS_ENDPOINT_LOGIN_STAGE_H
#define UERUDP_TESTS_ENDPOINT_LOGIN_STAGE_H

#include <uerudp/login.h>
#include "tools/endpoint/connection.h"

#define TICK_NS UINT64_C(33333333)
#define CLIENT_SEQ 1027
#define SERVER_SEQ 513
#define MESSAGES_MAX 64

struct end {
    struct ue_conn *conn;
    struct ue_login login;
};

/* A control message as it travelled. */
struct seen {
    enum ue_role from;
    uint16_t seq; /* of its packet */
    uint16_t ack;
    uint32_t ch_seq;
    uint8_t type;
    uint64_t number; /* its first parameter, a number or a text */
    char text[16];
};

struct login_stage {
    uint8_t region[8 << 20];
    struct ue_pool *pool;
    struct end ends[2]; /* by role */
    uint64_t now_ns;
    struct seen seen[MESSAGES_MAX];
    size_t seen_count;
    bool encrypts; /* some datagram was opaque */
};

extern struct login_stage stage;
extern struct end *const client;
extern struct end *const server;
extern const struct ue_login_config client_config;
extern const struct ue_login_config server_config;

/* Network version 42. */
struct ue_conn_config conn_config(const char *release);

/* Connections adopted at CLIENT_SEQ and SERVER_SEQ; a login only where it is configured. */
void begin(const struct ue_conn_config *config, const struct ue_login_config *of_client,
           const struct ue_login_config *of_server);
/* Frees both and asserts that nothing is left in the pool. */
void end_stage(void);

/* Carries everything that one end has to say to the other. */
void carry(enum ue_role from);
void tick(unsigned times);

/* The first message of a type that travelled; fails the test when there is none. */
const struct seen *find_seen(enum ue_role from, uint8_t type);
size_t count_seen(enum ue_role from, uint8_t type);

/* Bytes of channel 0, and a message, in a packet of their own. */
void send_raw(enum ue_role from, const void *bytes, size_t size_bytes);
void send_message(enum ue_role from, const struct ue_message *message);
/* A message whose only parameter is a text. */
struct ue_message text_message(uint8_t type, const char *text);

void assert_closed(const struct end *end, enum ue_close_reason reason);

#endif
