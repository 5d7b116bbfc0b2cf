/* SPDX-License-Identifier: MIT */
#include "tools/sim/link_node.h"

const struct sim_node_type *const sim_node_types[] = {
    &sim_node_mask,    &sim_node_outage,  &sim_node_loss, &sim_node_corrupt, &sim_node_duplicate, &sim_node_frames,
    &sim_node_shuffle, &sim_node_reorder, &sim_node_rate, &sim_node_delay,   &sim_node_bloat,     NULL};

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
