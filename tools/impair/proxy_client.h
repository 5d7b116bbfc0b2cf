/* SPDX-License-Identifier: MIT */
/* One client of the impairment proxy: its socket towards the server, both directions, and the state of its connection.
 */
#ifndef UERUDP_TOOLS_IMPAIR_PROXY_CLIENT_H
#define UERUDP_TOOLS_IMPAIR_PROXY_CLIENT_H

#include "tools/impair/proxy_options.h"
#include "tools/net/event_loop.h"
#include "tools/observe/two_sides.h"
#include "tools/rules/datagram_facts.h"

/* After this silence a confirmed client may be replaced by another, and one without an answer is removed. */
#define IMPAIR_CLIENT_SILENCE_NS UINT64_C(5000000000)
/* Source addresses can be forged. Until a client has sent something after an answer, it may be replaced after this
   silence, which is as long as a client needs that repeats its handshake every second. */
#define IMPAIR_CLIENT_UNCONFIRMED_NS UINT64_C(2000000000)

struct impair_client {
    struct impair_endpoint endpoints[2];    /* the client and the server */
    struct impair_direction *directions[2]; /* to the server, to the client */
    uint32_t number;                        /* in order of arrival, from 0 */
    struct observe_two_sides *sides;
    const struct ue_observed_connection *connection; /* of the newest datagram; NULL: none yet */
    struct ue_context context;                       /* of the newest datagram */
    struct datagram_facts facts;                     /* of the newest datagram, for the rules */
    bool is_closed;                                  /* one side closed the connection */
    struct event_loop_watch *watch;                  /* of the socket towards the server */
    GList link;                                      /* by last use; data is the client itself */
    void *owner;
    uint64_t begun_ns, last_received_ns; /* when its first and newest datagrams arrived, from either side */
    bool is_answered;                    /* the server has sent something to it */
    bool is_confirmed;                   /* and the client something after that, which one forged datagram cannot do */
    bool is_reported;                    /* as connected */
};

struct impair_client_config {
    const struct impair_options *options;
    uint32_t number; /* in order of arrival, from 0 */
    uint64_t now_ns;
    struct net_socket *listener; /* owned by the caller */
    const struct net_address *address;
    const char *server; /* ADDRESS:PORT */
    struct impair_recording *recording;
    void (*refused)(void *user, enum net_socket_result result); /* by the server or the path to it */
    void *owner;
};

/* NULL: no socket or no memory. */
struct impair_client *impair_client_new(const struct impair_client_config *config);
void impair_client_free(struct impair_client *client);

/* A datagram from end 0, the client, or 1, the server. frame: number of the datagram among those of all clients, from
   1. */
void impair_client_receive(struct impair_client *client, struct rules *rules, uint64_t frame, uint64_t now_ns,
                           unsigned end, const uint8_t *bytes, size_t size_bytes);

/* Sends what is due. Returns when the next datagram is due; UINT64_MAX: none. */
uint64_t impair_client_run(struct impair_client *client, uint64_t now_ns);

/* Whether nothing came from either side for longer than idle_ns. */
bool impair_client_is_idle(const struct impair_client *client, uint64_t idle_ns, uint64_t now_ns);

/* Whether a client was silent for long enough to be replaced by another. */
bool impair_client_is_replaceable(const struct impair_client *client, uint64_t now_ns);

/* Writes the engine releases that fit, such as "5.5" or "5.1 to 5.7", and returns the text; NULL: unknown. */
const char *impair_client_generation(const struct impair_client *client, char text[UE_RANGE_CHARS]);

/* Why a client is forgotten: "idle", "unanswered" or "closed"; NULL: it stays. Of a silent client that is not
   confirmed, sends what is due. */
const char *impair_client_end_reason(struct impair_client *client, uint64_t idle_ns, uint64_t now_ns);

#endif
