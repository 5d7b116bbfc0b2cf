/* SPDX-License-Identifier: MIT */
/* One client on a socket: connection, login, memory, and what socket errors do to it (endpoint.md 24.2). The program
   calls receive when datagrams wait, takes events from the connection after it, and tick at its rate. */
#ifndef UERUDP_TOOLS_LIVE_CLIENT_H
#define UERUDP_TOOLS_LIVE_CLIENT_H

#include <uerudp/login.h>
#include "tools/live/transport.h"

struct ue_client {
    struct ue_conn *conn;
    struct ue_login login;
    bool no_login; /* the login above is unused */
    struct ue_port *port; /* the caller's */
    void *region;         /* of the connection's pool */
    struct ue_grace sending;
    struct ue_grace receiving;
};

/* Memory of one client's connection. */
#define UE_CLIENT_MEMORY_BYTES (8u << 20)

/* Begins the handshake. The port's socket is connected, and stays the caller's. The client stays where it is. False,
   with a message, when the options cannot be spoken. */
bool ue_client_init(struct ue_client *client, struct ue_port *port, const struct ue_live_options *options,
                    const struct ue_login_config *login, uint64_t now_ns);
void ue_client_clear(struct ue_client *client);

/* Everything that waits at the socket goes into the connection. take is called after each datagram, so that the program
   takes its events before the next. */
void ue_client_receive(struct ue_client *client, uint64_t now_ns, void (*take)(void *user), void *user);

/* The end of a tick. */
void ue_client_tick(struct ue_client *client, uint64_t now_ns);

/* What the connection has to send goes to the port. */
void ue_client_send(struct ue_client *client, uint64_t now_ns);

#endif
