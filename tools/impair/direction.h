/* SPDX-License-Identifier: MIT */
/* One direction of a connection through a link: what comes in at one end is judged by rules, carried by a bad network
   in virtual time (tools/sim/link.h), and leaves at the other end. Times are nanoseconds of event_loop_now_ns. */
#ifndef UERUDP_TOOLS_IMPAIR_DIRECTION_H
#define UERUDP_TOOLS_IMPAIR_DIRECTION_H

#include "tools/impair/recording.h"
#include "tools/rules/rules.h"
#include "tools/sim/link.h"

/* One end of a connection: a socket, who is there, and this end as they see it. */
struct impair_endpoint {
    enum impair_side side;
    struct net_socket *socket;
    struct net_address peer;
    struct net_address local;
};

struct impair_counters {
    uint64_t datagrams, bytes; /* that came in */
    uint64_t delivered, delivered_bytes;
    uint64_t lost;       /* by chance */
    uint64_t overflowed; /* a queue was full */
    uint64_t dropped;    /* by a rule */
    uint64_t corrupted, duplicated;
    uint64_t reordered; /* left after one that had come later */
    uint64_t refused;   /* could not leave: nobody listens, or the system would not take it */
};

#define IMPAIR_STAGES 3

struct impair_direction_config {
    struct sim_link_config stages[IMPAIR_STAGES];
    uint64_t seed;
    uint32_t direction;                                        /* 0: towards the server */
    const struct impair_endpoint *in, *out;                       /* the caller's */
    struct impair_recording *record;                            /* the caller's */
    void (*refused)(void *user, enum net_socket_result result); /* a datagram could not leave */
    void *user;
};

struct impair_direction;

/* NULL: no memory. */
struct impair_direction *impair_direction_new(const struct impair_direction_config *config);
/* What is under way is lost. NULL is ignored. */
void impair_direction_free(struct impair_direction *lane);

/* A datagram that came in now, what the rules decided, and for comments which of them spoke (empty: none). */
void impair_direction_receive(struct impair_direction *lane, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes,
                         const struct rules_outcome *outcome, const char *rules);

/* Lets leave what is due; returns when the next one is, UINT64_MAX: nothing is under way. */
uint64_t impair_direction_run(struct impair_direction *lane, uint64_t now_ns);

/* A tick of the programs, for delays counted in ticks. */
void impair_direction_tick(struct impair_direction *lane, uint64_t now_ns);

const struct impair_counters *impair_direction_counters(const struct impair_direction *lane);

#endif
