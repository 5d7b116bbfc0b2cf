/* SPDX-License-Identifier: MIT */
/* One client on a socket: connection, login, memory, and what socket errors do to it (endpoint.md 24.2). The program
   calls receive when datagrams wait, takes events from the connection after it, and tick at its rate. */
#ifndef UERUDP_TOOLS_LIVE_CLIENT_H
#define UERUDP_TOOLS_LIVE_CLIENT_H

#include <uerudp/login.h>
#include "tools/live/transport.h"

struct live_client {
    struct ue_conn *conn;
    struct ue_login login;
    bool no_login; /* the login above is unused */
    struct live_transport *port; /* the caller's */
    void *region;         /* of the connection's pool */
    struct live_error_timer sending;
    struct live_error_timer receiving;
};

/* Memory of one client's connection. */
#define LIVE_CLIENT_MEMORY_BYTES (8u << 20)

/* Begins the handshake. The port's socket is connected, and stays the caller's. The client stays where it is. False,
   with a message, when the options cannot be spoken. */
bool live_client_init(struct live_client *client, struct live_transport *port, const struct live_options *options,
                    const struct ue_login_config *login, uint64_t now_ns);
void live_client_clear(struct live_client *client);

/* Everything that waits at the socket goes into the connection. take is called after each datagram, so that the program
   takes its events before the next. */
void live_client_receive(struct live_client *client, uint64_t now_ns, void (*take)(void *user), void *user);

/* The end of a tick. */
void live_client_tick(struct live_client *client, uint64_t now_ns);

/* What the connection has to send goes to the port. */
void live_client_send(struct live_client *client, uint64_t now_ns);

#endif
