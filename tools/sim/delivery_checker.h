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
struct ue_ledger_lane {
    uint64_t sent[2]; /* by reliability */
    uint64_t heard[2];
    uint64_t next_unreliable; /* lowest number that may still come unreliably, and as one that was made reliable */
    uint64_t next_raised;
    uint64_t since_open;
    bool is_open;             /* the bunch that opens was heard, the one that closes not yet */
    struct ue_queue times[2]; /* when those that are not yet heard were sent */
    uint64_t times_first;     /* unreliable: number of the oldest time */
    uint8_t *marks;           /* a bit for each unreliable message that was heard */
    uint64_t mark_capacity;
};

/* Packets in flight with an unreliable message each. */
struct ue_ledger_flight {
    struct ue_queue packet_ids;
    struct ue_queue messages; /* channel << 40 | number */
};

/* The message with which the server opens a channel. */
#define UE_LEDGER_OPENING_BITS 8

struct ue_ledger {
    const struct ue_scenario *scenario;
    struct ue_failure *failure;
    struct ue_ledger_lane *lanes[2]; /* by sender, then by channel */
    struct ue_ledger_flight flights[2];
    uint8_t *buffer;     /* of the largest message */
    uint64_t sent[2][2]; /* by sender and reliability */
    uint64_t heard[2][2];
    uint64_t heard_bytes[2];
    uint64_t last_ns; /* when a reliable one was heard last */
};

typedef void ue_delivery_hook(void *user, const struct ue_sim_delivery *delivery);

/* False: no memory. The scenario and the failure must outlive it. */
bool ue_ledger_init(struct ue_ledger *ledger, const struct ue_scenario *scenario, struct ue_failure *failure);
void ue_ledger_free(struct ue_ledger *ledger);

/* Who the next message of a side on a channel is. */
struct ue_payload ue_ledger_next(const struct ue_ledger *ledger, enum ue_role from, uint32_t channel, bool reliable);
/* It was sent, in these packets; may_move: it may be merged, and then travel in another one. */
void ue_ledger_sent(struct ue_ledger *ledger, const struct ue_payload *payload, uint64_t now_ns,
                    const struct ue_packet_range *packets, bool may_move);
/* A bunch event of the receiving end; hook may be NULL. */
void ue_ledger_heard(struct ue_ledger *ledger, enum ue_role from, uint64_t now_ns, const struct ue_event *bunch,
                     ue_delivery_hook *hook, void *user);
/* The verdict on a packet of this side. */
void ue_ledger_verdict(struct ue_ledger *ledger, enum ue_role from, uint64_t now_ns, int64_t packet_id, bool delivered);

/* Reliable messages that are still to come. */
uint64_t ue_ledger_missing(const struct ue_ledger *ledger);

#endif
