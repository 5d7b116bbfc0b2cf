/* SPDX-License-Identifier: MIT */
#include "tools/sim/link.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/link_node.h"

#define KINDS 11
#define NODES_MAX (SIM_LINK_STAGES_MAX * KINDS + 1)

struct sim_link {
    struct sim_link_config stages[SIM_LINK_STAGES_MAX];
    size_t stage_count;
    struct sim_node nodes[NODES_MAX]; /* the last one is the outlet */
    size_t node_count;
    struct sim_carried_datagram *taken;
    uint64_t next_number;
    uint32_t address;
    uint32_t held;
    uint64_t counts[SIM_DATAGRAM_EVENT_COUNT];
    sim_link_tap *tap;
    void *tap_user;
};

/* ---- nodes ---- */

void sim_node_push(struct sim_node *node, struct sim_carried_datagram *carried, uint64_t due_ns) {
    carried->due_ns = due_ns;
    node->held_bytes += carried->size_bytes;
    struct sim_carried_datagram **at = &node->first;
    if (node->last != NULL && node->last->due_ns <= due_ns) {
        at = &node->last->next;
    }
    while (*at != NULL && (*at)->due_ns <= due_ns) {
        at = &(*at)->next;
    }
    carried->next = *at;
    *at = carried;
    if (carried->next == NULL) {
        node->last = carried;
    }
}

struct sim_carried_datagram *sim_node_pop(struct sim_node *node) {
    struct sim_carried_datagram *carried = node->first;
    if (carried != NULL) {
        node->first = carried->next;
        node->last = node->first == NULL ? NULL : node->last;
        node->held_bytes -= carried->size_bytes;
        carried->next = NULL;
    }
    return carried;
}

/* ---- links ---- */

static void add_node(struct sim_link *link, const struct sim_node_type *kind, size_t stage, uint64_t seed) {
    struct sim_node *node = &link->nodes[link->node_count++];
    node->kind = kind;
    node->config = &link->stages[stage];
    node->stage = stage;
    node->seed = seed;
    node->rng.state = seed;
    node->drawn_ms = UINT64_MAX;
}

struct stage_node {
    const struct sim_node_type *kind;
    bool is_needed;
};

/* The nodes in the order of a stage. */
static void list_nodes(const struct sim_link_config *config, struct stage_node nodes[KINDS]) {
    const struct stage_node all[KINDS] = {
        {&sim_node_mask, config->mask != NULL},       {&sim_node_outage, sim_outages_exist(config)},
        {&sim_node_loss, config->loss > 0},           {&sim_node_corrupt, config->corrupt > 0},
        {&sim_node_duplicate, config->duplicate > 0}, {&sim_node_frames, config->frame_delay_ticks > 0},
        {&sim_node_shuffle, config->shuffle},         {&sim_node_reorder, config->reorder > 0},
        {&sim_node_rate, config->rate_bytes > 0},     {&sim_node_delay, config->delay_ns > 0 || config->jitter_ns > 0},
        {&sim_node_bloat, config->bloat_ns > 0},
    };
    memcpy(nodes, all, sizeof all);
}

bool sim_link_has_effect(const struct sim_link_config *config) {
    struct stage_node nodes[KINDS];
    list_nodes(config, nodes);
    bool is_any = false;
    for (size_t i = 0; i < KINDS; i++) {
        is_any |= nodes[i].is_needed;
    }
    return is_any;
}

/* Adds the nodes that a stage needs. The seed of a node depends on its place only, so that other nodes do not change
   what it does. */
static void add_stage(struct sim_link *link, size_t stage, uint64_t seed) {
    struct stage_node nodes[KINDS];
    list_nodes(&link->stages[stage], nodes);
    for (size_t i = 0; i < KINDS; i++) {
        if (nodes[i].is_needed) {
            add_node(link, nodes[i].kind, stage, sim_rng_mix(seed, stage * KINDS + i));
        }
    }
}

struct sim_link *sim_link_new(const struct sim_link_config *stages, size_t stage_count, uint64_t seed,
                              uint32_t direction) {
    struct sim_link *link = stage_count <= SIM_LINK_STAGES_MAX ? calloc(1, sizeof *link) : NULL;
    if (link == NULL) {
        return NULL;
    }
    for (; link->stage_count < stage_count; link->stage_count++) {
        link->stages[link->stage_count] = stages[link->stage_count];
        add_stage(link, link->stage_count, sim_rng_mix(seed, direction));
    }
    add_node(link, &sim_node_outlet, 0, 0);
    return link;
}

static void discard(struct sim_link *link, struct sim_carried_datagram *carried) {
    link->held -= carried != NULL;
    free(carried);
}

void sim_link_free(struct sim_link *link) {
    if (link == NULL) {
        return;
    }
    for (size_t i = 0; i < link->node_count; i++) {
        struct sim_carried_datagram *carried;
        while ((carried = sim_node_pop(&link->nodes[i])) != NULL) {
            discard(link, carried);
        }
    }
    discard(link, link->taken);
    assert(link->held == 0);
    free(link);
}

void sim_link_set_tap(struct sim_link *link, sim_link_tap *tap, void *user) {
    link->tap = tap;
    link->tap_user = user;
}

/* ---- functions for nodes ---- */

void sim_link_emit(struct sim_link *link, uint64_t now_ns, const struct sim_carried_datagram *carried,
                   enum sim_datagram_event event) {
    link->counts[event]++;
    if (link->tap != NULL) {
        struct sim_link_report report = {.event = event,
                                         .now_ns = now_ns,
                                         .number = carried->number,
                                         .copy = carried->copy,
                                         .corrupted = carried->corrupted,
                                         .address = carried->address,
                                         .corrupted_bit = carried->corrupted_bit,
                                         .bytes = carried->bytes,
                                         .size_bytes = carried->size_bytes};
        link->tap(link->tap_user, &report);
    }
}

void sim_link_pass(struct sim_link *link, struct sim_node *node, uint64_t now_ns,
                   struct sim_carried_datagram *carried) {
    node[1].kind->accept(link, node + 1, now_ns, carried);
}

void sim_link_drop(struct sim_link *link, uint64_t now_ns, struct sim_carried_datagram *carried,
                   enum sim_datagram_event event) {
    sim_link_emit(link, now_ns, carried, event);
    discard(link, carried);
}

static struct sim_carried_datagram *carry(struct sim_link *link, const uint8_t *bytes, size_t size_bytes) {
    struct sim_carried_datagram *carried = malloc(sizeof *carried + size_bytes);
    if (carried != NULL) {
        memset(carried, 0, sizeof *carried);
        carried->size_bytes = size_bytes;
        memcpy(carried->bytes, bytes, size_bytes);
        link->held++;
    }
    return carried;
}

struct sim_carried_datagram *sim_link_copy(struct sim_link *link, const struct sim_carried_datagram *carried) {
    if (link->held >= SIM_LINK_DATAGRAMS_MAX) {
        return NULL;
    }
    struct sim_carried_datagram *copy = carry(link, carried->bytes, carried->size_bytes);
    if (copy != NULL) {
        copy->number = carried->number;
        copy->copy = carried->copy;
        copy->corrupted = carried->corrupted;
        copy->address = carried->address;
        copy->corrupted_bit = carried->corrupted_bit;
    }
    return copy;
}

/* ---- running ---- */

static struct sim_node *outlet_of(struct sim_link *link) {
    return &link->nodes[link->node_count - 1];
}

static size_t earliest_node(const struct sim_link *link) {
    size_t earliest = 0;
    uint64_t due_ns = SIM_DUE_NEVER;
    for (size_t i = 0; i < link->node_count; i++) {
        const struct sim_carried_datagram *first = link->nodes[i].first;
        if (first != NULL && first->due_ns < due_ns) {
            due_ns = first->due_ns;
            earliest = i;
        }
    }
    return due_ns != SIM_DUE_NEVER ? earliest : SIZE_MAX;
}

/* Moves each datagram at the moment when it is due, in the order of time. */
static void run(struct sim_link *link, uint64_t now_ns) {
    size_t i;
    while ((i = earliest_node(link)) != SIZE_MAX && link->nodes[i].first->due_ns <= now_ns) {
        struct sim_node *node = &link->nodes[i];
        struct sim_carried_datagram *carried = sim_node_pop(node);
        node->kind->release(link, node, carried->due_ns, carried);
    }
}

void sim_link_set_address(struct sim_link *link, uint32_t address) {
    link->address = address;
}

/* NULL: no memory. */
static struct sim_carried_datagram *copy_in(struct sim_link *link, uint64_t now_ns, const uint8_t *bytes,
                                            size_t size_bytes) {
    run(link, now_ns);
    struct sim_carried_datagram *carried = carry(link, bytes, size_bytes);
    if (carried == NULL) {
        link->counts[SIM_DATAGRAM_OVERFLOWED]++;
        return NULL;
    }
    carried->number = link->next_number++;
    carried->address = link->address;
    sim_link_emit(link, now_ns, carried, SIM_DATAGRAM_SENT);
    return carried;
}

void sim_link_send_lost(struct sim_link *link, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {
    struct sim_carried_datagram *carried = copy_in(link, now_ns, bytes, size_bytes);
    if (carried != NULL) {
        sim_link_drop(link, now_ns, carried, SIM_DATAGRAM_LOST);
    }
}

void sim_link_send(struct sim_link *link, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {
    struct sim_carried_datagram *carried = copy_in(link, now_ns, bytes, size_bytes);
    if (carried == NULL) {
        return;
    }
    if (link->held > SIM_LINK_DATAGRAMS_MAX) {
        sim_link_drop(link, now_ns, carried, SIM_DATAGRAM_OVERFLOWED);
        return;
    }
    link->nodes[0].kind->accept(link, &link->nodes[0], now_ns, carried);
}

bool sim_link_pop(struct sim_link *link, uint64_t now_ns, const uint8_t **bytes, size_t *size_bytes) {
    run(link, now_ns);
    discard(link, link->taken);
    link->taken = sim_node_pop(outlet_of(link));
    if (link->taken == NULL) {
        return false;
    }
    *bytes = link->taken->bytes;
    *size_bytes = link->taken->size_bytes;
    return true;
}

uint32_t sim_link_popped_address(const struct sim_link *link) {
    return link->taken != NULL ? link->taken->address : 0;
}

uint64_t sim_link_deadline(const struct sim_link *link) {
    if (link->nodes[link->node_count - 1].first != NULL) {
        return 0;
    }
    size_t i = earliest_node(link);
    return i != SIZE_MAX ? link->nodes[i].first->due_ns : UINT64_MAX;
}

void sim_link_tick(struct sim_link *link, uint64_t now_ns, size_t stage) {
    run(link, now_ns);
    for (size_t i = 0; i < link->node_count; i++) {
        struct sim_node *node = &link->nodes[i];
        if (node->stage == stage && node->kind->tick != NULL) {
            node->kind->tick(link, node, now_ns);
        }
    }
}

void sim_link_stop_impairment(struct sim_link *link) {
    for (size_t i = 0; i < link->stage_count; i++) {
        struct sim_link_config *config = &link->stages[i];
        config->mask = NULL;
        memset(config->outages, 0, sizeof config->outages);
        config->loss = 0;
        config->corrupt = 0;
        config->duplicate = 0;
        config->reorder = 0;
        config->shuffle = false;
    }
}

const uint64_t *sim_link_event_counts(const struct sim_link *link) {
    return link->counts;
}

uint32_t sim_link_held(const struct sim_link *link) {
    return link->held;
}
