/* SPDX-License-Identifier: MIT */
/* The packets on which others depend: receivers refuse a packet with an unreliable bunch whose channel is not open, or
   that continues no fragment (endpoint.md 16.11, 18.2), and report it as not delivered; up to 4.21 also one with a
   reliable bunch whose channel is not open. */
#include "libcodec/observe/tracker_state.h"

/* A packet that is older than the other bits cover, or that is not known. */
#define DEPENDS_ON_OTHER (UINT64_C(1) << 63)

/* The packets that a packet needs; 0 when they are not known. */
static uint64_t find_needed(const struct ue_tracker_side *side, int64_t packet_id) {
    const struct ue_packet_block *block = ue_tracker_find_block(side, packet_id);
    return block != NULL && block->needed != NULL ? block->needed[ue_packet_block_place(packet_id)] : 0;
}

/* Adds packets to those that the current one needs, unless there is no memory. */
static void add(struct ue_tracker_step *p, uint64_t needed) {
    struct ue_packet_block *block = ue_tracker_find_block(&p->tracker->sides[p->in->side], p->packet_id);
    if (block != NULL) {
        block->needed = ue_packet_block_ensure_array(p->tracker, block->needed, sizeof *block->needed);
    }
    if (block != NULL && block->needed != NULL) {
        block->needed[ue_packet_block_place(p->packet_id)] |= needed;
    }
}

bool ue_packet_dependencies_may_fail_unreliable(const struct ue_tracker_side *side, int64_t packet_id) {
    uint64_t needed = find_needed(side, packet_id);
    bool may_fail = (needed & DEPENDS_ON_OTHER) != 0;
    for (int64_t id = packet_id - 1; !may_fail && needed != 0; needed >>= 1, id--) {
        const struct ue_tracked_packet *packet = ue_tracker_find_packet(side, id);
        may_fail = (needed & 1) != 0 && (packet == NULL || !packet->was_acked);
    }
    return may_fail;
}

bool ue_packet_dependencies_may_fail(const struct ue_tracker_side *side, int64_t packet_id) {
    const struct ue_packet_block *block = ue_tracker_find_block(side, packet_id);
    bool may_lack = block != NULL && (block->may_lack_opening >> ue_packet_block_place(packet_id) & 1) != 0;
    return may_lack || ue_packet_dependencies_may_fail_unreliable(side, packet_id);
}

void ue_packet_dependencies_add(struct ue_tracker_step *p, int64_t needed_id) {
    bool is_known = needed_id != UE_TRACKER_NO_ID;
    int64_t distance = is_known ? p->packet_id - needed_id : 0;
    if (is_known && (distance < 1 || distance >= UE_TRACKER_PACKETS_MAX)) {
        return; /* older packets are not remembered */
    }
    add(p, is_known && distance < 64 ? UINT64_C(1) << (distance - 1) : DEPENDS_ON_OTHER);
}

void ue_packet_dependencies_add_hidden(struct ue_tracker_step *p) {
    add(p, ~DEPENDS_ON_OTHER);
}

void ue_packet_dependencies_add_opening(struct ue_tracker_step *p) {
    struct ue_packet_block *block = ue_tracker_find_block(&p->tracker->sides[p->in->side], p->packet_id);
    if (block != NULL) {
        block->may_lack_opening |= UINT32_C(1) << ue_packet_block_place(p->packet_id);
    }
}
