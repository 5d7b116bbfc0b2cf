/* SPDX-License-Identifier: MIT */
/* A run: two endpoints, two links, virtual time, and everything checked that a reliable protocol promises. It knows no
   clock and no socket; equal scenarios give equal transcripts (law L3). Memory is taken when a run begins and given
   back when it ends. */
#ifndef UERUDP_TOOLS_SIM_SIM_H
#define UERUDP_TOOLS_SIM_SIM_H

#include "tools/sim/scenario.h"

#define SIM_FAILURE_CHARS 256
/* What each endpoint may use. */
#define SIM_MEMORY_BYTES (4u << 20)

/* A message that was handed to the other side's program. */
struct sim_delivery {
    enum ue_role from;
    uint32_t channel;
    bool reliable;
    uint64_t number;
    uint32_t bits;
    uint64_t sent_ns; /* when it was given to the endpoint */
    uint64_t now_ns;
};

/* A message that was given to an endpoint, and the packets that carry it first. */
struct sim_message {
    enum ue_role from;
    uint32_t channel;
    bool reliable;
    uint64_t number;
    uint32_t bits;
    uint64_t now_ns;
    struct ue_packet_range packets;
};

/* Something that happened to a datagram. */
struct sim_datagram {
    enum ue_role from;
    const struct sim_link_report *report;
    int64_t packet_id;                 /* -1: not a packet, or unchecked */
    const struct ue_context *context;  /* in which its sender writes; NULL: before it is connected */
    const struct ue_datagram *content; /* of a packet that just left and is not sealed; else NULL, or unchecked */
};

/* Sees a run; members may be NULL. */
struct sim_callbacks {
    void (*said)(void *user, const struct sim_message *saying);
    void (*delivered)(void *user, const struct sim_delivery *delivery);
    void (*datagram)(void *user, const struct sim_datagram *datagram);
    void (*verdict)(void *user, enum ue_role side, int64_t packet_id, bool delivered);
    void (*closed)(void *user, enum ue_role side, enum ue_close_reason reason);
    void *user;
};

/* One end's figures, as a sender where that makes a difference. */
struct sim_side {
    uint64_t sent[2]; /* messages, by reliability */
    uint64_t heard[2];
    uint64_t heard_bytes; /* of messages of this side, by the other */
    uint64_t wire_bytes;  /* with 28 for IP and UDP each */
    uint64_t datagrams;
    size_t peak_memory_bytes;
    struct ue_counters counters;
};

struct sim_result {
    bool ok;
    char failure[SIM_FAILURE_CHARS]; /* with scenario and seed, which reproduce it; empty when ok */
    uint64_t transcript;                /* hash of every datagram and event with its time; unchecked: 0 */
    uint64_t end_ns;
    uint64_t last_ns; /* when the last reliable message was heard */
    struct sim_side sides[2];
};

struct simulation;

/* A run that has not begun; NULL: no memory. The scenario must outlive it; watch may be NULL and is copied. */
struct simulation *sim_new(const struct sim_scenario *scenario, const struct sim_callbacks *watch);
void sim_free(struct simulation *sim);
/* One tick of one end; false: the run is over, and nothing was done. */
bool sim_step(struct simulation *sim);
/* What came out so far. */
void sim_result(const struct simulation *sim, struct sim_result *result);
/* The largest span of reliable bunches that a side ever held on a channel, from the oldest that was not acknowledged to
   the newest; 0: it never sent any. */
uint32_t sim_reliable_peak(const struct simulation *sim, enum ue_role side, uint32_t channel);

/* Runs a scenario to its end, or to the first failure. watch may be NULL. */
void sim_run(const struct sim_scenario *scenario, const struct sim_callbacks *watch, struct sim_result *result);

#endif
