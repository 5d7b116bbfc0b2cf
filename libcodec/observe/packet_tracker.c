/* SPDX-License-Identifier: MIT */
#include <uerudp/history.h>
#include <uerudp/seq.h>
#include <uerudp/time_ns.h>
#include "libcodec/observe/tracker_state.h"

#include <string.h>

/* A first packet further from where the handshake lets it begin disproves what was taken for a handshake. */
#define FIRST_STEP_MAX 1024

/* Packets overtake others by less; whatever comes from further back proves a jump ahead wrong. */
#define LATE_MAX 64

static int64_t span_ns(int64_t from_ns, int64_t to_ns) {
    return to_ns > from_ns ? ue_time_ns_since(to_ns, from_ns) : 0;
}

/* ---- handshakes ---- */

static bool has_handshake(const struct ue_tracker *track, enum ue_handshake_type type) {
    return type < UE_HANDSHAKE_TYPE_UNKNOWN && (track->handshakes >> type & 1) != 0;
}

/* The message that one of this type answers; UE_HANDSHAKE_TYPE_UNKNOWN: none, or it is not known. */
static enum ue_handshake_type question_of(const struct ue_tracker *track, const struct ue_handshake *handshake) {
    switch (handshake->type) {
    case UE_HANDSHAKE_INITIAL: return handshake->restart ? UE_HANDSHAKE_RESTART_REQUEST : UE_HANDSHAKE_TYPE_UNKNOWN;
    case UE_HANDSHAKE_CHALLENGE:
    case UE_HANDSHAKE_VERSION_UPGRADE: return UE_HANDSHAKE_INITIAL;
    case UE_HANDSHAKE_RESPONSE:
    case UE_HANDSHAKE_RESTART_RESPONSE: return UE_HANDSHAKE_CHALLENGE;
    case UE_HANDSHAKE_ACK: return track->is_restarting ? UE_HANDSHAKE_RESTART_RESPONSE : UE_HANDSHAKE_RESPONSE;
    case UE_HANDSHAKE_RESTART_REQUEST:
    case UE_HANDSHAKE_TYPE_UNKNOWN: break;
    }
    return UE_HANDSHAKE_TYPE_UNKNOWN;
}

static int64_t answer_ns(const struct ue_tracker_step *p) {
    const struct ue_tracker *track = p->track;
    enum ue_handshake_type question = question_of(track, &p->head.handshake);
    return has_handshake(track, question) ? span_ns(track->handshake_ns[question], p->in->time_ns) : -1;
}

static void begin_side(struct ue_tracker_side *side, uint16_t first_seq) {
    side->first_seq = first_seq;
    side->newest_id = side->first_id = side->judged_id = side->learned_id = (int64_t)first_seq - 1;
    side->has_first = side->has_newest = side->has_judged = true;
}

/* The cookie gives the first sequences of both sides (protocol.md 5.7), but not up to 4.17 and not when restarting. */
static void learn_sequences(struct ue_tracker_step *p) {
    const struct ue_handshake *handshake = &p->head.handshake;
    struct ue_tracker_side *sides = p->track->sides;
    enum ue_direction sender = ue_handshake_sender(handshake->type);
    bool is_bare = p->in->context->profile.handshake == UE_HANDSHAKE_A0 || !handshake->has_body || handshake->restart;
    if (is_bare || p->track->is_restarting || p->in->context->restarting || sender == UE_DIRECTION_UNKNOWN ||
        handshake->type == UE_HANDSHAKE_INITIAL || sides[0].counts.packets + sides[1].counts.packets != 0) {
        return;
    }
    unsigned server = sender == UE_SERVER_TO_CLIENT ? p->in->side : !p->in->side;
    struct ue_sequences first = ue_cookie_sequences(handshake->cookie);
    begin_side(&sides[server], first.server);
    begin_side(&sides[!server], first.client);
}

static void follow_restart(struct ue_tracker_step *p) {
    const struct ue_handshake *handshake = &p->head.handshake;
    struct ue_tracker *track = p->track;
    if (handshake->type == UE_HANDSHAKE_INITIAL) {
        track->is_restarting = handshake->restart;
    } else if (handshake->type == UE_HANDSHAKE_RESTART_RESPONSE) {
        track->is_restarting = true;
    } else if (handshake->type == UE_HANDSHAKE_ACK && track->is_restarting) {
        track->is_restarting = false;
        ue_tracker_emit(p, &(struct ue_tracker_event){.type = UE_TRACKER_RESTARTED});
    }
}

static void take_handshake(struct ue_tracker_step *p) {
    struct ue_tracker *track = p->track;
    enum ue_handshake_type type = p->head.handshake.type;
    track->sides[p->in->side].counts.handshakes++;
    struct ue_tracker_event event = {.type = UE_TRACKER_HANDSHAKE, .datagram = &p->head, .span_ns = answer_ns(p)};
    ue_tracker_emit(p, &event);
    learn_sequences(p);
    follow_restart(p);
    if (type < UE_HANDSHAKE_TYPE_UNKNOWN) {
        track->handshakes |= (uint8_t)(1u << type);
        track->handshake_ns[type] = p->in->time_ns;
    }
}

/* ---- packets ---- */

/* The entry of a packet, made where there is none; NULL: a newer one has its place, or there is no memory. */
static struct ue_tracked_packet *remember(struct ue_tracker *track, struct ue_tracker_side *side, int64_t id) {
    struct ue_tracked_packet *packet = ue_tracker_window_ensure(track, &side->packets, sizeof *packet, id);
    if (packet == NULL) {
        side->counts.untracked++;
    } else if (packet->id != id) {
        *packet = (struct ue_tracked_packet){.id = id};
    }
    return packet;
}

/* What the first packet of a side settles: where it begins, and in which cycle the verdicts on it were given. */
static void begin_ids(struct ue_tracker_side *side, int64_t id) {
    int64_t step = id - side->newest_id;
    if (side->has_newest && (step > FIRST_STEP_MAX || step < -FIRST_STEP_MAX)) {
        side->has_newest = side->has_first = false;
        side->has_judged = side->counts.acked + side->counts.nacked != 0; /* by packets since */
    }
    if (!side->has_newest) {
        side->newest_id = side->first_id = id - 1;
        side->has_newest = true;
    }
    side->earliest_id = side->first_id;
    if (side->has_judged) {
        side->judged_id = ue_seq_expand(ue_seq_of(side->judged_id), side->newest_id, UE_PACKET_SEQ_MAX);
        side->learned_id = side->judged_id;
    }
}

static void tell_missing(struct ue_tracker_step *p, struct ue_tracker_side *side) {
    int64_t count = p->packet_id - side->newest_id - 1;
    if (count >= LATE_MAX) {
        side->jump_id = p->packet_id;
        side->jump_from = side->newest_id;
    }
    if (count > 0) {
        side->counts.missing += (uint64_t)count;
        side->hole += (uint32_t)count;
        ue_tracker_emit(p, &(struct ue_tracker_event){
                             .type = UE_TRACKER_LOST, .packet_id = side->newest_id + 1, .last_id = p->packet_id - 1});
    }
}

/* A damaged number leads far ahead; then nothing was missing there, and that packet was another one. */
static void disprove_jump(struct ue_tracker_step *p, struct ue_tracker_side *side) {
    int64_t id = p->packet_id;
    if (side->newest_id != side->jump_id || id <= side->jump_from || side->jump_id - id <= LATE_MAX) {
        return;
    }
    struct ue_tracker_event event = {
        .type = UE_TRACKER_NOT_LOST, .packet_id = side->jump_from + 1, .last_id = side->jump_id - 1};
    uint32_t count = (uint32_t)(side->jump_id - side->jump_from - 1);
    struct ue_tracked_packet *packet = ue_tracker_find_packet(side, side->jump_id);
    if (packet != NULL) {
        event.other_frame = packet->frame;
        packet->id = UE_TRACKER_NO_ID;
    }
    side->counts.missing -= count;
    side->hole -= count < side->hole ? count : side->hole;
    side->newest_id = side->jump_from;
    ue_tracker_emit(p, &event);
}

/* Late, and proven not to have been there: one of those that count as missing. */
static bool was_missing(const struct ue_tracker_side *side, const struct ue_tracked_packet *packet, int64_t id) {
    return packet != NULL && !packet->is_seen && id <= side->newest_id && id > side->first_id;
}

static uint32_t packets_in_flight(const struct ue_tracker_side *side) {
    int64_t count = side->newest_id - side->judged_id;
    return side->has_judged && count > 0 ? (uint32_t)count : 0;
}

/* Enters the packet, and says what it is: new, late, or a duplicate. */
static void enter(struct ue_tracker_step *p, struct ue_tracker_side *side, struct ue_tracker_event *event) {
    int64_t id = p->packet_id;
    struct ue_tracked_packet *packet = remember(p->track, side, id);
    event->is_duplicate = packet != NULL && packet->is_seen;
    event->other_frame = event->is_duplicate ? packet->frame : 0;
    event->is_late = !event->is_duplicate && id <= side->newest_id;
    side->counts.packets++;
    side->counts.duplicates += event->is_duplicate;
    side->counts.late += event->is_late;
    if (was_missing(side, packet, id)) {
        side->counts.missing--;
        side->jump_from = side->jump_id; /* it was one */
    }
    if (packet != NULL && !packet->is_seen) {
        packet->is_seen = true;
        packet->frame = p->in->frame;
        packet->time_ns = p->in->time_ns;
        packet->fate = packet->fate == UE_TRACKER_PACKET_UNKNOWN ? UE_TRACKER_PACKET_PENDING : packet->fate;
    }
    side->newest_id = id > side->newest_id ? id : side->newest_id;
    side->earliest_id = id <= side->earliest_id ? id - 1 : side->earliest_id;
}

/* Without a number it cannot be followed; one that was read at another place is none (see flow.h). */
static bool has_id(const struct ue_tracker_step *p, const struct ue_packet *packet) {
    const struct ue_packet_ids *links = p->in->links;
    return links->has_id && ue_seq_of(links->packet_id) == packet->seq;
}

static void take_history(struct ue_tracker_step *p, const struct ue_packet *packet);

static void take_packet(void *user, const struct ue_packet *packet) {
    struct ue_tracker_step *p = user;
    struct ue_tracker_side *side = &p->track->sides[p->in->side];
    if (!has_id(p, packet)) {
        return;
    }
    p->packet_id = p->in->links->packet_id;
    p->head.packet = *packet;
    bool is_first = side->counts.packets == 0;
    if (is_first) {
        begin_ids(side, p->packet_id);
    }
    disprove_jump(p, side);
    tell_missing(p, side);
    struct ue_tracker_event event = {.type = UE_TRACKER_PACKET, .packet_id = p->packet_id, .datagram = &p->head};
    event.span_ns = is_first ? -1 : span_ns(side->last_ns, p->in->time_ns);
    enter(p, side, &event);
    event.packets_in_flight = packets_in_flight(side);
    side->last_ns = p->in->time_ns;
    p->is_taken = !event.is_duplicate;
    p->is_late = event.is_late;
    ue_tracker_emit(p, &event);
    if (!p->is_taken) {
        return;
    }
    if (p->in->context->profile.packet == UE_PACKET_LEGACY) {
        ue_legacy_acks_correct(p);
    } else {
        take_history(p, packet);
    }
}

/* ---- verdicts ---- */

struct ue_tracked_packet *ue_tracker_report_ack(struct ue_tracker_step *p, int64_t id, bool delivered) {
    struct ue_tracker_side *other = &p->track->sides[!p->in->side];
    struct ue_tracked_packet *packet = remember(p->track, other, id);
    struct ue_tracker_event event = {
        .type = delivered ? UE_TRACKER_ACK : UE_TRACKER_NAK, .packet_id = id, .span_ns = -1};
    if (packet != NULL && packet->is_seen) {
        event.other_frame = packet->frame;
        event.span_ns = span_ns(packet->time_ns, p->in->time_ns);
    }
    if (packet != NULL) {
        event.is_withdrawn = !delivered && packet->fate == UE_TRACKER_PACKET_DELIVERED;
        packet->fate = delivered ? UE_TRACKER_PACKET_DELIVERED : UE_TRACKER_PACKET_NOT_DELIVERED;
        packet->was_acked |= delivered;
    }
    other->counts.acked += delivered;
    other->counts.nacked += !delivered;
    ue_tracker_emit(p, &event);
    return packet;
}

int64_t ue_tracker_acked_id(const struct ue_tracker_side *other, uint16_t seq) {
    int64_t reference = other->has_newest ? other->newest_id : seq;
    if (other->has_judged && (!other->has_newest || other->judged_id > reference)) {
        reference = other->judged_id;
    }
    return ue_seq_expand(seq, reference, UE_PACKET_SEQ_MAX);
}

bool ue_tracker_ack_is_plausible(struct ue_tracker_side *other, int64_t id) {
    bool is_jump = other->newest_id == other->jump_id && other->jump_id != other->jump_from;
    int64_t known = !other->has_newest ? id : is_jump ? other->jump_from : other->newest_id;
    known = other->has_judged && (!other->has_newest || other->judged_id > known) ? other->judged_id : known;
    if (id - known <= UE_HISTORY_REACH) {
        return true;
    }
    int64_t step = id - other->doubted_id;
    bool is_borne_out = other->has_doubted && step > 0 && step <= FIRST_STEP_MAX;
    other->doubted_id = id;
    other->has_doubted = true;
    return is_borne_out;
}

void ue_tracker_begin_acks(struct ue_tracker_side *other, int64_t judged_id) {
    if (!other->has_judged) {
        bool is_known = other->counts.packets != 0 && other->earliest_id < judged_id;
        other->judged_id = other->learned_id = is_known ? other->earliest_id : judged_id;
        other->has_judged = true;
    }
}

void ue_tracker_report_naks(struct ue_tracker_step *p, int64_t last_id, int64_t acked_id, bool is_doubtful) {
    const struct ue_tracker_side *other = &p->track->sides[!p->in->side];
    int64_t id = last_id - p->verdicts_left;
    for (id = id > other->judged_id ? id + 1 : other->judged_id + 1; id <= last_id; id++) {
        p->verdicts_left--;
        if (id > acked_id - UE_HISTORY_REACH || (other->has_newest && id <= other->newest_id)) {
            struct ue_tracked_packet *packet = ue_tracker_report_ack(p, id, false);
            if (packet != NULL) {
                packet->is_doubtful = is_doubtful;
            }
        }
    }
}

/* Modern packets: verdicts on all up to the newest, in the order of the receiver rule (protocol.md 6). */
static void take_history(struct ue_tracker_step *p, const struct ue_packet *packet) {
    struct ue_tracker_side *other = &p->track->sides[!p->in->side];
    const struct ue_packet_ids *links = p->in->links;
    int64_t newest = ue_tracker_acked_id(other, packet->ack);
    if (!ue_tracker_ack_is_plausible(other, newest)) {
        return;
    }
    uint16_t before = links->has_acked_before ? links->acked_before : packet->ack;
    ue_tracker_begin_acks(other, ue_seq_expand(before, newest, UE_PACKET_SEQ_MAX));
    int64_t reach = ue_history_reach(packet);
    ue_tracker_report_naks(p, newest - reach, newest, false);
    int64_t news = newest - other->judged_id;
    for (int64_t age = (news < reach ? news : reach) - 1; age >= 0; age--) {
        ue_tracker_report_ack(p, newest - age, ue_history_reports(packet, (uint32_t)age));
    }
    other->judged_id = newest > other->judged_id ? newest : other->judged_id;
}

/* ---- datagrams ---- */

static void take_item(void *user, const struct ue_item *item) {
    struct ue_tracker_step *p = user;
    if (!p->is_taken) {
        return;
    }
    if (item->is_ack) {
        ue_legacy_acks_handle_ack(p, &item->ack);
    } else {
        ue_channel_tracker_handle_bunch(p, &item->bunch);
    }
    p->item++;
}

UE_INLINE void each_reliable(const struct ue_tracker_step *p, const struct ue_item *items, size_t count,
                             void (*expect)(const struct ue_tracker_step *, const struct ue_bunch *, uint32_t before)) {
    uint32_t before = 0;
    for (size_t i = 0; i < count; i++) {
        if (!items[i].is_ack && items[i].bunch.reliable) {
            expect(p, &items[i].bunch, before++);
        }
    }
}

/* What is known of so many connections lies in memory that is far away: all of it is sent for before any is used. */
static void take_batch(struct ue_tracker_step *p, const struct ue_item *items, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!items[i].is_ack) {
            ue_channel_tracker_prefetch_channel(p, &items[i].bunch);
        }
    }
    if (p->sink->prefetch != NULL) {
        p->sink->prefetch(p->sink->user, items, count);
    }
    each_reliable(p, items, count, ue_channel_tracker_prefetch_bunches);
    each_reliable(p, items, count, ue_channel_tracker_prefetch_packets);
    for (size_t i = 0; i < count; i++) {
        take_item(p, &items[i]);
    }
}

static void take_items(struct ue_tracker_step *p, struct ue_item_range *rest) {
    struct ue_tracker_items own;
    struct ue_tracker_items *reading = p->in->reading != NULL ? p->in->reading : &own;
    struct ue_fault fault = {0};
    size_t batches = 0;
    reading->count = 0;
    for (; p->is_taken && fault.status == UE_OK && rest->bit < rest->end_bit; batches++) {
        reading->count =
            ue_items_decode(p->in->context, p->in->bytes, rest, reading->items, UE_TRACKER_ITEMS_MAX, &fault);
        take_batch(p, reading->items, reading->count);
    }
    reading->is_whole = batches <= 1 && fault.status == UE_OK && rest->bit == rest->end_bit;
}

/* Encrypted content is read only where somebody opens it. */
static void take_sealed(struct ue_tracker_step *p) {
    struct ue_visitor visitor = {.packet = take_packet, .item = take_item, .user = p};
    struct ue_decode_result verdict;
    ue_datagram_check(p->in->context, p->in->bytes, p->in->size_bytes, &visitor, &verdict);
}

void ue_tracker_feed(struct ue_tracker *track, const struct ue_tracker_datagram *datagram, const struct ue_tracker_callbacks *sink) {
    struct ue_tracker_step p = {.track = track, .in = datagram, .sink = sink, .verdicts_left = UE_TRACKER_PACKETS_MAX};
    struct ue_item_range rest;
    struct ue_fault fault;
    if (datagram->reading != NULL) {
        datagram->reading->is_whole = false;
    }
    enum ue_status status =
        ue_datagram_decode_head(datagram->context, datagram->bytes, datagram->size_bytes, &p.head, &rest, &fault);
    if (status != UE_OK) {
        return;
    }
    if (p.head.prefix.is_handshake) {
        take_handshake(&p);
    } else if (p.head.handlers.is_opaque) {
        take_sealed(&p);
    } else {
        const struct ue_packet packet = p.head.packet;
        take_packet(&p, &packet);
        take_items(&p, &rest);
    }
}

/* ---- life ---- */

struct ue_tracker *ue_tracker_new(const struct ue_allocator *memory) {
    struct ue_tracker *track = memory->resize(memory->user, NULL, sizeof *track);
    if (track != NULL) {
        *track = (struct ue_tracker){.budget = {*memory, sizeof *track, UE_TRACKER_BYTES_MAX}};
    }
    return track;
}

void ue_tracker_free(struct ue_tracker *track) {
    const struct ue_allocator memory = track->budget.memory;
    ue_channel_pages_free(&track->channels, &track->budget, sizeof(struct ue_tracked_channel));
    for (unsigned side = 0; side < 2; side++) {
        memory.resize(memory.user, track->sides[side].packets.entries, 0);
        memory.resize(memory.user, track->sides[side].ties.entries, 0);
        memory.resize(memory.user, track->sides[side].reliables.entries, 0);
    }
    memory.resize(memory.user, track, 0);
}

enum ue_tracker_packet_state ue_tracker_packet_state(const struct ue_tracker *track, unsigned side, int64_t packet_id) {
    const struct ue_tracked_packet *packet = ue_tracker_find_packet(&track->sides[side], packet_id);
    return packet != NULL ? (enum ue_tracker_packet_state)packet->fate : UE_TRACKER_PACKET_UNKNOWN;
}

const struct ue_tracker_counts *ue_tracker_counts(const struct ue_tracker *track, unsigned side) {
    return &track->sides[side].counts;
}

size_t ue_tracker_bytes(const struct ue_tracker *track) {
    return track->budget.bytes;
}
