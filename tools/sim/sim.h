/* SPDX-License-Identifier: MIT */
/* A run: two endpoints, two links, virtual time, and everything checked that a reliable protocol promises. It knows no
   clock and no socket; equal scenarios give equal transcripts (law L3). Memory is taken when a run begins and given
   back when it ends. */
#ifndef UE_SIM_H
#define UE_SIM_H

#include "tools/sim/scenario.h"

#define UE_SIM_FAILURE_CHARS 256
/* What each endpoint may use. */
#define UE_SIM_MEMORY_BYTES (4u << 20)

/* A message that was handed to the other side's program. */
struct ue_sim_delivery {
    enum ue_role from;
    uint32_t channel;
    bool reliable;
    uint64_t number;
    uint32_t bits;
    uint64_t sent_ns; /* when it was given to the endpoint */
    uint64_t now_ns;
};

/* Sees a run; members may be NULL. */
struct ue_sim_watch {
    void (*delivered)(void *user, const struct ue_sim_delivery *delivery);
    void (*datagram)(void *user, enum ue_role from, const struct ue_link_report *report);
    void *user;
};

/* One end's figures, as a sender where that makes a difference. */
struct ue_sim_side {
    uint64_t sent[2]; /* messages, by reliability */
    uint64_t heard[2];
    uint64_t heard_bytes; /* of messages of this side, by the other */
    uint64_t wire_bytes;  /* with 28 for IP and UDP each */
    uint64_t datagrams;
    size_t peak_memory_bytes;
    struct ue_counters counters;
};

struct ue_sim_result {
    bool ok;
    char failure[UE_SIM_FAILURE_CHARS]; /* with scenario and seed, which reproduce it; empty when ok */
    uint64_t transcript;                /* hash of every datagram and event with its time */
    uint64_t end_ns;
    uint64_t last_ns; /* when the last reliable message was heard */
    struct ue_sim_side sides[2];
};

/* Runs a scenario to its end, or to the first failure. watch may be NULL. */
void ue_sim_run(const struct ue_scenario *scenario, const struct ue_sim_watch *watch, struct ue_sim_result *result);

#endif
