/* SPDX-License-Identifier: MIT */
/* One client of a link: the socket that stands for it towards the server, a lane each way, and what is understood of
   its connection. */
#ifndef UERUDP_TOOLS_IMPAIR_PROXY_CLIENT_H
#define UERUDP_TOOLS_IMPAIR_PROXY_CLIENT_H

#include "tools/impair/observer.h"
#include "tools/impair/options.h"
#include "tools/net/event_loop.h"

struct impair_client {
    struct impair_endpoint ends[2];    /* the client, and the server */
    struct impair_direction *lanes[2]; /* by direction: to the server, to the client */
    struct impair_observer *insight;
    struct event_loop_watch *watch; /* of the socket towards the server */
    GList link;             /* in the order of use; data is the client itself */
    void *owner;
    uint64_t begun_ns, heard_ns; /* when its first and latest datagrams came, of either end */
    bool is_answered;            /* the server sent something to it */
    bool is_confirmed;           /* and it sent something after that, which a single forged datagram does not */
    bool is_reported;            /* as connected */
};

struct impair_client_config {
    const struct impair_options *options;
    uint32_t number; /* in the order of coming, from 0 */
    uint64_t now_ns;
    struct net_socket *listener; /* the caller's */
    const struct net_address *address;
    const char *server; /* ADDRESS:PORT */
    struct impair_recording *record;
    void (*refused)(void *user, enum net_socket_result result); /* by the server or the way to it */
    void *owner;
};

/* NULL: there is no socket or memory for it. */
struct impair_client *impair_client_new(const struct impair_client_config *config);
void impair_client_free(struct impair_client *client);

/* A datagram came from end 0, the client, or 1, the server; frame numbers those of all clients from 1. */
void impair_client_receive(struct impair_client *client, struct rules *rules, uint64_t frame, uint64_t now_ns,
                          unsigned end, const uint8_t *bytes, size_t size_bytes);

/* Sends what is due; returns when there is more, UINT64_MAX: nothing is under way. */
uint64_t impair_client_run(struct impair_client *client, uint64_t now_ns);

#endif
