/* SPDX-License-Identifier: MIT */
/* What was said and what was heard. Reliable messages arrive exactly once, in the order of their channel and
   whole; unreliable ones at most once, in order and whole; and what a packet carried that is reported as delivered was
   heard. */
#ifndef UERUDP_TOOLS_SIM_DELIVERY_CHECKER_H
#define UERUDP_TOOLS_SIM_DELIVERY_CHECKER_H

#include <uerudp/endpoint.h>
#include "tools/sim/failure.h"
#include "tools/sim/message_payload.h"
#include "tools/sim/number_queue.h"
#include "tools/sim/sim.h"

/* One direction of one channel. */
struct delivery_checker_channel {
    uint64_t sent[2]; /* by reliability */
    uint64_t heard[2];
    uint64_t next_unreliable; /* lowest number that may still come unreliably, and as one that was made reliable */
    uint64_t next_raised;
    uint64_t since_open;
    bool is_open;             /* the bunch that opens was heard, the one that closes not yet */
    struct sim_queue times[2]; /* when those that are not yet heard were sent */
    uint64_t times_first;     /* unreliable: number of the oldest time */
    uint8_t *marks;           /* a bit for each unreliable message that was heard */
    uint64_t mark_capacity;
};

/* Packets in flight with an unreliable message each. */
struct delivery_checker_in_flight {
    struct sim_queue packet_ids;
    struct sim_queue messages; /* channel << 40 | number */
};

/* The message with which the server opens a channel. */
#define DELIVERY_CHECKER_OPEN_BITS 8

struct delivery_checker {
    const struct sim_scenario *scenario;
    struct sim_failure *failure;
    struct delivery_checker_channel *lanes[2]; /* by sender, then by channel */
    struct delivery_checker_in_flight flights[2];
    uint8_t *buffer;     /* of the largest message */
    uint64_t sent[2][2]; /* by sender and reliability */
    uint64_t heard[2][2];
    uint64_t heard_bytes[2];
    uint64_t last_ns; /* when a reliable one was heard last */
};

typedef void sim_delivery_callback(void *user, const struct sim_delivery *delivery);

/* False: no memory. The scenario and the failure must outlive it. */
bool delivery_checker_init(struct delivery_checker *ledger, const struct sim_scenario *scenario, struct sim_failure *failure);
void delivery_checker_free(struct delivery_checker *ledger);

/* Who the next message of a side on a channel is. */
struct sim_payload delivery_checker_next(const struct delivery_checker *ledger, enum ue_role from, uint32_t channel, bool reliable);
/* It was sent, in these packets; may_move: it may be merged, and then travel in another one. */
void delivery_checker_sent(struct delivery_checker *ledger, const struct sim_payload *payload, uint64_t now_ns,
                    const struct ue_packet_range *packets, bool may_move);
/* A bunch event of the receiving end; hook may be NULL. */
void delivery_checker_received(struct delivery_checker *ledger, enum ue_role from, uint64_t now_ns, const struct ue_event *bunch,
                     sim_delivery_callback *hook, void *user);
/* The verdict on a packet of this side. */
void delivery_checker_ack(struct delivery_checker *ledger, enum ue_role from, uint64_t now_ns, int64_t packet_id, bool delivered);

/* Reliable messages that are still to come. */
uint64_t delivery_checker_missing(const struct delivery_checker *ledger);

#endif
