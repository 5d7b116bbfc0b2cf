/* SPDX-License-Identifier: MIT */
#include "tools/sim/link_node.h"

const struct ue_node_kind *const ue_node_kinds[] = {
    &ue_node_mask,    &ue_node_outage,  &ue_node_loss, &ue_node_corrupt, &ue_node_duplicate, &ue_node_frames,
    &ue_node_shuffle, &ue_node_reorder, &ue_node_rate, &ue_node_delay,   &ue_node_bloat,     NULL};

void ue_node_keep(struct ue_node *node, struct ue_carried *carried, uint64_t due_ns) {
    carried->due_ns = due_ns;
    node->held_bytes += carried->size_bytes;
    struct ue_carried **at = &node->first;
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

struct ue_carried *ue_node_take(struct ue_node *node) {
    struct ue_carried *carried = node->first;
    if (carried != NULL) {
        node->first = carried->next;
        node->last = node->first == NULL ? NULL : node->last;
        node->held_bytes -= carried->size_bytes;
        carried->next = NULL;
    }
    return carried;
}
