/* SPDX-License-Identifier: MIT */
/* The outcome of each datagram of one direction, by its number in the link. */
#ifndef UERUDP_TOOLS_GENERATE_DATAGRAM_OUTCOME_H
#define UERUDP_TOOLS_GENERATE_DATAGRAM_OUTCOME_H

#include "tools/sim/sim.h"

/* Each of the three stages of a link may duplicate it. */
#define DATAGRAM_OUTCOME_COPIES_MAX 8

struct datagram_outcome {
    uint64_t sent_ns;
    uint32_t size_bytes;
    uint32_t address;
    int64_t packet_id; /* -1: not a packet */
    bool has_queued_bits;
    int64_t queued_bits;     /* of its sender, see struct sim_datagram */
    uint32_t events;         /* a bit for each enum sim_datagram_event that happened to it */
    uint32_t copies_in_link; /* copies that are still in the link */
    uint32_t frames;         /* captured and not written yet */
    uint32_t corrupted_bit;
    uint64_t overtaken_ns; /* when a later one arrived first; 0: none did */
    uint32_t arrived_count;
    uint64_t arrived_ns[DATAGRAM_OUTCOME_COPIES_MAX];
    uint64_t frame; /* its first frame in the capture; 0: none */
};

/* A ring of outcomes; the oldest ones are dropped. */
struct datagram_outcome_ring {
    struct datagram_outcome *ring;
    uint64_t capacity; /* a power of two, or 0 */
    uint64_t first;    /* number of the oldest outcome */
    uint64_t next;     /* number of the next datagram */
    uint64_t highest;  /* 1 + number of the newest that arrived */
};

void datagram_outcome_ring_clear(struct datagram_outcome_ring *outcomes);
/* The outcome of a datagram, which was not dropped. */
struct datagram_outcome *datagram_outcome_ring_at(const struct datagram_outcome_ring *outcomes, uint64_t number);
/* Records an event of a datagram. */
struct datagram_outcome *datagram_outcome_ring_update(struct datagram_outcome_ring *outcomes,
                                                      const struct sim_datagram *datagram);
/* Drops the oldest outcomes that are complete and whose frames are written. */
void datagram_outcome_ring_drop(struct datagram_outcome_ring *outcomes);

static inline bool datagram_outcome_has(const struct datagram_outcome *outcome, enum sim_datagram_event packet_report) {
    return (outcome->events >> packet_report & 1) != 0;
}

#endif
