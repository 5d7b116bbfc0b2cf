/* SPDX-License-Identifier: MIT */
#include "tools/sim/link.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/link_node.h"

#define KINDS 11
#define NODES_MAX (UE_LINK_STAGES_MAX * KINDS + 1)

struct ue_link {
    struct ue_link_config stages[UE_LINK_STAGES_MAX];
    size_t stage_count;
    struct ue_node nodes[NODES_MAX]; /* the last is the outlet */
    size_t node_count;
    struct ue_carried *taken;
    uint64_t next_number;
    uint32_t address;
    uint32_t held;
    uint64_t counts[UE_FATE_COUNT];
    ue_link_tap *tap;
    void *tap_user;
};

static void add_node(struct ue_link *link, const struct ue_node_kind *kind, size_t stage, uint64_t seed) {
    struct ue_node *node = &link->nodes[link->node_count++];
    node->kind = kind;
    node->config = &link->stages[stage];
    node->stage = stage;
    node->seed = seed;
    node->rng.state = seed;
    node->drawn_ms = UINT64_MAX;
}

/* The seed of a node depends on where it stands, not on which others there are. */
static void add_stage(struct ue_link *link, size_t stage, uint64_t seed) {
    for (size_t i = 0; ue_node_kinds[i] != NULL; i++) {
        if (ue_node_kinds[i]->is_needed(&link->stages[stage])) {
            add_node(link, ue_node_kinds[i], stage, ue_rng_mix(seed, stage * KINDS + i));
        }
    }
}

struct ue_link *ue_link_new(const struct ue_link_config *stages, size_t stage_count, uint64_t seed,
                            uint32_t direction) {
    struct ue_link *link = stage_count <= UE_LINK_STAGES_MAX ? calloc(1, sizeof *link) : NULL;
    if (link == NULL) {
        return NULL;
    }
    for (; link->stage_count < stage_count; link->stage_count++) {
        link->stages[link->stage_count] = stages[link->stage_count];
        add_stage(link, link->stage_count, ue_rng_mix(seed, direction));
    }
    add_node(link, &ue_node_outlet, 0, 0);
    return link;
}

static void discard(struct ue_link *link, struct ue_carried *carried) {
    link->held -= carried != NULL;
    free(carried);
}

void ue_link_free(struct ue_link *link) {
    if (link == NULL) {
        return;
    }
    for (size_t i = 0; i < link->node_count; i++) {
        struct ue_carried *carried;
        while ((carried = ue_node_take(&link->nodes[i])) != NULL) {
            discard(link, carried);
        }
    }
    discard(link, link->taken);
    assert(link->held == 0);
    free(link);
}

void ue_link_set_tap(struct ue_link *link, ue_link_tap *tap, void *user) {
    link->tap = tap;
    link->tap_user = user;
}

/* ---- for nodes ---- */

void ue_link_report(struct ue_link *link, uint64_t now_ns, const struct ue_carried *carried, enum ue_fate fate) {
    link->counts[fate]++;
    if (link->tap != NULL) {
        struct ue_link_report report = {.fate = fate,
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

void ue_link_pass(struct ue_link *link, struct ue_node *node, uint64_t now_ns, struct ue_carried *carried) {
    node[1].kind->accept(link, node + 1, now_ns, carried);
}

void ue_link_drop(struct ue_link *link, uint64_t now_ns, struct ue_carried *carried, enum ue_fate fate) {
    ue_link_report(link, now_ns, carried, fate);
    discard(link, carried);
}

static struct ue_carried *carry(struct ue_link *link, const uint8_t *bytes, size_t size_bytes) {
    struct ue_carried *carried = malloc(sizeof *carried + size_bytes);
    if (carried != NULL) {
        memset(carried, 0, sizeof *carried);
        carried->size_bytes = size_bytes;
        memcpy(carried->bytes, bytes, size_bytes);
        link->held++;
    }
    return carried;
}

struct ue_carried *ue_link_copy(struct ue_link *link, const struct ue_carried *carried) {
    if (link->held >= UE_LINK_DATAGRAMS_MAX) {
        return NULL;
    }
    struct ue_carried *copy = carry(link, carried->bytes, carried->size_bytes);
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

static struct ue_node *outlet_of(struct ue_link *link) {
    return &link->nodes[link->node_count - 1];
}

static size_t earliest_node(const struct ue_link *link) {
    size_t earliest = 0;
    uint64_t due_ns = UE_DUE_NEVER;
    for (size_t i = 0; i < link->node_count; i++) {
        const struct ue_carried *first = link->nodes[i].first;
        if (first != NULL && first->due_ns < due_ns) {
            due_ns = first->due_ns;
            earliest = i;
        }
    }
    return due_ns != UE_DUE_NEVER ? earliest : SIZE_MAX;
}

/* Datagrams move at the moments they are due, one node after the other, however long ago that was. */
static void run(struct ue_link *link, uint64_t now_ns) {
    size_t i;
    while ((i = earliest_node(link)) != SIZE_MAX && link->nodes[i].first->due_ns <= now_ns) {
        struct ue_node *node = &link->nodes[i];
        struct ue_carried *carried = ue_node_take(node);
        node->kind->release(link, node, carried->due_ns, carried);
    }
}

void ue_link_set_address(struct ue_link *link, uint32_t address) {
    link->address = address;
}

/* NULL: no memory. */
static struct ue_carried *take_in(struct ue_link *link, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {
    run(link, now_ns);
    struct ue_carried *carried = carry(link, bytes, size_bytes);
    if (carried == NULL) {
        link->counts[UE_FATE_OVERFLOWED]++;
        return NULL;
    }
    carried->number = link->next_number++;
    carried->address = link->address;
    ue_link_report(link, now_ns, carried, UE_FATE_SENT);
    return carried;
}

void ue_link_waste(struct ue_link *link, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {
    struct ue_carried *carried = take_in(link, now_ns, bytes, size_bytes);
    if (carried != NULL) {
        ue_link_drop(link, now_ns, carried, UE_FATE_LOST);
    }
}

void ue_link_send(struct ue_link *link, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {
    struct ue_carried *carried = take_in(link, now_ns, bytes, size_bytes);
    if (carried == NULL) {
        return;
    }
    if (link->held > UE_LINK_DATAGRAMS_MAX) {
        ue_link_drop(link, now_ns, carried, UE_FATE_OVERFLOWED);
        return;
    }
    link->nodes[0].kind->accept(link, &link->nodes[0], now_ns, carried);
}

bool ue_link_take(struct ue_link *link, uint64_t now_ns, const uint8_t **bytes, size_t *size_bytes) {
    run(link, now_ns);
    discard(link, link->taken);
    link->taken = ue_node_take(outlet_of(link));
    if (link->taken == NULL) {
        return false;
    }
    *bytes = link->taken->bytes;
    *size_bytes = link->taken->size_bytes;
    return true;
}

uint32_t ue_link_taken_address(const struct ue_link *link) {
    return link->taken != NULL ? link->taken->address : 0;
}

uint64_t ue_link_deadline(const struct ue_link *link) {
    if (link->nodes[link->node_count - 1].first != NULL) {
        return 0;
    }
    size_t i = earliest_node(link);
    return i != SIZE_MAX ? link->nodes[i].first->due_ns : UINT64_MAX;
}

void ue_link_tick(struct ue_link *link, uint64_t now_ns, size_t stage) {
    run(link, now_ns);
    for (size_t i = 0; i < link->node_count; i++) {
        struct ue_node *node = &link->nodes[i];
        if (node->stage == stage && node->kind->tick != NULL) {
            node->kind->tick(link, node, now_ns);
        }
    }
}

void ue_link_heal(struct ue_link *link) {
    for (size_t i = 0; i < link->stage_count; i++) {
        struct ue_link_config *config = &link->stages[i];
        config->mask = NULL;
        memset(config->outages, 0, sizeof config->outages);
        config->loss = 0;
        config->corrupt = 0;
        config->duplicate = 0;
        config->reorder = 0;
        config->shuffle = false;
    }
}

const uint64_t *ue_link_counts(const struct ue_link *link) {
    return link->counts;
}

uint32_t ue_link_held(const struct ue_link *link) {
    return link->held;
}
