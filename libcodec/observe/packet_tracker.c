/* SPDX-License-Identifier: MIT */
#include <uerudp/history.h>
#include <uerudp/seq.h>
#include <uerudp/time_ns.h>
#include "libcodec/base/fnv1a.h"
#include "libcodec/observe/tracker_state.h"

#include <string.h>

/* ---- packets ---- */

static void expand_again(const struct ue_tracker_side *side, int64_t *id) {
    *id = ue_seq_expand(ue_seq_of(*id), side->newest_id, UE_PACKET_SEQ_MAX);
}

/* Initialises the ids of a side with its first packet, and expands the acks of earlier packets relative to it. */
static void init_ids(struct ue_tracker_side *side, int64_t id) {
    int64_t step = id - side->newest_id;
    if (side->has_newest && (step > UE_TRACKER_STEP_MAX || step < -UE_TRACKER_STEP_MAX)) {
        side->has_newest = side->has_first = false;
        side->opaque_count = 0;
        side->has_reported = side->counts.acked + side->counts.nacked != 0; /* by packets after the handshake */
    }
    if (!side->has_newest) {
        side->newest_id = side->first_id = id - 1;
        side->has_newest = true;
    }
    side->earliest_id = side->first_id;
    if (!side->has_first) {
        side->shown_id = side->freed_id = side->unread_id = side->first_id - 1;
        side->awaited_id = side->hidden_id = side->first_id;
    }
    if (side->has_reported) {
        expand_again(side, &side->reported_id);
        side->confirmed_id = side->reported_id;
        expand_again(side, &side->acked_first_id);
        expand_again(side, &side->unreported_id);
    }
    if (side->held.is_held) {
        expand_again(side, &side->held.sent_id);
        expand_again(side, &side->held.before_id);
        expand_again(side, &side->held.newest_id);
    }
}

/* The first packet of a session shows the first sequences of both sides (protocol.md 5.7). */
static void learn_opening(const struct ue_tracker_step *p, const struct ue_packet *packet) {
    struct ue_tracker_side *sides = p->tracker->sides;
    if (p->in->packet_ids->begins_session && sides[0].counts.packets + sides[1].counts.packets == 0) {
        ue_handshake_tracker_init_side(&sides[p->in->side], packet->seq);
        ue_handshake_tracker_init_side(&sides[!p->in->side], ue_seq_of(packet->ack + 1));
    }
}

/* Reports of missing packets that have reached their sender end the wait for retransmissions: it sends them at once. */
static void end_wait(struct ue_tracker_side *side) {
    if (side->awaited_id <= side->shown_id) {
        side->awaited_id = UE_TRACKER_NO_ID;
        side->freed_id = side->shown_id;
    }
}

/* Marks the ids before this packet as ids that opaque packets may have. */
static void mark_opaque(struct ue_tracker_step *p, struct ue_tracker_side *side) {
    int64_t id = p->packet_id - UE_TRACKER_PACKETS_MAX;
    for (id = id > side->newest_id ? id : side->newest_id + 1; id < p->packet_id; id++) {
        struct ue_tracked_packet *packet = ue_tracker_ensure_packet(p->tracker, side, id);
        if (packet != NULL) {
            packet->is_opaque = true;
        }
    }
}

static void remove_missing(struct ue_tracker_side *side, uint32_t count) {
    struct ue_tracker_counts *counts = &side->counts;
    counts->missing -= count < counts->missing ? count : counts->missing;
    counts->missing_damaged = counts->missing_damaged < counts->missing ? counts->missing_damaged : counts->missing;
}

/* Gives opaque packets their places: first among the `count` ids before this packet, then among earlier missing ones,
   because they are late. Those that remain are later than this packet, or duplicates. Returns how many of the `count`
   ids are theirs. */
static uint32_t place_opaque(struct ue_tracker_step *p, struct ue_tracker_side *side, uint32_t count) {
    uint32_t placed = count < side->opaque_count ? count : side->opaque_count;
    side->opaque_count -= placed;
    if (placed != 0) {
        mark_opaque(p, side);
    }
    uint32_t late = side->opaque_count < side->recent_missing ? side->opaque_count : side->recent_missing;
    side->opaque_count -= late;
    side->recent_missing -= late;
    remove_missing(side, late);
    if (p->packet_id - side->opaque_id > UE_TRACKER_LATE_MAX) {
        side->opaque_count = 0;
    }
    return placed;
}

static void count_missing(struct ue_tracker_step *p, struct ue_tracker_side *side, uint32_t count) {
    if (p->packet_id - side->recent_id > UE_TRACKER_LATE_MAX) {
        side->recent_missing = 0;
    }
    side->recent_missing += count;
    side->recent_id = p->packet_id;
    side->counts.missing += count;
}

/* The packet is far ahead of its predecessors. */
static void begin_jump(const struct ue_tracker_step *p, struct ue_tracker_side *side, uint32_t missing,
                       uint32_t damaged) {
    side->jump_id = p->packet_id;
    side->jump_from = side->newest_id;
    side->jump_missing = missing;
    side->jump_damaged = damaged;
    side->jump_hash = ue_fnv1a_hash(p->in->bytes, p->in->size_bytes);
}

static void report_lost(struct ue_tracker_step *p, struct ue_tracker_side *side) {
    int64_t count = p->packet_id - side->newest_id - 1;
    uint32_t gap = count > 0 ? (uint32_t)count : 0, placed = 0, damaged = side->damaged_count;
    side->damaged_count = count < 0 ? damaged : 0; /* a late packet does not end the gap */
    side->missing_since_ack += gap;                /* also packets that were captured before, but perhaps damaged */
    gap -= UE_UNLIKELY(side->retracted != NULL) ? ue_retracted_jumps_place(p, side) : 0;
    if (UE_UNLIKELY(side->opaque_count != 0)) {
        placed = place_opaque(p, side, gap);
        side->missing_since_ack -= placed;
    }
    uint32_t missing = gap - placed;
    damaged = damaged < missing ? damaged : missing;
    if (count >= UE_TRACKER_LATE_MAX && placed == 0) {
        begin_jump(p, side, missing, damaged);
    }
    if (missing != 0) {
        count_missing(p, side, missing);
        side->counts.missing_damaged += damaged;
        side->awaited_id = p->packet_id - 1;
        ue_tracker_emit(p, &(struct ue_observed_event){.type = UE_OBSERVED_LOST,
                                                       .lost = {side->newest_id + 1, p->packet_id - 1,
                                                                .missing = missing, .damaged = damaged}});
    }
}

/* A later packet far below a jump shows that no packets were lost there: the id before the jump was damaged, or its
   packet came too early. */
static void retract_jump(struct ue_tracker_step *p, struct ue_tracker_side *side) {
    int64_t id = p->packet_id;
    if (side->newest_id != side->jump_id || id <= side->jump_from || side->jump_id - id <= UE_TRACKER_LATE_MAX) {
        return;
    }
    struct ue_observed_event event = {.type = UE_OBSERVED_NOT_LOST,
                                      .lost = {.first_id = side->jump_from + 1, .last_id = side->jump_id - 1}};
    struct ue_retracted_jump jump = {.id = side->jump_id, .hash = side->jump_hash};
    uint32_t count = (uint32_t)(side->jump_id - side->jump_from - 1);
    struct ue_tracked_packet *packet = ue_tracker_find_packet(side, side->jump_id);
    if (packet != NULL) {
        event.lost.jump_frame = jump.frame = packet->frame;
        jump.points = ue_tracker_points(side, side->jump_id);
        ue_tracker_remove_packet(p->tracker, side, side->jump_id);
    }
    ue_retracted_jumps_add(p->tracker, side, &jump);
    side->counts.missing_damaged -=
        side->jump_damaged < side->counts.missing_damaged ? side->jump_damaged : side->counts.missing_damaged;
    side->damaged_count += side->jump_damaged; /* the gap before the jump is still open */
    remove_missing(side, side->jump_missing);
    side->recent_missing = 0;
    side->missing_since_ack -= count < side->missing_since_ack ? count : side->missing_since_ack;
    ue_tracker_retreat(side, side->jump_from);
    side->jump_from = side->jump_id; /* it cannot be retracted again */
    side->jump_damaged = 0;
    side->awaited_id = side->awaited_id > side->newest_id ? side->newest_id : side->awaited_id;
    ue_tracker_emit(p, &event);
}

/* The id of a late packet is not that of the opaque packet that seemed to have it. Returns whether the late packet
   counts as missing: then another missing packet is the opaque one. */
static bool replace_opaque(struct ue_tracker_side *side, struct ue_tracked_packet *packet, int64_t id) {
    packet->is_opaque = false;
    if (ue_retracted_jumps_find(side, id) != NULL) {
        return false; /* it never counted */
    }
    if (side->recent_missing != 0) {
        return true;
    }
    side->opaque_count++;
    side->opaque_id = side->newest_id;
    return false;
}

/* Whether a packet that was not seen before is late. */
static bool was_skipped(const struct ue_tracker_side *side, const struct ue_tracked_packet *packet, int64_t id) {
    return packet != NULL && id <= side->newest_id && id > side->first_id;
}

static uint32_t packets_in_flight(const struct ue_tracker_side *side) {
    int64_t count = side->newest_id - side->reported_id;
    return side->has_reported && count > 0 ? (uint32_t)count : 0;
}

/* Remembers that the packet was captured here, too, unless there is no memory. */
static void add_point(struct ue_tracker_step *p, struct ue_packet_block *block) {
    block->other_points = ue_packet_block_ensure_array(p->tracker, block->other_points, sizeof *block->other_points);
    if (block->other_points != NULL) {
        block->other_points[ue_packet_block_place(p->packet_id)] |= ue_tracker_point_bit(p);
    }
}

/* Reports the first capture of a packet here that was captured first at another capture point, for example at the other
   end. Returns whether it is one. */
static bool handle_other_view(struct ue_tracker_step *p, const struct ue_tracker_side *side,
                              struct ue_retracted_jump *first) {
    const struct ue_tracked_packet *packet = ue_tracker_find_packet(side, p->packet_id);
    bool is_seen = packet != NULL && packet->is_seen;
    uint32_t bit = ue_tracker_point_bit(p);
    uint64_t frame = 0;
    bool is_other = false;
    if (is_seen) {
        is_other = (ue_tracker_points(side, p->packet_id) & bit) == 0;
        frame = packet->frame;
        if (is_other) {
            add_point(p, ue_tracker_find_block(side, p->packet_id));
        }
    } else if (first != NULL) {
        is_other = (first->points & bit) == 0;
        frame = first->frame;
        first->points |= bit;
    }
    if (is_other) {
        ue_tracker_emit(p, &(struct ue_observed_event){.type = UE_OBSERVED_OTHER_VIEW, .other_view = {frame}});
    }
    return is_other;
}

/* Stores the packet and classifies it as new, late or duplicate. first: the retracted jump that it is a copy of. */
static void classify(struct ue_tracker_step *p, struct ue_tracker_side *side, const struct ue_retracted_jump *first,
                     struct ue_observed_packet *event) {
    int64_t id = p->packet_id;
    struct ue_tracked_packet *packet = ue_tracker_find_packet(side, id);
    bool is_seen = packet != NULL && packet->is_seen;
    event->is_duplicate = ue_tracker_was_seen(side, id) || is_seen || first != NULL;
    event->first_frame = !event->is_duplicate ? 0 : is_seen ? packet->frame : first != NULL ? first->frame : 0;
    event->is_late = !event->is_duplicate && id <= side->newest_id;
    event->is_refused = event->is_late && ue_tracker_is_not_delivered(side, id);
    side->counts.packets++;
    side->counts.duplicates += event->is_duplicate;
    side->counts.late += event->is_late;
    if (event->is_duplicate) {
        return;
    }
    packet = ue_tracker_ensure_packet(p->tracker, side, id);
    event->was_acked_unseen = packet != NULL && packet->is_acked_unseen;
    if (was_skipped(side, packet, id) && (!packet->is_opaque || replace_opaque(side, packet, id))) {
        remove_missing(side, 1);
        side->recent_missing -= side->recent_missing != 0;
        side->jump_from = id > side->jump_from ? side->jump_id : side->jump_from; /* confirms the jump */
    }
    if (packet != NULL) {
        event->report_frame = packet->is_seen ? 0 : packet->frame;
        event->is_reported_delivered = packet->state == UE_TRACKER_PACKET_DELIVERED;
        packet->is_seen = true;
        packet->point = p->in->point % UE_TRACKER_POINTS;
        packet->frame = p->in->frame & UE_TRACKER_FRAME_MASK;
        packet->time_ns = p->in->time_ns;
        packet->state = packet->state == UE_TRACKER_PACKET_UNKNOWN ? UE_TRACKER_PACKET_PENDING : packet->state;
    }
    ue_tracker_advance(side, id);
    side->earliest_id = id <= side->earliest_id ? id - 1 : side->earliest_id;
}

/* A packet can be tracked when its id is known and was read at the header position of this context. */
static bool has_id(const struct ue_tracker_step *p, const struct ue_packet *packet) {
    const struct ue_packet_ids *packet_ids = p->in->packet_ids;
    return packet_ids->has_id &&
           (ue_seq_of(packet_ids->packet_id) == packet->seq || p->in->context->settings.internal_ack);
}

/* The acks or bunches of a packet are not known. */
static void mark_unread(struct ue_tracker_side *side, int64_t id) {
    side->unreadable_id = !side->has_unread || id > side->unreadable_id ? id : side->unreadable_id;
    side->has_unread = true;
}

/* The acks of a packet are not known: it may have acknowledged all packets of the other side. */
static void mark_acks_unread(struct ue_tracker_step *p) {
    struct ue_tracker_side *other = &p->tracker->sides[!p->in->side];
    p->tracker->sides[p->in->side].unread_since_ack++;
    if (other->has_newest) {
        ue_tracker_mark_unreported(other, other->newest_id);
    }
}

static void handle_opaque(struct ue_tracker_step *p) {
    struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    side->counts.opaque++;
    mark_acks_unread(p);
    side->last_ns = p->in->time_ns;
    if (side->has_newest) {
        side->opaque_count++;
        side->opaque_id = side->newest_id;
        mark_unread(side, side->newest_id + side->opaque_count);
    }
    ue_tracker_emit(p, &(struct ue_observed_event){.type = UE_OBSERVED_OPAQUE});
    ue_handshake_tracker_follow(p);
}

static void handle_packet(void *user, const struct ue_packet *packet) {
    struct ue_tracker_step *p = user;
    struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    if (!has_id(p, packet)) {
        side->damaged_count++;
        return;
    }
    p->packet_id = p->in->packet_ids->packet_id;
    struct ue_retracted_jump *first = side->retracted != NULL ? ue_retracted_jumps_find_copy(p, side) : NULL;
    if (handle_other_view(p, side, first)) {
        return;
    }
    p->packet = packet;
    learn_opening(p, packet);
    bool is_first = side->counts.packets == 0;
    if (is_first) {
        init_ids(side, p->packet_id);
    }
    end_wait(side);
    if (first == NULL) {
        retract_jump(p, side);
        ue_packet_acks_follow(side, p->packet_id);
        report_lost(p, side);
    }
    struct ue_observed_event event = {.type = UE_OBSERVED_PACKET,
                                      .packet = {.decoded = packet, .prefix = &p->head->prefix}};
    classify(p, side, first, &event.packet);
    event.packet.in_flight = packets_in_flight(side);
    side->last_ns = p->in->time_ns;
    p->is_tracked = !event.packet.is_duplicate;
    p->is_late = event.packet.is_late;
    ue_tracker_emit(p, &event);
    if (!p->is_tracked) {
        return;
    }
    if (UE_UNLIKELY(p->tracker->restart != UE_TRACKER_NO_RESTART) && !p->is_late) {
        ue_handshake_tracker_follow(p);
    }
    if (p->in->context->settings.internal_ack) {
        return; /* nothing is acknowledged */
    }
    if (p->in->context->profile.packet == UE_PACKET_LEGACY) {
        ue_legacy_acks_follow(p);
        if (!p->is_late) { /* else its own acks, which follow, may be what is missing */
            ue_legacy_acks_correct(p);
        }
    } else {
        ue_packet_acks_handle_header(p, packet);
    }
}

/* ---- datagrams ---- */

static void handle_item(void *user, const struct ue_item *item) {
    struct ue_tracker_step *p = user;
    if (!p->is_tracked) {
        return;
    }
    if (item->is_ack) {
        ue_legacy_acks_handle_ack(p, &item->ack);
    } else {
        ue_channel_tracker_handle_bunch(p, &item->bunch);
    }
    p->item++;
}

static void handle_items(struct ue_tracker_step *p, struct ue_item_range *rest) {
    struct ue_observed_items own;
    struct ue_observed_items *items = p->callbacks->items != NULL ? p->callbacks->items : &own;
    struct ue_fault fault = {0};
    size_t batches = 0;
    items->count = 0;
    for (; p->is_tracked && fault.status == UE_OK && rest->bit < rest->end_bit; batches++) {
        items->count =
            ue_datagram_next(p->in->context, p->in->bytes, rest, items->items, UE_OBSERVED_ITEMS_MAX, &fault);
        for (size_t i = 0; i < items->count; i++) {
            handle_item(p, &items->items[i]);
        }
    }
    items->is_whole = batches <= 1 && fault.status == UE_OK && rest->bit == rest->end_bit;
}

/* Encrypted content is processed if the context has a decryptor. */
static void handle_encrypted(struct ue_tracker_step *p) {
    struct ue_visitor visitor = {.packet = handle_packet, .item = handle_item, .user = p};
    struct ue_decode_result result;
    ue_datagram_decode(p->in->context, p->in->bytes, p->in->size_bytes, NULL, &visitor, &result);
    if (result.closed_by != UE_HANDLER_NONE) {
        handle_opaque(p);
    }
}

/* ---- cut datagrams ---- */

/* The items whose header is captured; `rest` ends after them. */
static void handle_captured_items(struct ue_tracker_step *p, struct ue_item_range *rest) {
    struct ue_item item;
    struct ue_fault fault;
    struct ue_item_range next = *rest;
    while (p->is_tracked && next.bit < rest->end_bit &&
           ue_datagram_next(p->in->context, p->in->bytes, &next, &item, 1, &fault) == 1) {
        size_t header_end = next.bit - (item.is_ack ? 0 : item.bunch.data.bits);
        if (header_end > p->captured_bits) {
            break;
        }
        p->is_bunch_cut = next.bit > p->captured_bits;
        handle_item(p, &item);
        *rest = next;
    }
}

/* The captured part of a datagram; as of an opaque packet, if its id is beyond the cut or not known. */
static void handle_cut(struct ue_tracker_step *p, struct ue_item_range *rest, bool has_head) {
    struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    const struct ue_packet *packet = &p->head->packet;
    bool is_opaque = !has_head || rest->bit > p->captured_bits || p->head->handlers.is_opaque || !has_id(p, packet);
    if (is_opaque) {
        handle_opaque(p);
        return;
    }
    handle_packet(p, packet);
    handle_captured_items(p, rest);
    bool is_limited = p->in->context->agreed_bits != 0;
    if (p->is_tracked && (is_limited || rest->bit + 8 < rest->end_bit)) { /* fewer bits are no item */
        mark_unread(side, p->packet_id);
        ue_packet_dependencies_add_hidden(p);
        if (p->in->context->profile.packet == UE_PACKET_LEGACY) {
            mark_acks_unread(p);
        }
    }
}

/* Decodes how the datagram begins, unless that is known. */
static enum ue_status begin(struct ue_tracker_step *p, struct ue_datagram_start *own, struct ue_item_range *rest) {
    const struct ue_tracker_datagram *datagram = p->in;
    struct ue_fault fault;
    if (datagram->start != NULL) {
        p->head = &datagram->start->datagram;
        *rest = datagram->start->rest;
        return UE_OK;
    }
    p->head = &own->datagram;
    return ue_datagram_begin(datagram->context, datagram->bytes, datagram->size_bytes, &own->datagram, rest, &fault);
}

void ue_tracker_feed(struct ue_tracker *tracker, const struct ue_tracker_datagram *datagram,
                     const struct ue_observer_callbacks *callbacks) {
    struct ue_tracker_step p = {.tracker = tracker,
                                .in = datagram,
                                .callbacks = callbacks,
                                .naks_left = UE_TRACKER_PACKETS_MAX,
                                .highest_ack = UE_TRACKER_NO_ID};
    struct ue_datagram_start own;
    struct ue_item_range rest;
    if (callbacks->items != NULL) {
        callbacks->items->is_whole = false;
    }
    enum ue_status status = begin(&p, &own, &rest);
    if (UE_UNLIKELY(datagram->is_cut)) {
        size_t agreed_bits = datagram->context->agreed_bits, captured_bits = datagram->captured_bytes * 8;
        p.captured_bits = agreed_bits != 0 && agreed_bits < captured_bits ? agreed_bits : captured_bits;
        if (!p.head->prefix.is_handshake) {
            handle_cut(&p, &rest, status == UE_OK);
        }
        return;
    }
    if (status != UE_OK) {
        tracker->sides[datagram->side].damaged_count++;
        return;
    }
    if (p.head->prefix.is_handshake) {
        ue_handshake_tracker_handle(&p);
    } else if (p.head->handlers.is_opaque) {
        handle_encrypted(&p);
    } else {
        tracker->is_legacy = datagram->context->profile.packet == UE_PACKET_LEGACY;
        handle_packet(&p, &p.head->packet);
        handle_items(&p, &rest);
    }
}
