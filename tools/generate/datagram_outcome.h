/* SPDX-License-Identifier: MIT */
/* What became of each datagram of one direction, by its number in the link. */
#ifndef UERUDP_TOOLS_GENERATE_DATAGRAM_OUTCOME_H
#define UERUDP_TOOLS_GENERATE_DATAGRAM_OUTCOME_H

#include "tools/sim/sim.h"

/* Each of the three stages of a link may make two of one. */
#define DATAGRAM_OUTCOME_COPIES_MAX 8

struct datagram_outcome {
    uint64_t sent_ns;
    uint32_t size_bytes;
    uint32_t address;
    int64_t packet_id; /* -1: not a packet */
    uint32_t fates;    /* a bit for each enum sim_datagram_event that it met */
    uint32_t flying;   /* copies whose fate is open */
    uint32_t frames;   /* captured and not yet written */
    uint32_t corrupted_bit;
    uint64_t overtaken_ns; /* when a later one arrived first; 0: none did */
    uint32_t arrived_count;
    uint64_t arrived_ns[DATAGRAM_OUTCOME_COPIES_MAX];
    uint64_t frame; /* where it was captured first; 0: not at all */
};

/* A ring of journeys; those at its front can be forgotten. */
struct datagram_outcome_ring {
    struct datagram_outcome *ring;
    uint64_t capacity; /* a power of two, or 0 */
    uint64_t first;    /* number of the oldest that is kept */
    uint64_t next;     /* number of the next one to leave */
    uint64_t highest;  /* one behind the newest that arrived */
};

void datagram_outcome_ring_clear(struct datagram_outcome_ring *journeys);
/* A journey that is not forgotten. */
struct datagram_outcome *datagram_outcome_ring_at(const struct datagram_outcome_ring *journeys, uint64_t number);
/* Notes what happened to a datagram. */
struct datagram_outcome *datagram_outcome_ring_update(struct datagram_outcome_ring *journeys, const struct sim_datagram *datagram);
/* Forgets the oldest ones whose fate is known and whose frames are written. */
void datagram_outcome_ring_drop(struct datagram_outcome_ring *journeys);

static inline bool datagram_outcome_has(const struct datagram_outcome *journey, enum sim_datagram_event fate) {
    return (journey->fates >> fate & 1) != 0;
}

/* A few words for the frame of one copy, captured where it left (at_sender) or where it arrived at now_ns; an empty
   text where nothing happened to it. */
#define DATAGRAM_OUTCOME_COMMENT_BYTES 160
void datagram_outcome_comment(const struct datagram_outcome *journey, bool at_sender, uint32_t copy, bool is_corrupted,
                       uint64_t now_ns, char text[DATAGRAM_OUTCOME_COMMENT_BYTES]);

#endif
