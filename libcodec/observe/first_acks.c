/* SPDX-License-Identifier: MIT */
/* Acks after missing packets, which may have had them before. A missing packet that its receiver reports as not
   delivered counts as lost, and brought no ack (it may also have been refused, after its acks were read); one that it
   acknowledges was not captured, or came late. So these acks are remembered until the missing packets are reported. */
#include "libcodec/observe/tracker_state.h"

#include <string.h>

#define CAPACITY_MIN 2

static struct ue_unsure_acks *newest_of(struct ue_tracker_side *side) {
    return side->unsure_count != 0 ? &side->unsure_acks[side->unsure_count - 1] : NULL;
}

static void remove_at(struct ue_tracker_side *side, uint32_t place) {
    side->unsure_count--;
    memmove(&side->unsure_acks[place], &side->unsure_acks[place + 1],
            (side->unsure_count - place) * sizeof side->unsure_acks[0]);
}

/* Makes sure that one more can be added; the oldest is removed if there can be no more. Returns false when there is no
   memory. */
static bool ensure_one(struct ue_tracker *tracker, struct ue_tracker_side *side) {
    uint32_t capacity = side->unsure_capacity, grown = capacity != 0 ? 2 * capacity : CAPACITY_MIN;
    bool is_full = side->unsure_count == capacity;
    struct ue_unsure_acks *acks = NULL;
    if (is_full && grown <= UE_TRACKER_UNSURE_MAX) {
        acks = ue_limited_allocator_resize(&tracker->memory, side->unsure_acks, capacity * sizeof *acks,
                                           grown * sizeof *acks);
    }
    if (acks != NULL) {
        side->unsure_acks = acks;
        side->unsure_capacity = grown;
    } else if (is_full && capacity != 0) {
        remove_at(side, 0);
    }
    return side->unsure_acks != NULL;
}

void ue_first_acks_hold(struct ue_tracker_step *p, int64_t first_id, int64_t last_id) {
    struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    struct ue_unsure_acks *newest = newest_of(side);
    if (newest != NULL && newest->packet_id == p->packet_id) {
        newest->last_id = last_id;
        return;
    }
    if (p->may_repeat_acks || side->missing_since_ack == 0 || side->unread_since_ack != 0) {
        return;
    }
    if (!ensure_one(p->tracker, side)) {
        return;
    }
    p->are_acks_undecided = true;
    side->unsure_acks[side->unsure_count++] = (struct ue_unsure_acks){.packet_id = p->packet_id,
                                                                      .frame = p->in->frame,
                                                                      .time_ns = p->in->time_ns,
                                                                      .first_id = first_id,
                                                                      .last_id = last_id,
                                                                      .points = ue_tracker_point_bit(p),
                                                                      .missing = side->missing_since_ack};
}

static bool is_captured_before(const struct ue_tracked_packet *packet, const struct ue_unsure_acks *acks) {
    return packet->is_seen && packet->frame < (acks->frame & UE_TRACKER_FRAME_MASK);
}

/* It came late, with a time that is not earlier. A packet that was captured elsewhere proves nothing. */
static bool is_captured_after(const struct ue_tracker_side *side, int64_t id, const struct ue_tracked_packet *packet,
                              const struct ue_unsure_acks *acks) {
    return packet->is_seen && ue_tracker_points(side, id) == acks->points && packet->time_ns >= acks->time_ns;
}

static bool is_not_delivered(const struct ue_tracker_side *side, int64_t id) {
    return ue_tracker_is_not_delivered(side, id) && !ue_tracker_is_acked(side, id);
}

/* Whether none of the packets that were missing brought these acks. */
static bool are_first(const struct ue_tracker_side *side, const struct ue_unsure_acks *acks) {
    uint32_t missing = acks->missing;
    for (int64_t id = acks->packet_id - 1; missing != 0; id--) {
        const struct ue_tracked_packet *packet = ue_tracker_find_packet(side, id);
        if (packet != NULL ? is_captured_before(packet, acks) : ue_tracker_was_seen(side, id)) {
            continue;
        }
        bool is_after = packet != NULL && is_captured_after(side, id, packet, acks);
        if (!is_after && !is_not_delivered(side, id)) {
            return false;
        }
        missing--;
    }
    return true;
}

static void emit_decision(struct ue_tracker_step *p, const struct ue_unsure_acks *acks, bool are_first) {
    const struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    int64_t id = acks->last_id - UE_TRACKER_PACKETS_MAX;
    for (id = id > acks->first_id ? id : acks->first_id; id <= acks->last_id; id++) {
        const struct ue_tracked_packet *packet = ue_tracker_find_packet(side, id);
        if (packet == NULL || packet->state != UE_TRACKER_PACKET_DELIVERED || packet->is_unread ||
            !is_captured_before(packet, acks)) {
            continue;
        }
        int64_t span_ns = are_first ? ue_tracker_span_ns(packet->time_ns, acks->time_ns) : -1;
        struct ue_observed_event event = {.type = UE_OBSERVED_FIRST_ACK,
                                          .first_ack = {.acked_id = id,
                                                        .acked_frame = packet->frame,
                                                        .packet_id = acks->packet_id,
                                                        .frame = acks->frame,
                                                        .time_ns = acks->time_ns,
                                                        .span_ns = span_ns}};
        ue_tracker_emit(p, &event);
    }
}

void ue_first_acks_decide(struct ue_tracker_step *p) {
    struct ue_tracker_side *other = &p->tracker->sides[!p->in->side];
    for (uint32_t i = 0; i < other->unsure_count;) {
        const struct ue_unsure_acks acks = other->unsure_acks[i];
        if (acks.packet_id <= other->reported_id + 1) {
            remove_at(other, i);
            emit_decision(p, &acks, are_first(other, &acks));
        } else {
            i++;
        }
    }
}
