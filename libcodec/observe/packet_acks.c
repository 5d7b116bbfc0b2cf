/* SPDX-License-Identifier: MIT */
/* What packets report of the packets of the other side. */
#include <uerudp/history.h>
#include <uerudp/seq.h>
#include "libcodec/observe/tracker_state.h"

void ue_tracker_store_ack(const struct ue_tracker_step *p, uint16_t seq) {
    struct ue_tracked_packet *packet = ue_tracker_find_packet(&p->tracker->sides[p->in->side], p->packet_id);
    if (packet != NULL && (!packet->has_ack || ue_seq_newer(seq, packet->ack))) {
        packet->has_ack = true;
        packet->ack = seq % UE_PACKET_SEQ_MAX;
    }
}

/* The sender of this datagram has received a packet of the other side, and with it its acks. */
static void learn_arrival(const struct ue_tracker_step *p, int64_t id, const struct ue_tracked_packet *packet) {
    struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    struct ue_tracker_side *other = &p->tracker->sides[!p->in->side];
    if (packet == NULL || !packet->is_seen) {
        side->unread_id = p->packet_id - 1 > side->unread_id ? p->packet_id - 1 : side->unread_id;
        other->hidden_id = id > other->hidden_id ? id : other->hidden_id;
    } else if (packet->has_ack) {
        int64_t shown_id = ue_seq_expand(packet->ack, side->newest_id, UE_PACKET_SEQ_MAX);
        shown_id = shown_id < side->reported_id ? shown_id : side->reported_id;
        side->shown_id = shown_id > side->shown_id ? shown_id : side->shown_id;
        side->freed_id = side->awaited_id == UE_TRACKER_NO_ID ? side->shown_id : side->freed_id;
    }
}

/* Without handshake a capture begins in the middle of a connection. */
static bool may_precede_capture(const struct ue_tracker_side *side, int64_t id) {
    return !side->has_first && (!side->has_newest || id <= side->earliest_id || id <= side->acked_first_id);
}

static bool may_be_captured(struct ue_tracker_side *side, const struct ue_tracked_packet *packet, int64_t id) {
    return (packet != NULL && packet->is_opaque) || ue_retracted_jumps_find(side, id) != NULL ||
           (side->opaque_count != 0 && side->has_newest && id > side->newest_id);
}

/* The first acks of a capture may be in packets that it lacks, too, unless their receiver had got all packets before
   this one when it sent what they acknowledge. */
static bool may_be_repeated(const struct ue_tracker_step *p, const struct ue_tracked_packet *packet) {
    return p->may_repeat_acks ||
           (p->are_acks_the_first && !(packet->has_ack && packet->ack == ue_seq_of(p->packet_id - 1)));
}

struct ue_tracked_packet *ue_tracker_report_ack(struct ue_tracker_step *p, int64_t id, bool delivered) {
    struct ue_tracker_side *other = &p->tracker->sides[!p->in->side];
    struct ue_tracked_packet *packet = ue_tracker_ensure_packet(p->tracker, other, id);
    struct ue_observed_event event = {.type = delivered ? UE_OBSERVED_ACK : UE_OBSERVED_NAK,
                                      .ack = {.packet_id = id, .span_ns = -1, .may_be_repeated = p->may_repeat_acks}};
    bool is_seen = packet != NULL && packet->is_seen;
    if (is_seen) {
        bool is_before = packet->frame < p->in->frame; /* else it was captured after an ack that was held */
        event.ack.frame = packet->frame;
        event.ack.span_ns = is_before ? ue_tracker_span_ns(packet->time_ns, p->in->time_ns) : -1;
        event.ack.may_be_repeated = may_be_repeated(p, packet);
        event.ack.is_undecided = delivered && is_before && p->are_acks_undecided;
        event.ack.may_be_refused = !delivered && ue_packet_dependencies_may_fail_unreliable(other, id);
    } else {
        event.ack.is_excused = may_be_captured(other, packet, id) || (delivered && may_precede_capture(other, id));
    }
    if (packet != NULL) {
        event.ack.is_withdrawn = !delivered && packet->state == UE_TRACKER_PACKET_DELIVERED;
        packet->state = delivered ? UE_TRACKER_PACKET_DELIVERED : UE_TRACKER_PACKET_NOT_DELIVERED;
        packet->was_acked |= delivered;
        packet->is_acked_unseen |= delivered && !packet->is_seen && !event.ack.is_excused;
        if (!is_seen) {
            packet->frame = event.ack.is_withdrawn || event.ack.is_excused ? 0 : p->in->frame & UE_TRACKER_FRAME_MASK;
        }
    }
    if (delivered) {
        learn_arrival(p, id, packet);
    }
    other->counts.acked += delivered;
    other->counts.nacked += !delivered;
    ue_tracker_emit(p, &event);
    return packet;
}

int64_t ue_tracker_acked_id(const struct ue_tracker_side *other, uint16_t seq) {
    int64_t reference = other->has_newest ? other->newest_id : seq;
    if (other->has_reported && (!other->has_newest || other->reported_id > reference)) {
        reference = other->reported_id;
    }
    return ue_seq_expand(seq, reference, UE_PACKET_SEQ_MAX);
}

int64_t ue_packet_acks_ahead(const struct ue_tracker_side *other, int64_t id) {
    bool is_jump = other->newest_id == other->jump_id && other->jump_id != other->jump_from;
    int64_t known = !other->has_newest ? id : is_jump ? other->jump_from : other->newest_id;
    known = other->has_reported && (!other->has_newest || other->reported_id > known) ? other->reported_id : known;
    return id - known - (int64_t)other->opaque_count;
}

void ue_tracker_begin_acks(struct ue_tracker_side *other, int64_t reported_id) {
    if (!other->has_reported) {
        bool is_known = other->counts.packets != 0 && other->earliest_id < reported_id;
        other->reported_id = other->confirmed_id = is_known ? other->earliest_id : reported_id;
        other->unreported_id = other->reported_id;
        other->has_reported = true;
    }
}

/* Whether a report shows that a packet of which no ack was captured was not delivered. When a capture begins in the
   middle of a connection, packets that it lacks may have been reported before. */
static bool is_implied(const struct ue_tracker_side *other, int64_t id, int64_t acked_id, bool is_first) {
    const struct ue_tracked_packet *packet = ue_tracker_find_packet(other, id);
    bool is_seen = packet != NULL && packet->is_seen;
    return is_seen || (!(is_first && !other->has_first) &&
                       (id > acked_id - UE_HISTORY_REACH || (other->has_newest && id <= other->newest_id)));
}

void ue_tracker_report_naks(struct ue_tracker_step *p, int64_t last_id, int64_t acked_id, bool is_first) {
    const struct ue_tracker_side *other = &p->tracker->sides[!p->in->side];
    int64_t id = last_id - p->naks_left;
    for (id = id > other->reported_id ? id + 1 : other->reported_id + 1; id <= last_id; id++) {
        p->naks_left--;
        if (is_implied(other, id, acked_id, is_first)) {
            ue_tracker_report_ack(p, id, false);
        }
    }
}

void ue_tracker_mark_unreported(struct ue_tracker_side *other, int64_t last_id) {
    other->unread_id = last_id > other->unread_id ? last_id : other->unread_id;
}

/* Reports the acks and naks of all packets up to the newest, oldest first (protocol.md 6). before: the newest ack of
   earlier packets. is_continuous: no packet since the last one with acks is missing or unread. */
static void report_history(struct ue_tracker_step *p, const struct ue_packet *packet, int64_t before, int64_t newest,
                           bool is_continuous) {
    struct ue_tracker_side *other = &p->tracker->sides[!p->in->side];
    bool is_first = !other->has_reported;
    other->acked_first_id = is_first ? newest : other->acked_first_id;
    ue_tracker_begin_acks(other, before);
    p->may_repeat_acks = !is_continuous;
    p->are_acks_the_first = is_first && !p->tracker->sides[p->in->side].has_first;
    int64_t reach = ue_history_reach(packet);
    bool is_whole = is_continuous && !p->are_acks_the_first; /* no other packet can have reported what this does not */
    if (is_whole) {
        ue_tracker_report_naks(p, newest - reach, newest, is_first);
    } else {
        ue_tracker_mark_unreported(other, newest - (int64_t)packet->history_words * 32);
    }
    int64_t new_acks = newest - other->reported_id;
    for (int64_t age = (new_acks < reach ? new_acks : reach) - 1; age >= 0; age--) {
        if (UE_UNLIKELY(!is_whole) && !ue_history_covers(packet, (uint32_t)age)) {
            continue;
        }
        ue_tracker_report_ack(p, newest - age, ue_history_reports(packet, (uint32_t)age));
    }
    other->reported_id = newest > other->reported_id ? newest : other->reported_id;
}

/* ---- acks of packets that are not known to be sent ---- */

/* The header of a packet may be damaged or forged, and a capture may lack packets: acks that are far ahead of all known
   packets are held until their sender acknowledges more, or takes them back. If it received a packet with a damaged
   sequence, it does neither, because it drops the packets that follow. */
static void hold(const struct ue_tracker_step *p, struct ue_tracker_side *other, int64_t before, int64_t newest) {
    const struct ue_tracked_packet *packet = ue_tracker_find_packet(other, newest);
    other->held = (struct ue_held_acks){.packet = *p->packet,
                                        .frame = p->in->frame,
                                        .time_ns = p->in->time_ns,
                                        .packet_id = p->packet_id,
                                        .sent_id = newest - ue_packet_acks_ahead(other, newest),
                                        .before_id = before,
                                        .newest_id = newest,
                                        .is_held = true,
                                        .is_seen = packet != NULL && packet->is_seen};
    other->held.packet.extra = (struct ue_view){0}; /* it points into the datagram */
}

bool ue_packet_acks_hold_ack(const struct ue_tracker_side *side, int64_t id) {
    const struct ue_held_acks *held = &side->held;
    int64_t age = held->newest_id - id;
    return held->is_held && age >= 0 && age < (int64_t)ue_history_reach(&held->packet) &&
           ue_history_reports(&held->packet, (uint32_t)age);
}

void ue_packet_acks_follow(struct ue_tracker_side *side, int64_t id) {
    struct ue_held_acks *held = &side->held;
    held->is_followed |=
        held->is_held && !held->is_seen && id > held->sent_id && held->newest_id - id > UE_TRACKER_LATE_MAX;
}

/* Reports held acks as of when they were captured. The packets before them may not have been captured, and those
   between may have reported packets, too. */
static void report_held(struct ue_tracker_step *p, const struct ue_held_acks *held) {
    struct ue_tracker_datagram in = *p->in;
    struct ue_tracker_step then = *p;
    in.frame = held->frame;
    in.time_ns = held->time_ns;
    then.in = &in;
    then.packet_id = held->packet_id;
    report_history(&then, &held->packet, held->before_id, held->newest_id, false);
    p->naks_left = then.naks_left;
}

/* A receiver never takes an ack back. If it does, and the other side continues far before the acknowledged packet, that
   packet was never sent. */
static void resolve_held(struct ue_tracker_step *p, struct ue_held_acks *held, int64_t newest) {
    int64_t step = newest - held->newest_id;
    if (step > 0 && step <= UE_TRACKER_STEP_MAX && !held->is_taken_back) {
        held->is_held = false;
        report_held(p, held);
        return;
    }
    held->is_taken_back |= step < -UE_TRACKER_LATE_MAX;
    if (held->is_taken_back && held->is_followed) {
        held->is_held = false;
        ue_tracker_emit(
            p, &(struct ue_observed_event){
                   .type = UE_OBSERVED_NEVER_SENT,
                   .never_sent = {.first_id = held->sent_id + 1, .last_id = held->newest_id, .frame = held->frame}});
    }
}

/* Two packets agree on an ack far from the first. If nothing of the other side was captured so far, the header of the
   first was damaged. */
static bool was_first_damaged(const struct ue_tracker_side *other) {
    return !other->has_newest && other->counts.acked + other->counts.nacked <= UE_HISTORY_REACH;
}

void ue_packet_acks_handle_header(struct ue_tracker_step *p, const struct ue_packet *packet) {
    struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    struct ue_tracker_side *other = &p->tracker->sides[!p->in->side];
    const struct ue_packet_ids *packet_ids = p->in->packet_ids;
    int64_t newest = ue_tracker_acked_id(other, packet->ack);
    uint16_t acked_before = packet_ids->has_acked_before ? packet_ids->acked_before : packet->ack;
    int64_t before = ue_seq_expand(acked_before, newest, UE_PACKET_SEQ_MAX);
    if (UE_UNLIKELY(other->held.is_held) && !p->is_late) {
        resolve_held(p, &other->held, newest);
    }
    if (UE_UNLIKELY(ue_packet_acks_ahead(other, newest) > UE_TRACKER_LATE_MAX)) {
        bool is_held = other->held.is_held && other->held.newest_id == newest;
        if (!is_held) {
            hold(p, other, before, newest);
        }
        if (!is_held || !was_first_damaged(other)) {
            return;
        }
        other->held.is_held = other->has_reported = false;
    }
    /* Packets that are missing or could not be read may have reported packets that this one does not. */
    bool is_continuous = side->unread_since_ack == 0 && side->missing_since_ack == 0;
    if (UE_UNLIKELY(!is_continuous) && !p->is_late && other->has_reported && newest > other->reported_id) {
        ue_first_acks_hold(p, other->reported_id + 1, newest);
    }
    report_history(p, packet, before, newest, is_continuous);
    if (!p->is_late) {
        side->unread_since_ack = side->missing_since_ack = 0;
    }
    ue_tracker_store_ack(p, packet->ack);
    ue_first_acks_decide(p);
}
