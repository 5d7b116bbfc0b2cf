/* SPDX-License-Identifier: MIT */
/* Nodes that hold datagrams for some time: delay, rate with its queue, reordering. */
#include "tools/sim/link_node.h"
#include <uerudp/time_ns.h>

static void release(struct sim_link *link, struct sim_node *node, uint64_t now_ns,
                    struct sim_carried_datagram *carried) {
    sim_link_pass(link, node, now_ns, carried);
}

static void release_all(struct sim_link *link, struct sim_node *node, uint64_t now_ns) {
    struct sim_carried_datagram *carried;
    while ((carried = sim_node_pop(node)) != NULL) {
        sim_link_pass(link, node, now_ns, carried);
    }
}

static void frames_accept(struct sim_link *link, struct sim_node *node, uint64_t now_ns,
                          struct sim_carried_datagram *carried) {
    (void)link;
    (void)now_ns;
    carried->due_tick = node->ticks + node->config->frame_delay_ticks;
    sim_node_push(node, carried, SIM_DUE_NEVER);
}

static void frames_tick(struct sim_link *link, struct sim_node *node, uint64_t now_ns) {
    node->ticks++;
    while (node->first != NULL && node->first->due_tick <= node->ticks) {
        sim_link_pass(link, node, now_ns, sim_node_pop(node));
    }
}

const struct sim_node_type sim_node_frames = {.accept = frames_accept, .release = release, .tick = frames_tick};

/* The engine's PktOrder: newest first, each datagram that is held leaves with probability 1/2 (endpoint.md 38). */
static void shuffle_accept(struct sim_link *link, struct sim_node *node, uint64_t now_ns,
                           struct sim_carried_datagram *carried) {
    struct sim_carried_datagram *leaving = NULL;
    struct sim_carried_datagram *staying = NULL;
    sim_link_emit(link, now_ns, carried, SIM_DATAGRAM_HELD_BACK);
    sim_node_push(node, carried, SIM_DUE_NEVER);
    bool is_healed = !node->config->shuffle;
    while ((carried = sim_node_pop(node)) != NULL) {
        struct sim_carried_datagram **list = is_healed || sim_rng_below(&node->rng, 2) != 0 ? &leaving : &staying;
        carried->next = *list;
        *list = carried;
    }
    for (struct sim_carried_datagram *next; leaving != NULL; leaving = next) {
        next = leaving->next;
        sim_link_pass(link, node, now_ns, leaving);
    }
    while (staying != NULL) { /* `staying` is newest first, the node's list is oldest first */
        struct sim_carried_datagram *next = staying->next;
        staying->next = node->first;
        node->held_bytes += staying->size_bytes;
        node->last = node->last == NULL ? staying : node->last;
        node->first = staying;
        staying = next;
    }
}

const struct sim_node_type sim_node_shuffle = {.accept = shuffle_accept, .release = release};

static void reorder_accept(struct sim_link *link, struct sim_node *node, uint64_t now_ns,
                           struct sim_carried_datagram *carried) {
    if (node->first == NULL && sim_rng_unit(&node->rng) < node->config->reorder) {
        sim_link_emit(link, now_ns, carried, SIM_DATAGRAM_HELD_BACK);
        sim_node_push(node, carried, now_ns + SIM_LINK_REORDER_TIMEOUT_NS);
        return;
    }
    sim_link_pass(link, node, now_ns, carried);
    release_all(link, node, now_ns);
}

const struct sim_node_type sim_node_reorder = {.accept = reorder_accept, .release = release};

/* A line that sends one datagram after another. A datagram that does not fit into the queue is lost (tail drop). */
static void rate_accept(struct sim_link *link, struct sim_node *node, uint64_t now_ns,
                        struct sim_carried_datagram *carried) {
    const struct sim_link_config *config = node->config;
    size_t waiting = node->first != NULL ? node->held_bytes - node->first->size_bytes : 0;
    if (config->queue_bytes != 0 && node->first != NULL && waiting + carried->size_bytes > config->queue_bytes) {
        sim_link_drop(link, now_ns, carried, SIM_DATAGRAM_OVERFLOWED);
        return;
    }
    uint64_t begin_ns = node->free_ns > now_ns ? node->free_ns : now_ns;
    node->free_ns = begin_ns + carried->size_bytes * UE_NS_PER_S / config->rate_bytes;
    sim_node_push(node, carried, node->free_ns);
}

const struct sim_node_type sim_node_rate = {.accept = rate_accept, .release = release};

static void delay_accept(struct sim_link *link, struct sim_node *node, uint64_t now_ns,
                         struct sim_carried_datagram *carried) {
    (void)link;
    uint64_t jitter_ns = node->config->jitter_ns;
    uint64_t extra_ns = jitter_ns != 0 ? sim_rng_below(&node->rng, jitter_ns + 1) : 0;
    sim_node_push(node, carried, now_ns + node->config->delay_ns + extra_ns);
}

const struct sim_node_type sim_node_delay = {.accept = delay_accept, .release = release};

static void bloat_accept(struct sim_link *link, struct sim_node *node, uint64_t now_ns,
                         struct sim_carried_datagram *carried) {
    (void)link;
    uint64_t period_ns = node->config->bloat_ns;
    sim_node_push(node, carried, (now_ns + period_ns - 1) / period_ns * period_ns);
}

const struct sim_node_type sim_node_bloat = {.accept = bloat_accept, .release = release};

static void outlet_accept(struct sim_link *link, struct sim_node *node, uint64_t now_ns,
                          struct sim_carried_datagram *carried) {
    sim_link_emit(link, now_ns, carried, SIM_DATAGRAM_ARRIVED);
    sim_node_push(node, carried, SIM_DUE_NEVER);
}

const struct sim_node_type sim_node_outlet = {.accept = outlet_accept, .release = release};
