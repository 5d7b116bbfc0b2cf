/* SPDX-License-Identifier: MIT */
/* One client on a socket: connection, login, memory, and the handling of socket errors (endpoint.md 33). The program
   calls live_client_receive when datagrams wait, reads the connection's events after it, and calls live_client_tick at
   its tick rate. */
#ifndef UERUDP_TOOLS_LIVE_CLIENT_H
#define UERUDP_TOOLS_LIVE_CLIENT_H

#include <uerudp/endpoint.h>
#include "tools/live/transport.h"

struct live_client {
    struct ue_conn *conn;
    struct ue_login *login;           /* NULL: the peer has none */
    struct live_transport *transport; /* owned by the caller */
    struct live_error_timer sending;
    struct live_error_timer receiving;
};

/* Starts the handshake. The port's socket is connected and owned by the caller; the client must not move. False, with a
   message: the options cannot be used. */
bool live_client_init(struct live_client *client, struct live_transport *transport, const struct live_options *options,
                      const struct ue_login_config *login, uint64_t now_ns);
void live_client_clear(struct live_client *client);

/* Passes all waiting datagrams to the connection. handle is called after each one, so that the program reads its events
   before the next. */
void live_client_receive(struct live_client *client, uint64_t now_ns, void (*handle)(void *user), void *user);

/* Call it at the end of a tick. */
void live_client_tick(struct live_client *client, uint64_t now_ns);

/* Sends the connection's datagrams through the port. */
void live_client_send(struct live_client *client, uint64_t now_ns);

#endif
