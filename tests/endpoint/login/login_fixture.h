/* SPDX-License-Identifier: MIT */
/* A client and a server that log in over two connections, in virtual time. */
#ifndef UERUDP_TESTS_ENDPOINT_LOGIN_LOGIN_FIXTURE_H
#define UERUDP_TESTS_ENDPOINT_LOGIN_LOGIN_FIXTURE_H

#include "tests/support/counting_allocator.h"
#include "tools/endpoint/core/connection.h"
#include "tools/endpoint/login/login.h"

#define TICK_NS UINT64_C(33333333)
#define CLIENT_SEQ 1027
#define SERVER_SEQ 513
#define MESSAGES_MAX 64

struct login_side {
    struct ue_conn *conn;
    struct ue_login login;
};

/* A control message that was sent. */
struct login_message {
    enum ue_role from;
    uint16_t seq; /* of its packet */
    uint16_t ack;
    uint32_t ch_seq;
    uint8_t type;
    uint64_t number; /* its first parameter, a number or a text */
    char text[16];
};

struct login_fixture {
    struct counting_allocator memory;
    struct login_side sides[2]; /* by role */
    uint64_t now_ns;
    struct login_message messages[MESSAGES_MAX];
    size_t message_count;
    bool has_opaque; /* a datagram was opaque */
};

extern struct login_fixture login_fixture;
extern struct login_side *const login_client;
extern struct login_side *const login_server;
extern const struct ue_login_config login_client_config;
extern const struct ue_login_config login_server_config;

/* The network version is 42. */
struct ue_conn_config login_conn_config(const char *release);

/* Creates two connections, adopted at CLIENT_SEQ and SERVER_SEQ, each with a login unless its configuration is NULL. */
void login_fixture_init(const struct ue_conn_config *config, const struct ue_login_config *client_login,
                        const struct ue_login_config *server_login);
/* Frees both and asserts that no memory is in use. */
void login_fixture_free(void);

/* Delivers all pending datagrams of one side and records their control messages. */
void login_deliver(enum ue_role from);
void login_tick(unsigned times);

/* The first sent message of a type; fails the test if there is none. */
const struct login_message *login_find_message(enum ue_role from, uint8_t type);
size_t login_count_messages(enum ue_role from, uint8_t type);

/* Send bytes or a message on channel 0, in a packet of their own. */
void login_send_bytes(enum ue_role from, const void *bytes, size_t size_bytes);
void login_send_message(enum ue_role from, const struct ue_message *message);
/* A message with one parameter, a text. */
struct ue_message login_text_message(uint8_t type, const char *text);

void login_assert_closed(const struct login_side *side, enum ue_close_reason reason);

#endif
