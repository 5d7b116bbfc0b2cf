/* SPDX-License-Identifier: MIT */
/* One direction of a connection through a link: what comes in at one end is judged by rules, carried by a bad network
   in virtual time (tools/sim/link.h), and leaves at the other end. Times are nanoseconds of ue_loop_now_ns. */
#ifndef UERUDP_TOOLS_IMPAIR_DIRECTION_H
#define UERUDP_TOOLS_IMPAIR_DIRECTION_H

#include "tools/impair/recording.h"
#include "tools/rules/rules.h"
#include "tools/sim/link.h"

/* One end of a connection: a socket, who is there, and this end as they see it. */
struct ue_relay_end {
    enum ue_relay_side side;
    struct ue_socket *socket;
    struct ue_net_address peer;
    struct ue_net_address local;
};

struct ue_relay_counters {
    uint64_t datagrams, bytes; /* that came in */
    uint64_t delivered, delivered_bytes;
    uint64_t lost;       /* by chance */
    uint64_t overflowed; /* a queue was full */
    uint64_t dropped;    /* by a rule */
    uint64_t corrupted, duplicated;
    uint64_t reordered; /* left after one that had come later */
    uint64_t refused;   /* could not leave: nobody listens, or the system would not take it */
};

#define UE_RELAY_STAGES 3

struct ue_relay_lane_config {
    struct ue_link_config stages[UE_RELAY_STAGES];
    uint64_t seed;
    uint32_t direction;                                        /* 0: towards the server */
    const struct ue_relay_end *in, *out;                       /* the caller's */
    struct ue_relay_record *record;                            /* the caller's */
    void (*refused)(void *user, enum ue_socket_result result); /* a datagram could not leave */
    void *user;
};

struct ue_relay_lane;

/* NULL: no memory. */
struct ue_relay_lane *ue_relay_lane_new(const struct ue_relay_lane_config *config);
/* What is under way is lost. NULL is ignored. */
void ue_relay_lane_free(struct ue_relay_lane *lane);

/* A datagram that came in now, what the rules decided, and for comments which of them spoke (empty: none). */
void ue_relay_lane_enter(struct ue_relay_lane *lane, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes,
                         const struct ue_outcome *outcome, const char *rules);

/* Lets leave what is due; returns when the next one is, UINT64_MAX: nothing is under way. */
uint64_t ue_relay_lane_run(struct ue_relay_lane *lane, uint64_t now_ns);

/* A tick of the programs, for delays counted in ticks. */
void ue_relay_lane_tick(struct ue_relay_lane *lane, uint64_t now_ns);

const struct ue_relay_counters *ue_relay_lane_counters(const struct ue_relay_lane *lane);

#endif
