/* SPDX-License-Identifier: MIT */
/* A simulated run: two endpoints, two links, virtual time, and checks of everything that a reliable protocol promises.
   It uses no clock and no socket; equal scenarios give equal transcripts. Memory is allocated when a run starts and
   freed when it ends. */
#ifndef UERUDP_TOOLS_SIM_SIM_H
#define UERUDP_TOOLS_SIM_SIM_H

#include "tools/sim/game.h"
#include "tools/sim/scenario.h"

#define SIM_FAILURE_CHARS 256
/* Memory limit of each endpoint. */
#define SIM_MEMORY_BYTES (4u << 20)

/* A message that the receiving program got. */
struct sim_delivery {
    enum ue_role from;
    uint32_t channel;
    bool reliable;
    uint64_t number;
    uint32_t bits;
    uint64_t sent_ns; /* when the sender passed it to its endpoint */
    uint64_t now_ns;
};

/* A message that was passed to an endpoint, and the packets that first carry it. */
struct sim_message {
    enum ue_role from;
    uint32_t channel;
    bool reliable;
    uint64_t number;
    uint32_t bits;
    uint64_t now_ns;
    struct ue_packet_range packets;
    const char *sender; /* of a voice packet, static; NULL: none */
};

/* An event of a datagram in a link. */
struct sim_datagram {
    enum ue_role from;
    const struct sim_link_report *report;
    int64_t packet_id;                /* -1: not a packet, or unchecked */
    const struct ue_context *context; /* in which the sender encodes; NULL: before it is connected */
    bool has_queued_bits;
    int64_t queued_bits;               /* QueuedBits of the sender when the datagram left, after the end of its tick */
    const struct ue_datagram *content; /* of a packet that just left in clear, when checked; else NULL */
};

/* Called during a run; members may be NULL. */
struct sim_callbacks {
    void (*sent)(void *user, const struct sim_message *saying);
    void (*delivered)(void *user, const struct sim_delivery *delivery);
    void (*datagram)(void *user, const struct sim_datagram *datagram);
    void (*reported)(void *user, enum ue_role side, int64_t packet_id, bool delivered);
    void (*closed)(void *user, enum ue_role side, enum ue_close_reason reason);
    sim_game_watch *game;
    void *user;
};

/* Counters of one side, as a sender where that makes a difference. */
struct sim_side {
    uint64_t sent[2]; /* messages [reliable] */
    uint64_t received[2];
    uint64_t received_bytes; /* of messages of this side that the other received */
    uint64_t wire_bytes;     /* with 28 bytes for IP and UDP each */
    uint64_t datagrams;
    size_t peak_memory_bytes;
    struct ue_counters counters;
};

struct sim_result {
    bool ok;
    char failure[SIM_FAILURE_CHARS]; /* with scenario and seed, which reproduce it; empty when ok */
    uint64_t transcript;             /* hash of every datagram and event with its time; 0 when unchecked */
    uint64_t end_ns;
    uint64_t last_ns; /* when the last reliable message was received */
    struct sim_side sides[2];
};

struct simulation;

/* A run that has not started. NULL: no memory. The scenario must outlive it; watch may be NULL and is copied. */
struct simulation *sim_new(const struct sim_scenario *scenario, const struct sim_callbacks *watch);
void sim_free(struct simulation *sim);
/* Runs one tick of one side. False: the run is over, and nothing was done. */
bool sim_step(struct simulation *sim);
/* The result so far. */
void sim_read_result(const struct simulation *sim, struct sim_result *result);
/* The largest span of reliable bunches that a side held on a channel, from the oldest unacknowledged one to the newest;
   0: it sent none. */
uint32_t sim_reliable_peak(const struct simulation *sim, enum ue_role side, uint32_t channel);

/* Runs a scenario to its end or to the first failure. watch may be NULL. */
void sim_run(const struct sim_scenario *scenario, const struct sim_callbacks *watch, struct sim_result *result);

#endif
