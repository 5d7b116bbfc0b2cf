/* SPDX-License-Identifier: MIT */
/* The packets on which others depend: receivers refuse a packet with an unreliable bunch whose channel is not open, or
   that continues no fragment (endpoint.md 16.11, 18.2), and report it as not delivered; up to 4.21 also one with a
   reliable bunch whose channel is not open. */
#include "libcodec/observe/tracker_state.h"

/* A packet that is older than the other bits cover, or that is not known. */
#define DEPENDS_ON_OTHER (UINT64_C(1) << 63)

/* NULL when there is none, or it was replaced. */
static const struct ue_packet_dependencies *find(const struct ue_tracker_side *side, int64_t packet_id) {
    const struct ue_packet_dependencies *entry = ue_tracker_window_slot(&side->dependencies, sizeof *entry, packet_id);
    return entry != NULL && entry->id == (uint32_t)packet_id ? entry : NULL;
}

/* Finds or adds those of the current packet; NULL when there is no memory. */
static struct ue_packet_dependencies *ensure(struct ue_tracker_step *p) {
    struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    if (p->dependencies == NULL) {
        struct ue_packet_dependencies *entry =
            ue_tracker_window_ensure(p->tracker, side, &side->dependencies, sizeof *entry, p->packet_id);
        if (entry != NULL && entry->id != (uint32_t)p->packet_id) {
            *entry = (struct ue_packet_dependencies){.id = (uint32_t)p->packet_id};
        }
        p->dependencies = entry;
    }
    return p->dependencies;
}

bool ue_packet_dependencies_may_fail_unreliable(const struct ue_tracker_side *side, int64_t packet_id) {
    const struct ue_packet_dependencies *entry = find(side, packet_id);
    uint64_t needed = entry != NULL ? entry->needed : 0;
    bool may_fail = (needed & DEPENDS_ON_OTHER) != 0;
    for (int64_t id = packet_id - 1; !may_fail && needed != 0; needed >>= 1, id--) {
        const struct ue_tracked_packet *packet = ue_tracker_find_packet(side, id);
        may_fail = (needed & 1) != 0 && (packet == NULL || !packet->was_acked);
    }
    return may_fail;
}

bool ue_packet_dependencies_may_fail(const struct ue_tracker_side *side, int64_t packet_id) {
    const struct ue_packet_dependencies *entry = find(side, packet_id);
    return (entry != NULL && entry->may_lack_opening) || ue_packet_dependencies_may_fail_unreliable(side, packet_id);
}

void ue_packet_dependencies_add(struct ue_tracker_step *p, int64_t needed_id) {
    bool is_known = needed_id != UE_TRACKER_NO_ID;
    int64_t distance = is_known ? p->packet_id - needed_id : 0;
    if (is_known && (distance < 1 || distance >= UE_TRACKER_PACKETS_MAX)) {
        return; /* older packets are not remembered */
    }
    struct ue_packet_dependencies *entry = ensure(p);
    if (entry != NULL) {
        entry->needed |= is_known && distance < 64 ? UINT64_C(1) << (distance - 1) : DEPENDS_ON_OTHER;
    }
}

void ue_packet_dependencies_add_hidden(struct ue_tracker_step *p) {
    struct ue_packet_dependencies *entry = ensure(p);
    if (entry != NULL) {
        entry->needed |= ~DEPENDS_ON_OTHER;
    }
}

void ue_packet_dependencies_add_opening(struct ue_tracker_step *p) {
    struct ue_packet_dependencies *entry = ensure(p);
    if (entry != NULL) {
        entry->may_lack_opening = true;
    }
}
