/* SPDX-License-Identifier: MIT */
/* The delivery checker compares the messages that were received with those that were sent. A reliable message arrives
   exactly once, in the order of its channel and unchanged; an unreliable one at most once, in order and unchanged.
   Messages of packets that are reported as delivered arrived. */
#ifndef UERUDP_TOOLS_SIM_DELIVERY_CHECKER_H
#define UERUDP_TOOLS_SIM_DELIVERY_CHECKER_H

#include <uerudp/endpoint.h>
#include "tools/sim/failure.h"
#include "tools/sim/message_payload.h"
#include "tools/sim/number_queue.h"
#include "tools/sim/sim.h"

/* One direction of one channel. */
struct delivery_checker_channel {
    uint64_t sent[2]; /* [reliable] */
    uint64_t received[2];
    uint64_t next_unreliable; /* lowest number that may still arrive: of unreliable messages, and of those that the
                                 endpoint made reliable */
    uint64_t next_made_reliable;
    uint64_t since_open;
    bool is_open;              /* its first bunch was received, its closing bunch not yet */
    struct sim_queue times[2]; /* when the messages that have not arrived yet were sent */
    uint64_t times_first;      /* unreliable: number of the message with the oldest time */
    uint8_t *received_bits;    /* a bit for each unreliable message that was received */
    uint64_t received_bits_capacity;
};

/* Packets in flight that carry an unreliable message. */
struct delivery_checker_in_flight {
    struct sim_queue packet_ids;
    struct sim_queue messages; /* channel << 40 | number */
};

struct delivery_checker {
    const struct sim_scenario *scenario;
    struct sim_failure *failure;
    struct delivery_checker_channel *channels[2]; /* [sender][channel] */
    struct delivery_checker_in_flight in_flight[2];
    uint8_t *buffer;     /* of the largest message */
    uint64_t sent[2][2]; /* [sender][reliable] */
    uint64_t received[2][2];
    uint64_t received_bytes[2];
    uint64_t last_ns; /* when the last reliable message was received */
};

typedef void sim_delivery_callback(void *user, const struct sim_delivery *delivery);

/* False: no memory. The scenario and the failure must outlive the checker. */
bool delivery_checker_init(struct delivery_checker *checker, const struct sim_scenario *scenario,
                           struct sim_failure *failure);
void delivery_checker_free(struct delivery_checker *checker);

/* Identifies the next message of a side on a channel. */
struct sim_payload delivery_checker_next(const struct delivery_checker *checker, enum ue_role from, uint32_t channel,
                                         bool reliable);
/* The message was sent in these packets. may_wait: an ack of them does not mean that it was received: it may be merged
   into another bunch, and then travels in another packet, or the endpoint made it reliable, so that it waits for
   earlier ones. */
void delivery_checker_sent(struct delivery_checker *checker, const struct sim_payload *payload, uint64_t now_ns,
                           const struct ue_packet_range *packets, bool may_wait);
/* A bunch event of the receiver; hook may be NULL. */
void delivery_checker_received(struct delivery_checker *checker, enum ue_role from, uint64_t now_ns,
                               const struct ue_event *bunch, sim_delivery_callback *hook, void *user);
/* A packet of this side was acknowledged (delivered) or not. */
void delivery_checker_ack(struct delivery_checker *checker, enum ue_role from, uint64_t now_ns, int64_t packet_id,
                          bool delivered);

/* Reliable messages that have not arrived yet. */
uint64_t delivery_checker_missing(const struct delivery_checker *checker);

#endif
