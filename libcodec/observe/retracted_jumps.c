/* SPDX-License-Identifier: MIT */
/* Packets whose jump was retracted. The sequence decides later what they were: when it passes their ids, either another
   packet has the id, and theirs was damaged, or they were captured too early. */
#include "libcodec/base/fnv1a.h"
#include "libcodec/observe/tracker_state.h"

static uint32_t entry_count(const struct ue_retracted_jumps *jumps) {
    uint32_t count = jumps != NULL ? jumps->count : 0;
    return count < UE_TRACKER_RETRACTED_MAX ? count : UE_TRACKER_RETRACTED_MAX;
}

struct ue_retracted_jump *ue_retracted_jumps_find(struct ue_tracker_side *side, int64_t id) {
    struct ue_retracted_jumps *jumps = side->retracted;
    for (uint32_t i = 0; i < entry_count(jumps); i++) {
        if (jumps->entries[i].id == id) {
            return &jumps->entries[i];
        }
    }
    return NULL;
}

static struct ue_retracted_jumps *ensure(struct ue_tracker *tracker, struct ue_tracker_side *side) {
    if (side->retracted == NULL) {
        side->retracted = ue_limited_allocator_resize(&tracker->memory, NULL, 0, sizeof *side->retracted);
        if (side->retracted != NULL) {
            side->retracted->count = 0;
        }
    }
    return side->retracted;
}

void ue_retracted_jumps_add(struct ue_tracker *tracker, struct ue_tracker_side *side,
                            const struct ue_retracted_jump *jump) {
    struct ue_retracted_jumps *jumps = ensure(tracker, side);
    if (jumps == NULL) {
        return;
    }
    struct ue_retracted_jump *entry = ue_retracted_jumps_find(side, jump->id);
    if (entry == NULL) {
        entry = &jumps->entries[jumps->count++ % UE_TRACKER_RETRACTED_MAX];
    }
    *entry = *jump;
}

struct ue_retracted_jump *ue_retracted_jumps_find_copy(const struct ue_tracker_step *p, struct ue_tracker_side *side) {
    struct ue_retracted_jump *jump = ue_retracted_jumps_find(side, p->packet_id);
    bool is_copy = jump != NULL && jump->hash == ue_fnv1a_hash(p->in->bytes, p->in->size_bytes);
    return is_copy ? jump : NULL;
}

uint32_t ue_retracted_jumps_place(struct ue_tracker_step *p, struct ue_tracker_side *side) {
    uint32_t placed = 0;
    for (uint32_t i = 0; i < entry_count(side->retracted); i++) {
        int64_t id = side->retracted->entries[i].id;
        if (id > side->newest_id && id < p->packet_id) {
            struct ue_tracked_packet *packet = ue_tracker_ensure_packet(p->tracker, side, id);
            if (packet != NULL) {
                packet->is_opaque = true;
            }
            placed++;
        }
    }
    return placed;
}
