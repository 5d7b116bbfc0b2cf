/* SPDX-License-Identifier: MIT */
/* Acks up to 4.21, which can be lost themselves (endpoint.md 36). A receiver writes each ack into two packets. When
   both are lost, the sender treats the acked packet as lost. The acks of these two packets show whether they were lost.
 */
#include <uerudp/history.h>
#include <uerudp/seq.h>
#include "libcodec/observe/tracker_state.h"

enum ack_report { REPORT_OPEN, REPORT_ARRIVED, REPORT_UNSURE, REPORT_LOST };

/* NULL when there is none, or it was replaced. */
static const struct ue_legacy_ack_state *find_ack_state(const struct ue_tracker_side *side, int64_t id) {
    const struct ue_packet_block *block = ue_tracker_find_block(side, id);
    return block != NULL && block->ack_states != NULL ? &block->ack_states[ue_packet_block_place(id)] : NULL;
}

/* The ack state of a packet with an entry; NULL when there is none, or no memory. */
static struct ue_legacy_ack_state *ensure_ack_state(struct ue_tracker_step *p, const struct ue_tracker_side *side,
                                                    int64_t id) {
    struct ue_packet_block *block = ue_tracker_find_block(side, id);
    if (block == NULL) {
        return NULL;
    }
    block->ack_states = ue_packet_block_ensure_array(p->tracker, block->ack_states, sizeof *block->ack_states);
    return block->ack_states != NULL ? &block->ack_states[ue_packet_block_place(id)] : NULL;
}

static void add_carrier(struct ue_tracker_step *p, int64_t acked_id, bool is_repeated) {
    struct ue_legacy_ack_state *ack_state = ensure_ack_state(p, &p->tracker->sides[!p->in->side], acked_id);
    unsigned count = ack_state != NULL ? ack_state->carrier_count : UE_LEGACY_ACK_CARRIERS;
    if (count < UE_LEGACY_ACK_CARRIERS && (count == 0 || ack_state->carriers[count - 1] != p->packet_id)) {
        ack_state->carriers[ack_state->carrier_count++] = p->packet_id;
        ack_state->is_repeated |= count == 0 && is_repeated;
        ack_state->is_void |= count != 0 && p->highest_ack > acked_id;
    }
}

/* Whether the receiver processed the acks in a packet. It also processes the acks of a packet that it then rejects and
   does not acknowledge. */
static enum ack_report arrival_of(const struct ue_tracker_side *side, int64_t packet_id) {
    const struct ue_tracked_packet *packet = ue_tracker_find_packet(side, packet_id);
    if (ue_tracker_is_acked(side, packet_id)) {
        return REPORT_ARRIVED;
    }
    if (packet == NULL) {
        return REPORT_UNSURE;
    }
    if (packet->state != UE_TRACKER_PACKET_NOT_DELIVERED) {
        return packet->is_unread ? REPORT_UNSURE : REPORT_OPEN;
    }
    return ue_packet_dependencies_may_fail(side, packet_id) ? REPORT_UNSURE : REPORT_LOST;
}

/* Whether the receiver has processed the ack of a later packet between the carriers, so that this one changed nothing:
   ARRIVED or LOST. */
static enum ack_report overtaking_of(const struct ue_tracker_side *reporter, int64_t acked_id,
                                     const struct ue_legacy_ack_state *ack_state) {
    int64_t id = ack_state->carriers[1] - UE_TRACKER_LATE_MAX;
    enum ack_report overtaking = REPORT_LOST;
    for (id = id > ack_state->carriers[0] ? id : ack_state->carriers[0] + 1; id < ack_state->carriers[1]; id++) {
        const struct ue_tracked_packet *packet = ue_tracker_find_packet(reporter, id);
        bool may_overtake =
            packet != NULL && (packet->is_seen ? packet->has_ack && ue_seq_newer(packet->ack, ue_seq_of(acked_id))
                                               : packet->state != UE_TRACKER_PACKET_NOT_DELIVERED);
        enum ack_report arrival = !may_overtake     ? REPORT_LOST
                                  : packet->is_seen ? arrival_of(reporter, id)
                                                    : REPORT_UNSURE;
        overtaking = arrival == REPORT_ARRIVED || arrival < overtaking ? arrival : overtaking;
    }
    return overtaking;
}

/* Whether the ack in one of its carriers reached its sender, before an ack of a later packet did. */
static enum ack_report arrival_in(const struct ue_tracker_side *reporter, int64_t acked_id,
                                  const struct ue_legacy_ack_state *ack_state, unsigned carrier) {
    enum ack_report arrival = arrival_of(reporter, ack_state->carriers[carrier]);
    if (carrier == 0) {
        return ack_state->is_repeated ? REPORT_UNSURE : arrival;
    }
    if (arrival == REPORT_LOST || ack_state->is_void) {
        return REPORT_LOST;
    }
    enum ack_report overtaking = overtaking_of(reporter, acked_id, ack_state);
    return overtaking == REPORT_ARRIVED ? REPORT_LOST : overtaking == REPORT_LOST ? arrival : overtaking;
}

/* Whether the ack in a carrier reached its sender in a later packet that was not captured, or is still to come. */
static enum ack_report arrival_after(const struct ue_tracker_side *reporter, int64_t carrier) {
    if (reporter->last_ack_carrier_id <= carrier) {
        return REPORT_OPEN;
    }
    int64_t end = carrier + UE_TRACKER_LATE_MAX;
    end = end < reporter->last_ack_carrier_id ? end : reporter->last_ack_carrier_id;
    for (int64_t id = carrier + 1; id < end; id++) {
        const struct ue_tracked_packet *packet = ue_tracker_find_packet(reporter, id);
        if (packet == NULL) {
            return REPORT_OPEN;
        }
        if (packet->has_ack) {
            return REPORT_LOST; /* it would have carried the ack */
        }
        if (!packet->is_seen && packet->state != UE_TRACKER_PACKET_NOT_DELIVERED) {
            return packet->was_acked ? REPORT_UNSURE : REPORT_OPEN;
        }
    }
    return REPORT_LOST;
}

/* Whether an ack reached its sender in an earlier packet that was not captured. */
static enum ack_report arrival_before(const struct ue_tracker_side *reporter, int64_t carrier) {
    for (int64_t id = carrier - 1; id > reporter->first_id && id > carrier - UE_TRACKER_LATE_MAX; id--) {
        const struct ue_tracked_packet *packet = ue_tracker_find_packet(reporter, id);
        if (packet != NULL && packet->has_ack) {
            return REPORT_LOST; /* the packets before it would have left the ack to it */
        }
        if (packet == NULL || (!packet->is_seen && packet->state != UE_TRACKER_PACKET_NOT_DELIVERED)) {
            return packet == NULL || packet->was_acked ? REPORT_UNSURE : REPORT_OPEN;
        }
    }
    return REPORT_LOST;
}

/* What two places say of an ack that may have arrived in both. */
static enum ack_report either(enum ack_report a, enum ack_report b) {
    return a == REPORT_ARRIVED || b == REPORT_ARRIVED ? REPORT_ARRIVED : a < b ? a : b;
}

/* Whether an ack of a packet reached its sender. If that cannot be known, it is assumed, because both acks are rarely
   lost. */
static enum ack_report report_of(const struct ue_tracker_side *reporter, const struct ue_tracker_side *side, int64_t id,
                                 const struct ue_tracked_packet *packet) {
    if (packet->was_retransmitted) {
        return REPORT_LOST;
    }
    const struct ue_legacy_ack_state *ack_state = find_ack_state(side, id);
    unsigned count = ack_state != NULL ? ack_state->carrier_count : 0;
    if (count == 0) {
        return REPORT_ARRIVED;
    }
    enum ack_report report = REPORT_LOST;
    if (count < UE_LEGACY_ACK_CARRIERS) { /* the other copy was not captured, or is still to come */
        report =
            either(arrival_before(reporter, ack_state->carriers[0]), arrival_after(reporter, ack_state->carriers[0]));
    }
    for (unsigned i = 0; i < count && report != REPORT_ARRIVED; i++) {
        report = either(report, arrival_in(reporter, id, ack_state, i));
    }
    if (report == REPORT_LOST && ue_tracker_may_be_unread(reporter, ack_state->carriers[0] - UE_TRACKER_PACKETS_MAX)) {
        report = REPORT_UNSURE; /* packets that could not be read may carry the ack, or decide that a carrier counts */
    }
    bool is_old = ack_state->carriers[0] <= reporter->reported_id - UE_HISTORY_REACH;
    return report == REPORT_OPEN && is_old ? REPORT_UNSURE : report;
}

bool ue_legacy_acks_have_arrived(const struct ue_tracker *tracker, const struct ue_tracker_side *side,
                                 int64_t packet_id, const struct ue_tracked_packet *packet) {
    const struct ue_tracker_side *reporter = &tracker->sides[side == &tracker->sides[0]];
    const struct ue_legacy_ack_state *ack_state = find_ack_state(side, packet_id);
    for (unsigned i = 0; ack_state != NULL && i < ack_state->carrier_count; i++) {
        const struct ue_tracked_packet *carrier = ue_tracker_find_packet(reporter, ack_state->carriers[i]);
        if (carrier != NULL && carrier->was_acked && arrival_in(reporter, packet_id, ack_state, i) == REPORT_ARRIVED) {
            return true;
        }
    }
    bool is_decided = packet_id <= side->confirmed_id && packet->state == UE_TRACKER_PACKET_DELIVERED;
    bool is_old = packet_id <= side->newest_id - UE_HISTORY_REACH; /* else its bunches would have been retransmitted */
    return is_old || (is_decided && !packet->is_unsure);
}

static void apply_report(struct ue_tracker_step *p, int64_t id, struct ue_tracked_packet *packet,
                         enum ack_report report) {
    struct ue_tracker_side *other = &p->tracker->sides[!p->in->side];
    bool is_unsure = report == REPORT_UNSURE;
    other->counts.unsure += (uint64_t)is_unsure - packet->is_unsure;
    packet->is_unsure = is_unsure;
    if (report == REPORT_LOST) {
        other->counts.acked--;
        ue_tracker_report_ack(p, id, false);
    }
}

void ue_legacy_acks_correct(struct ue_tracker_step *p) {
    struct ue_tracker_side *other = &p->tracker->sides[!p->in->side];
    const struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    if (other->confirmed_id < other->reported_id - UE_TRACKER_PACKETS_MAX) {
        other->confirmed_id = other->reported_id - UE_TRACKER_PACKETS_MAX;
    }
    for (; other->confirmed_id < other->reported_id; other->confirmed_id++) {
        int64_t id = other->confirmed_id + 1;
        struct ue_tracked_packet *packet = ue_tracker_find_packet(other, id);
        if (packet == NULL || packet->state != UE_TRACKER_PACKET_DELIVERED) {
            continue;
        }
        enum ack_report report = report_of(side, other, id, packet);
        if (report == REPORT_OPEN) {
            return;
        }
        apply_report(p, id, packet, report);
    }
}

/* The writer of an ack has received the packet, even if the ack is in a late packet, or follows the ack of a later
   packet, so that it changes nothing. */
static void mark_acked(const struct ue_tracker_side *other, int64_t id) {
    struct ue_tracked_packet *packet = ue_tracker_find_packet(other, id);
    if (packet != NULL) {
        packet->was_acked = true;
    }
}

/* The only packet that is missing since the last one with acks, if the acks in it are also in another packet; or
   UE_TRACKER_NO_ID. Both copies of an ack can only be in it if the packet before it became full while the ack was
   written: then the ack was moved to the next packet, but counted as sent (endpoint.md 36.2). */
static int64_t find_missing(const struct ue_tracker_step *p, const struct ue_tracker_side *side) {
    if (side->missing_since_ack != 1 || side->unread_since_ack != 0) {
        return UE_TRACKER_NO_ID;
    }
    int64_t id = p->packet_id - 1;
    while (id > side->last_ack_carrier_id && p->packet_id - id < UE_TRACKER_PACKETS_MAX &&
           ue_tracker_was_seen(side, id)) {
        id--;
    }
    bool is_found = !ue_tracker_was_seen(side, id) && ue_tracker_was_seen(side, id - 1) && id != side->full_missing_id;
    return is_found ? id : UE_TRACKER_NO_ID;
}

/* Acks are written in the order of their packets, first and again alike. If one packet with acks is missing, and
   skipped packets were acknowledged in it, their acks are written again before that of a later packet is. */
static void begin_decision(const struct ue_tracker_step *p, struct ue_tracker_side *other, int64_t last_id) {
    bool is_possible = find_missing(p, &p->tracker->sides[p->in->side]) != UE_TRACKER_NO_ID;
    other->skipped_first_id = other->reported_id + 1;
    other->skipped_last_id = is_possible ? last_id : other->reported_id;
}

/* It is not known whether a packet was acknowledged. */
static void leave_open(struct ue_tracker_side *other, int64_t id) {
    struct ue_tracked_packet *packet = ue_tracker_find_packet(other, id);
    other->counts.unsure++;
    if (packet != NULL && packet->state == UE_TRACKER_PACKET_PENDING) {
        packet->is_unread = true;
    }
}

/* An ack skips packets without ack. That of a suspect ack was acknowledged, unless that ack is damaged. */
static void report_skipped(struct ue_tracker_step *p, struct ue_tracker_side *other, int64_t id) {
    if (other->has_suspect && other->suspect_id > other->reported_id && other->suspect_id < id) {
        ue_tracker_report_naks(p, other->suspect_id - 1, id, false);
        leave_open(other, other->suspect_id);
        other->reported_id = other->suspect_id;
    }
    ue_tracker_report_naks(p, id - 1, id, false);
}

/* The acks of skipped packets may be in packets that are missing or could not be read. */
static void skip_unread(struct ue_tracker_step *p, struct ue_tracker_side *other, int64_t last_id) {
    struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    int64_t id = last_id - UE_TRACKER_PACKETS_MAX;
    for (id = id > other->reported_id ? id + 1 : other->reported_id + 1; id <= last_id; id++) {
        leave_open(other, id);
    }
    begin_decision(p, other, last_id);
    ue_tracker_mark_unreported(other, last_id);
    side->unread_since_ack = 0;
}

/* Whether all packets of a side that can have acks of this packet were captured up to now, unless some are missing. */
static bool is_reporter_captured_since(const struct ue_tracker_side *reporter, const struct ue_tracked_packet *packet) {
    const struct ue_tracked_packet *first = ue_tracker_find_packet(reporter, reporter->first_id + 1);
    return reporter->has_first || (first != NULL && first->is_seen && first->frame < packet->frame);
}

/* The first ack of a capture that begins in the middle. Skipped packets that were captured after the first packet of
   the reporting side were not delivered; others may have been reported before that one. */
static void begin_in_the_middle(struct ue_tracker_step *p, struct ue_tracker_side *other, int64_t last_id) {
    const struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    int64_t id = last_id - UE_TRACKER_PACKETS_MAX;
    for (id = id > other->reported_id ? id + 1 : other->reported_id + 1; id <= last_id; id++) {
        struct ue_tracked_packet *packet = ue_tracker_find_packet(other, id);
        bool is_seen = packet != NULL && packet->is_seen;
        if (is_seen && is_reporter_captured_since(side, packet)) {
            ue_tracker_report_ack(p, id, false);
            continue;
        }
        other->counts.unsure++;
        if (is_seen) {
            packet->is_unread = true;
            ue_tracker_mark_unreported(other, id);
        } else {
            other->hidden_id = id > other->hidden_id ? id : other->hidden_id;
        }
    }
}

static bool is_undecided(const struct ue_tracked_packet *packet) {
    return packet != NULL && packet->is_unread && packet->state == UE_TRACKER_PACKET_PENDING;
}

/* The ack of a packet after the skipped ones is written again: those that have no ack by now were not acknowledged,
   unless another packet that may have acks is missing. */
static void end_decision(struct ue_tracker_step *p, struct ue_tracker_side *other) {
    const struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    int64_t id = other->skipped_last_id - UE_TRACKER_PACKETS_MAX, last_id = other->skipped_last_id;
    other->skipped_last_id = other->skipped_first_id - 1;
    if (side->missing_since_ack != 0 || side->unread_since_ack != 0) {
        return;
    }
    for (id = id > other->skipped_first_id ? id : other->skipped_first_id; id <= last_id; id++) {
        const struct ue_tracked_packet *packet = ue_tracker_find_packet(other, id);
        if (is_undecided(packet) && !packet->was_acked) {
            other->counts.unsure--;
            ue_tracker_report_ack(p, id, false);
        }
    }
}

static void report_repeated(struct ue_tracker_step *p, int64_t id) {
    bool may_repeat_acks = p->may_repeat_acks, are_acks_undecided = p->are_acks_undecided;
    p->may_repeat_acks = true;
    p->are_acks_undecided = false;
    ue_tracker_report_ack(p, id, true);
    p->may_repeat_acks = may_repeat_acks;
    p->are_acks_undecided = are_acks_undecided;
}

/* An ack of a packet up to the newest reported one. It changes nothing, unless the first ack could not be read: then
   that one may have reached its sender. */
static void repeat_ack(struct ue_tracker_step *p, struct ue_tracker_side *other, int64_t id) {
    struct ue_tracked_packet *packet = ue_tracker_find_packet(other, id);
    if (is_undecided(packet)) {
        report_repeated(p, id);
        packet->is_unsure = true;
    } else if (packet != NULL && packet->state == UE_TRACKER_PACKET_DELIVERED && id > other->skipped_last_id) {
        end_decision(p, other);
    }
    mark_acked(other, id);
}

/* Whether an ack may skip others that were not captured, because both packets with each of them are missing. Of two
   packets with acks in a row the second can repeat some acks of a packet before both, and leave the rest to the packet
   after it. A packet that was full is followed by one that begins with a new ack, and repeats others after it, or in
   the next packet: so one missing packet right before is enough. One further before, followed by packets without acks,
   held none: else they would be repeated before the new ack. */
static bool may_skip_unread(const struct ue_tracker_step *p, const struct ue_tracker_side *side) {
    bool is_first = side->last_ack_carrier_id != p->packet_id; /* later acks of a packet follow its repeated ones */
    int64_t missing_id = find_missing(p, side);
    bool is_without_acks = missing_id != UE_TRACKER_NO_ID && missing_id < p->packet_id - 1;
    bool are_missing =
        (side->missing_since_ack != 0 && !is_without_acks) || side->missing_before_ack >= UE_LEGACY_ACK_CARRIERS;
    return side->unread_since_ack != 0 || (is_first && are_missing);
}

static void store_carrier(struct ue_tracker_step *p, struct ue_tracker_side *side) {
    if (side->last_ack_carrier_id != p->packet_id) {
        side->missing_before_ack = side->missing_since_ack;
        side->missing_since_ack = 0;
        side->last_ack_carrier_id = p->packet_id;
    }
}

/* One ack for each delivered packet; packets that are skipped were not delivered. An ack of an older packet is a
   repetition, or comes too late to change anything. */
static void process_ack(struct ue_tracker_step *p, struct ue_tracker_side *other, int64_t id) {
    struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    bool is_first = !other->has_reported, is_repeated = !is_first && id <= other->reported_id;
    if (!is_first && !is_repeated) {
        ue_first_acks_hold(p, id, id);
    }
    p->are_acks_the_first |= is_first && !side->has_first;
    p->may_repeat_acks |= side->missing_since_ack != 0 || side->unread_since_ack != 0;
    other->acked_first_id = is_first ? id : other->acked_first_id;
    ue_tracker_begin_acks(other, id - 1);
    if (id > other->reported_id) {
        if (may_skip_unread(p, side)) {
            skip_unread(p, other, id - 1);
        } else if (is_first) {
            begin_in_the_middle(p, other, id - 1);
        } else {
            report_skipped(p, other, id);
        }
        ue_tracker_report_ack(p, id, true);
        other->reported_id = id;
    } else {
        repeat_ack(p, other, id);
    }
    const struct ue_tracked_packet *packet = ue_tracker_find_packet(other, id);
    if (packet != NULL && packet->state == UE_TRACKER_PACKET_DELIVERED) {
        add_carrier(p, id, is_repeated);
    }
    ue_tracker_store_ack(p, ue_seq_of(id));
    store_carrier(p, side);
    ue_first_acks_decide(p);
}

/* Whether an ack is plausible: not far ahead of what the other side is known to have sent, or the next one confirms it.
 */
static bool is_plausible(struct ue_tracker_step *p, struct ue_tracker_side *other, int64_t id) {
    if (ue_packet_acks_ahead(other, id) <= UE_TRACKER_LATE_MAX) {
        return true;
    }
    int64_t step = id - other->suspect_id;
    bool is_confirmed = other->has_suspect && step > 0 && step <= UE_TRACKER_STEP_MAX;
    if (is_confirmed) {
        other->has_suspect = false;
        p->may_repeat_acks = true;
        process_ack(p, other, other->suspect_id);
        return true;
    }
    other->suspect_id = id;
    other->has_suspect = true;
    return false;
}

/* A receiver ignores the acks of a packet that arrives late, and does not acknowledge it. If it acknowledges it, only
   the capture point received it late. */
static void handle_late_ack(struct ue_tracker_step *p, struct ue_tracker_side *other, int64_t id) {
    const struct ue_tracked_packet *packet = ue_tracker_find_packet(other, id);
    mark_acked(other, id);
    if (packet != NULL && packet->state != UE_TRACKER_PACKET_NOT_DELIVERED) {
        add_carrier(p, id, p->highest_ack > id);
    }
}

void ue_legacy_acks_handle_ack(struct ue_tracker_step *p, const struct ue_ack *ack) {
    struct ue_tracker_side *other = &p->tracker->sides[!p->in->side];
    int64_t id = ue_tracker_acked_id(other, ack->ack_id);
    if (p->is_late) {
        handle_late_ack(p, other, id);
    } else if (is_plausible(p, other, id)) {
        process_ack(p, other, id);
    }
    p->highest_ack = id > p->highest_ack ? id : p->highest_ack;
}

/* A packet that was captured after the first ack, and sent before all that were captured before this ack, may have been
   acknowledged earlier. */
static void follow_early(const struct ue_tracker_step *p, struct ue_tracker_side *side) {
    const struct ue_tracked_packet *packet = ue_tracker_find_packet(side, p->packet_id);
    bool is_early = side->has_reported && p->packet_id <= side->unreported_id;
    if (is_early && packet != NULL && packet->state == UE_TRACKER_PACKET_PENDING) {
        leave_open(side, p->packet_id);
    }
}

/* Handlers may take some of MaxPacket, but not half of it. */
void ue_legacy_acks_follow(struct ue_tracker_step *p) {
    struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    follow_early(p, side);
    bool is_large = p->in->size_bytes * 8 > p->in->context->data_bound / 2;
    if (side->large_id == p->packet_id - 2 && !ue_tracker_was_seen(side, p->packet_id - 1)) {
        side->full_missing_id = p->packet_id - 1;
    }
    side->large_id = is_large && p->packet_id > side->large_id ? p->packet_id : side->large_id;
}

void ue_legacy_acks_mark_retransmitted(struct ue_tracker_step *p, int64_t packet_id) {
    struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    struct ue_tracked_packet *packet = ue_tracker_find_packet(side, packet_id);
    if (packet != NULL && packet->state == UE_TRACKER_PACKET_DELIVERED) {
        packet->was_retransmitted = true;
        side->confirmed_id = packet_id - 1 < side->confirmed_id ? packet_id - 1 : side->confirmed_id;
    }
}
