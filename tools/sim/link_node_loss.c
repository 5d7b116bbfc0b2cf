/* SPDX-License-Identifier: MIT */
/* Nodes that decide at once: mask, outages, loss, corruption, duplication. */
#include "tools/sim/link_node.h"

#include <string.h>
#include <uerudp/time_ns.h>

static void mask_accept(struct sim_link *link, struct sim_node *node, uint64_t now_ns,
                        struct sim_carried_datagram *carried) {
    const char *mask = node->config->mask;
    if (mask != NULL && carried->number < strlen(mask) && mask[carried->number] == 'x') {
        sim_link_drop(link, now_ns, carried, SIM_DATAGRAM_LOST);
    } else {
        sim_link_pass(link, node, now_ns, carried);
    }
}

const struct sim_node_type sim_node_mask = {.accept = mask_accept};

bool sim_outages_exist(const struct sim_link_config *config) {
    for (size_t i = 0; i < SIM_LINK_OUTAGES_MAX; i++) {
        if (config->outages[i].to_ns != 0) {
            return true;
        }
    }
    return false;
}

static bool is_out(const struct sim_link_config *config, uint64_t now_ns) {
    for (size_t i = 0; i < SIM_LINK_OUTAGES_MAX; i++) {
        if (now_ns >= config->outages[i].from_ns && now_ns < config->outages[i].to_ns) {
            return true;
        }
    }
    return false;
}

static void outage_accept(struct sim_link *link, struct sim_node *node, uint64_t now_ns,
                          struct sim_carried_datagram *carried) {
    if (is_out(node->config, now_ns)) {
        sim_link_drop(link, now_ns, carried, SIM_DATAGRAM_LOST);
    } else {
        sim_link_pass(link, node, now_ns, carried);
    }
}

const struct sim_node_type sim_node_outage = {.accept = outage_accept};

/* Draws by the millisecond of sending and the count in it, so that two implementations whose datagrams differ meet the
   same losses. */
static double draw_at(struct sim_node *node, uint64_t now_ns) {
    uint64_t ms = now_ns / UE_NS_PER_MS;
    node->draws = ms == node->drawn_ms ? node->draws + 1 : 0;
    node->drawn_ms = ms;
    return sim_rng_unit_of(sim_rng_mix(node->seed, sim_rng_mix(ms, node->draws)));
}

static double draw_for(const struct sim_node *node, const struct sim_carried_datagram *carried) {
    return sim_rng_unit_of(sim_rng_mix(node->seed, sim_rng_mix(carried->number, carried->copy)));
}

/* Gilbert-Elliott, everything is lost in the bad state: leaving it with probability 1 / burst gives runs of mean length
   `burst`; entering it with loss / (burst * (1 - loss)) gives the share `loss`. */
static bool is_lost(struct sim_node *node, uint64_t now_ns, const struct sim_carried_datagram *carried) {
    const struct sim_link_config *config = node->config;
    double draw = config->loss_by_number ? draw_for(node, carried) : draw_at(node, now_ns);
    if (config->loss_burst <= 1 || config->loss >= 1) {
        return draw < config->loss;
    }
    double change = node->is_bad ? 1 / config->loss_burst : config->loss / (config->loss_burst * (1 - config->loss));
    node->is_bad ^= draw < change;
    return node->is_bad;
}

static void loss_accept(struct sim_link *link, struct sim_node *node, uint64_t now_ns,
                        struct sim_carried_datagram *carried) {
    const struct sim_link_config *config = node->config;
    bool is_safe = now_ns < config->loss_from_ns || carried->size_bytes < config->loss_min_bytes ||
                   (config->loss_max_bytes != 0 && carried->size_bytes > config->loss_max_bytes);
    if (config->loss > 0 && !is_safe && is_lost(node, now_ns, carried)) {
        sim_link_drop(link, now_ns, carried, SIM_DATAGRAM_LOST);
    } else {
        sim_link_pass(link, node, now_ns, carried);
    }
}

const struct sim_node_type sim_node_loss = {.accept = loss_accept};

/* Flips one bit and, with probability 1/4, a later one; never the same bit twice, which would restore it. */
static void flip_bits(struct sim_node *node, struct sim_carried_datagram *carried) {
    uint64_t begin = node->config->corrupt_skip_bytes * UINT64_C(8);
    uint64_t end = carried->size_bytes * 8;
    carried->corrupted_bit = carried->corrupted ? carried->corrupted_bit : UINT32_MAX;
    do {
        uint64_t bit = begin + sim_rng_below(&node->rng, end - begin);
        carried->corrupted_bit = bit < carried->corrupted_bit ? (uint32_t)bit : carried->corrupted_bit;
        carried->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        begin = bit + 1;
    } while (begin < end && sim_rng_below(&node->rng, 4) == 0);
}

static void corrupt_accept(struct sim_link *link, struct sim_node *node, uint64_t now_ns,
                           struct sim_carried_datagram *carried) {
    const struct sim_link_config *config = node->config;
    bool is_able = now_ns >= config->corrupt_from_ns && carried->size_bytes > config->corrupt_skip_bytes;
    if (is_able && sim_rng_unit(&node->rng) < config->corrupt) {
        flip_bits(node, carried);
        carried->corrupted = true;
        sim_link_emit(link, now_ns, carried, SIM_DATAGRAM_CORRUPTED);
    }
    sim_link_pass(link, node, now_ns, carried);
}

const struct sim_node_type sim_node_corrupt = {.accept = corrupt_accept};

static void duplicate_accept(struct sim_link *link, struct sim_node *node, uint64_t now_ns,
                             struct sim_carried_datagram *carried) {
    struct sim_carried_datagram *copy = NULL;
    if (sim_rng_unit(&node->rng) < node->config->duplicate) {
        copy = sim_link_copy(link, carried);
    }
    sim_link_pass(link, node, now_ns, carried);
    if (copy != NULL) {
        copy->copy++;
        sim_link_emit(link, now_ns, copy, SIM_DATAGRAM_DUPLICATED);
        sim_link_pass(link, node, now_ns, copy);
    }
}

const struct sim_node_type sim_node_duplicate = {.accept = duplicate_accept};
