/* SPDX-License-Identifier: MIT */
/* One direction of a connection through the impairment proxy: rules decide about each datagram that arrives, then it
   passes an impaired link in virtual time (tools/sim/link.h), and leaves on the other side. Times are nanoseconds of
   event_loop_now_ns. */
#ifndef UERUDP_TOOLS_IMPAIR_PROXY_DIRECTION_H
#define UERUDP_TOOLS_IMPAIR_PROXY_DIRECTION_H

#include "tools/impair/recording.h"
#include "tools/rules/rules.h"
#include "tools/sim/link.h"

/* One side of a connection: a socket, the peer, and the local address as the peer sees it. */
struct impair_endpoint {
    enum impair_side side;
    struct net_socket *socket;
    struct net_address peer;
    struct net_address local;
};

struct impair_counters {
    uint64_t datagrams, bytes; /* that arrived */
    uint64_t delivered, delivered_bytes;
    uint64_t lost;       /* at random */
    uint64_t overflowed; /* a queue was full */
    uint64_t dropped;    /* by a rule */
    uint64_t corrupted, duplicated;
    uint64_t reordered; /* left after one that arrived later */
    uint64_t refused;   /* could not be sent: no program listens, or the system refused it */
};

#define IMPAIR_STAGES 3

struct impair_direction_config {
    struct sim_link_config stages[IMPAIR_STAGES];
    uint64_t seed;
    uint32_t direction;                                         /* 0: towards the server */
    const struct impair_endpoint *in, *out;                     /* owned by the caller */
    struct impair_recording *recording;                         /* owned by the caller */
    void (*refused)(void *user, enum net_socket_result result); /* a datagram could not be sent */
    void *user;
};

struct impair_direction;

/* NULL: no memory. */
struct impair_direction *impair_direction_new(const struct impair_direction_config *config);
/* Datagrams in the link are lost. NULL is ignored. */
void impair_direction_free(struct impair_direction *direction);

/* A datagram that arrived now, the decision of the rules, and for comments the names of those that applied ("": none).
 */
void impair_direction_receive(struct impair_direction *direction, uint64_t now_ns, const uint8_t *bytes,
                              size_t size_bytes, const struct rules_outcome *outcome, const char *rules);

/* Sends what is due. Returns when the next datagram is due; UINT64_MAX: none. */
uint64_t impair_direction_run(struct impair_direction *direction, uint64_t now_ns);

/* A tick of the programs, for delays in ticks. */
void impair_direction_tick(struct impair_direction *direction, uint64_t now_ns);

const struct impair_counters *impair_direction_counters(const struct impair_direction *direction);

#endif
