/* SPDX-License-Identifier: MIT */
/* The nodes of a link. A node accepts a datagram, may hold it, and passes it on. It sorts the datagrams that it holds
   by the time they are due, and the link runs its nodes in the order of time. */
#ifndef UERUDP_TOOLS_SIM_LINK_NODE_H
#define UERUDP_TOOLS_SIM_LINK_NODE_H

#include "tools/sim/link.h"
#include "tools/sim/rng.h"

/* Released by an event, not by time. */
#define SIM_DUE_NEVER UINT64_MAX

struct sim_carried_datagram {
    struct sim_carried_datagram *next;
    uint64_t due_ns;
    uint64_t number;
    uint32_t copy;
    uint32_t address;
    uint32_t corrupted_bit;
    uint32_t due_tick;
    bool corrupted;
    size_t size_bytes;
    uint8_t bytes[];
};

struct sim_node;

/* accept: takes ownership of a datagram. release: a held datagram is due; passes it on. tick: a tick of the program at
   the end of the stage; NULL: the node ignores it. */
struct sim_node_type {
    void (*accept)(struct sim_link *link, struct sim_node *node, uint64_t now_ns, struct sim_carried_datagram *carried);
    void (*release)(struct sim_link *link, struct sim_node *node, uint64_t now_ns,
                    struct sim_carried_datagram *carried);
    void (*tick)(struct sim_link *link, struct sim_node *node, uint64_t now_ns);
};

struct sim_node {
    const struct sim_node_type *kind;
    struct sim_link_config *config;
    size_t stage;
    struct sim_rng rng; /* its own, so that nodes do not influence one another */
    struct sim_carried_datagram *first;
    struct sim_carried_datagram *last;
    size_t held_bytes;
    uint64_t free_ns; /* rate: when the line is idle again */
    uint64_t seed;    /* loss: of draws by time */
    uint64_t drawn_ms;
    uint32_t draws; /* in that millisecond */
    uint32_t ticks;
    bool is_bad; /* loss: inside a burst */
};

extern const struct sim_node_type sim_node_mask, sim_node_outage, sim_node_loss, sim_node_corrupt, sim_node_duplicate;
extern const struct sim_node_type sim_node_frames, sim_node_shuffle, sim_node_reorder, sim_node_rate, sim_node_delay,
    sim_node_bloat;
bool sim_outages_exist(const struct sim_link_config *config);
extern const struct sim_node_type sim_node_outlet; /* after the last stage */

/* Holds a datagram until due_ns, after those that are due at the same time. */
void sim_node_push(struct sim_node *node, struct sim_carried_datagram *carried, uint64_t due_ns);
/* Removes the earliest datagram. NULL: there is none. */
struct sim_carried_datagram *sim_node_pop(struct sim_node *node);

/* What nodes call on their link. */
void sim_link_pass(struct sim_link *link, struct sim_node *node, uint64_t now_ns, struct sim_carried_datagram *carried);
void sim_link_drop(struct sim_link *link, uint64_t now_ns, struct sim_carried_datagram *carried,
                   enum sim_datagram_event event);
void sim_link_emit(struct sim_link *link, uint64_t now_ns, const struct sim_carried_datagram *carried,
                   enum sim_datagram_event event);
/* A copy of a datagram. NULL: the link is full, or no memory. */
struct sim_carried_datagram *sim_link_copy(struct sim_link *link, const struct sim_carried_datagram *carried);

#endif
