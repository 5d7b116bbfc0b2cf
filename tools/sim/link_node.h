/* SPDX-License-Identifier: MIT */
/* Nodes of a link. Each takes a datagram, may keep it, and passes it on; a node that keeps datagrams sorts
   them by the time they are due, and the link runs its nodes in the order of time. */
#ifndef UERUDP_TOOLS_SIM_LINK_NODE_H
#define UERUDP_TOOLS_SIM_LINK_NODE_H

#include "tools/sim/link.h"
#include "tools/sim/rng.h"

/* Due only by an event, not by time. */
#define UE_DUE_NEVER UINT64_MAX

struct ue_carried {
    struct ue_carried *next;
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

struct ue_node;

/* accept: takes over a datagram. release: a kept one is due; passes it on. tick: of the program at the end of the
   stage; NULL: does not care. */
struct ue_node_kind {
    bool (*is_needed)(const struct ue_link_config *config);
    void (*accept)(struct ue_link *link, struct ue_node *node, uint64_t now_ns, struct ue_carried *carried);
    void (*release)(struct ue_link *link, struct ue_node *node, uint64_t now_ns, struct ue_carried *carried);
    void (*tick)(struct ue_link *link, struct ue_node *node, uint64_t now_ns);
};

struct ue_node {
    const struct ue_node_kind *kind;
    struct ue_link_config *config;
    size_t stage;
    struct ue_rng rng; /* of its own, so that nodes do not disturb each other */
    struct ue_carried *first;
    struct ue_carried *last;
    size_t held_bytes;
    uint64_t free_ns; /* rate: when the line is free */
    uint64_t seed;    /* loss: of draws by time */
    uint64_t drawn_ms;
    uint32_t draws; /* in that millisecond */
    uint32_t ticks;
    bool is_bad; /* loss: inside a burst */
};

/* In the order in which they stand in a stage; NULL ends. */
extern const struct ue_node_kind *const ue_node_kinds[];
extern const struct ue_node_kind ue_node_mask, ue_node_outage, ue_node_loss, ue_node_corrupt, ue_node_duplicate;
extern const struct ue_node_kind ue_node_frames, ue_node_shuffle, ue_node_reorder, ue_node_rate, ue_node_delay,
    ue_node_bloat;
extern const struct ue_node_kind ue_node_outlet; /* behind the last stage */

/* Keeps a datagram until due_ns, behind those that are due at the same time. */
void ue_node_keep(struct ue_node *node, struct ue_carried *carried, uint64_t due_ns);
/* Takes the earliest; NULL: none. */
struct ue_carried *ue_node_take(struct ue_node *node);

/* What nodes ask of their link. */
void ue_link_pass(struct ue_link *link, struct ue_node *node, uint64_t now_ns, struct ue_carried *carried);
void ue_link_drop(struct ue_link *link, uint64_t now_ns, struct ue_carried *carried, enum ue_fate fate);
void ue_link_report(struct ue_link *link, uint64_t now_ns, const struct ue_carried *carried, enum ue_fate fate);
/* A second one like it; NULL when the link is full or memory short. */
struct ue_carried *ue_link_copy(struct ue_link *link, const struct ue_carried *carried);

#endif
