/* SPDX-License-Identifier: MIT */
/* What became of each datagram of one direction, by its number in the link. */
#ifndef UERUDP_TOOLS_GENERATE_DATAGRAM_OUTCOME_H
#define UERUDP_TOOLS_GENERATE_DATAGRAM_OUTCOME_H

#include "tools/sim/sim.h"

/* Each of the three stages of a link may make two of one. */
#define UE_JOURNEY_COPIES_MAX 8

struct ue_journey {
    uint64_t sent_ns;
    uint32_t size_bytes;
    uint32_t address;
    int64_t packet_id; /* -1: not a packet */
    uint32_t fates;    /* a bit for each enum ue_fate that it met */
    uint32_t flying;   /* copies whose fate is open */
    uint32_t frames;   /* captured and not yet written */
    uint32_t corrupted_bit;
    uint64_t overtaken_ns; /* when a later one arrived first; 0: none did */
    uint32_t arrived_count;
    uint64_t arrived_ns[UE_JOURNEY_COPIES_MAX];
    uint64_t frame; /* where it was captured first; 0: not at all */
};

/* A ring of journeys; those at its front can be forgotten. */
struct ue_journeys {
    struct ue_journey *ring;
    uint64_t capacity; /* a power of two, or 0 */
    uint64_t first;    /* number of the oldest that is kept */
    uint64_t next;     /* number of the next one to leave */
    uint64_t highest;  /* one behind the newest that arrived */
};

void ue_journeys_clear(struct ue_journeys *journeys);
/* A journey that is not forgotten. */
struct ue_journey *ue_journeys_at(const struct ue_journeys *journeys, uint64_t number);
/* Notes what happened to a datagram. */
struct ue_journey *ue_journeys_note(struct ue_journeys *journeys, const struct ue_sim_datagram *datagram);
/* Forgets the oldest ones whose fate is known and whose frames are written. */
void ue_journeys_forget(struct ue_journeys *journeys);

static inline bool ue_journey_met(const struct ue_journey *journey, enum ue_fate fate) {
    return (journey->fates >> fate & 1) != 0;
}

/* A few words for the frame of one copy, captured where it left (at_sender) or where it arrived at now_ns; an empty
   text where nothing happened to it. */
#define UE_REMARK_BYTES 160
void ue_journey_remark(const struct ue_journey *journey, bool at_sender, uint32_t copy, bool is_corrupted,
                       uint64_t now_ns, char text[UE_REMARK_BYTES]);

#endif
