/* SPDX-License-Identifier: MIT */
/* One client of a link: the socket that stands for it towards the server, a lane each way, and what is understood of
   its connection. */
#ifndef UERUDP_TOOLS_IMPAIR_PROXY_CLIENT_H
#define UERUDP_TOOLS_IMPAIR_PROXY_CLIENT_H

#include "tools/impair/observer.h"
#include "tools/impair/options.h"
#include "tools/net/event_loop.h"

struct ue_relay_client {
    struct ue_relay_end ends[2];    /* the client, and the server */
    struct ue_relay_lane *lanes[2]; /* by direction: to the server, to the client */
    struct ue_relay_insight *insight;
    struct ue_watch *watch; /* of the socket towards the server */
    GList link;             /* in the order of use; data is the client itself */
    void *owner;
    uint64_t begun_ns, heard_ns; /* when its first and latest datagrams came, of either end */
    bool is_answered;            /* the server sent something to it */
    bool is_confirmed;           /* and it sent something after that, which a single forged datagram does not */
    bool is_reported;            /* as connected */
};

struct ue_relay_client_config {
    const struct ue_relay_options *options;
    uint32_t number; /* in the order of coming, from 0 */
    uint64_t now_ns;
    struct ue_socket *listener; /* the caller's */
    const struct ue_net_address *address;
    const char *server; /* ADDRESS:PORT */
    struct ue_relay_record *record;
    void (*refused)(void *user, enum ue_socket_result result); /* by the server or the way to it */
    void *owner;
};

/* NULL: there is no socket or memory for it. */
struct ue_relay_client *ue_relay_client_new(const struct ue_relay_client_config *config);
void ue_relay_client_free(struct ue_relay_client *client);

/* A datagram came from end 0, the client, or 1, the server; frame numbers those of all clients from 1. */
void ue_relay_client_take(struct ue_relay_client *client, struct ue_rules *rules, uint64_t frame, uint64_t now_ns,
                          unsigned end, const uint8_t *bytes, size_t size_bytes);

/* Sends what is due; returns when there is more, UINT64_MAX: nothing is under way. */
uint64_t ue_relay_client_run(struct ue_relay_client *client, uint64_t now_ns);

#endif
