/* SPDX-License-Identifier: MIT */
#include "libcodec/findings/findings_state.h"
#include "libcodec/observe/tracker_state.h"

/* ---- silence ---- */

/* Where packets were captured out of the order of time, or the clock was set back a little, it is not known whether a
   silence begins at the time of its first frame or at the latest time before. */
static struct ue_finding_value widened(struct ue_finding_value span_ns, const struct ue_last_packet *first) {
    span_ns.at_most += ue_time_ns_since(first->time_ns, first->own_ns);
    return span_ns;
}

/* A side that sent a message of a handshake meanwhile did not stop; a side whose packets are not in the capture may not
   have stopped. */
static void report_pause(const struct ue_findings *findings, const struct ue_observed_event *event,
                         const struct ue_last_packet *last) {
    const struct ue_silence_side *sides = findings->silence;
    if (sides[0].handshake_frame > last->frame || sides[1].handshake_frame > last->frame ||
        sides[!event->side].packets == 0) {
        return;
    }
    int64_t gap_ns = ue_time_ns_since(event->time_ns, last->time_ns);
    struct ue_finding finding = ue_finding_of_bounded_span(UE_FINDING_PAUSE, event->side,
                                                           widened((struct ue_finding_value)UE_EXACTLY(gap_ns), last),
                                                           last->frame, event->frame);
    ue_finding_set_time(&finding, last->time_ns);
    ue_findings_report(findings, &finding);
}

/* Whether this packet does not tell which ids are missing beside it: packets may have been lost between the newest one
   and a late one or a copy. */
static bool is_unsure(const struct ue_observed_event *event) {
    return event->type == UE_OBSERVED_OPAQUE || event->packet.is_late || event->packet.is_duplicate;
}

/* What a silence was in which no packet is missing, as far as the sender's clock shows: which part of it is longer, the
   time that passed before the next packet was sent, or the delay of that packet. */
static enum ue_finding_id silence_by_clock(int64_t sent_ms, int64_t gap_ns) {
    int64_t sent_ns = sent_ms * UE_NS_PER_MS;
    bool is_long = sent_ms >= UE_SEND_INTERVAL_LIMIT_MS || sent_ns >= gap_ns - sent_ns;
    return sent_ms < 0 ? UE_FINDING_UNCLOCKED_SILENCE : is_long ? UE_FINDING_SILENCE : UE_FINDING_HELD_SILENCE;
}

static void report_held(const struct ue_findings *findings, const struct ue_held_silence *held) {
    struct ue_finding finding = held->finding;
    bool are_late = finding.id == UE_FINDING_LOST_SILENCE && held->missing == 0;
    bool are_acked = finding.id == UE_FINDING_LOST_SILENCE && held->missing == held->acked;
    finding.id = are_late ? UE_FINDING_LATE_SILENCE : are_acked ? UE_FINDING_ACKED_SILENCE : finding.id;
    ue_finding_set(&finding, UE_VALUE_COUNT, (int64_t)(are_late ? held->late : held->missing));
    ue_findings_report(findings, &finding);
}

/* Bound of the time that passed before the next packet was sent: the clocks are whole milliseconds. */
static int64_t sent_bound_ns(enum ue_finding_id id, int64_t sent_ms) {
    bool is_exact = sent_ms < 0 || sent_ms >= UE_SEND_INTERVAL_LIMIT_MS; /* not known; a second or more */
    return (is_exact ? sent_ms : id == UE_FINDING_HELD_SILENCE ? sent_ms + 1 : sent_ms - 1) * UE_NS_PER_MS;
}

/* Of the packets that were acknowledged before they were captured, the one that ends the silence is not missing. */
static uint64_t missing_acked(const struct ue_silence_side *self, const struct ue_observed_event *event) {
    bool was_acked = event->type == UE_OBSERVED_PACKET && event->packet.was_acked_unseen;
    return self->last.acked - (was_acked && self->last.acked != 0);
}

/* Without memory the finding has what is known so far. */
static void hold(struct ue_findings *findings, const struct ue_observed_event *event,
                 const struct ue_silence_side *self, const struct ue_finding *finding) {
    struct ue_array *array = &findings->held_silences[event->side];
    const struct ue_held_silence held = {.finding = *finding,
                                         .first_id = self->missing_first_id,
                                         .last_id = event->packet_id - 1,
                                         .missing = self->missing,
                                         .acked = missing_acked(self, event)};
    if (!ue_array_insert(&findings->memory, array, array->count, &held)) {
        report_held(findings, &held);
    }
}

static void report_silence(struct ue_findings *findings, const struct ue_observed_event *event,
                           const struct ue_silence_side *self, struct ue_finding_value gap_ns) {
    if (self->handshake_frame > self->last.frame) {
        return; /* it was not silent: it sent messages of a handshake meanwhile, during which it sends no packets */
    }
    int64_t sent_ms = findings->timing.pace[event->side].last_interval_ms;
    enum ue_finding_id id = self->is_last_unsure || is_unsure(event) ? UE_FINDING_UNSURE_SILENCE
                            : self->missing != 0                     ? UE_FINDING_LOST_SILENCE
                                                                     : silence_by_clock(sent_ms, gap_ns.at_least);
    struct ue_finding finding =
        ue_finding_of_bounded_span(id, event->side, widened(gap_ns, &self->last), self->last.frame, event->frame);
    ue_finding_set_time(&finding, self->last.time_ns);
    ue_finding_set(&finding, UE_VALUE_OTHERS, (int64_t)self->last.peer_packets);
    ue_finding_set(&finding, UE_VALUE_LEAST, sent_bound_ns(id, sent_ms));
    if (self->missing == 0) {
        ue_findings_report(findings, &finding);
    } else {
        hold(findings, event, self, &finding);
    }
}

/* ---- silences in which packets are missing ---- */

void ue_silence_clear(struct ue_findings *findings) {
    for (unsigned side = 0; side < 2; side++) {
        ue_array_clear(&findings->memory, &findings->held_silences[side]);
    }
}

/* Reports those whose missing packets can come no more: a packet is late by at most UE_TRACKER_LATE_MAX ids, and a
   damaged sequence is known by then. */
static void report_decided(struct ue_findings *findings, unsigned side, int64_t packet_id) {
    struct ue_array *array = &findings->held_silences[side];
    size_t count = 0;
    for (; count < array->count; count++) {
        const struct ue_held_silence *held = ue_array_at(array, count);
        if (held->last_id >= packet_id - UE_TRACKER_LATE_MAX) {
            break;
        }
        report_held(findings, held);
    }
    ue_array_remove(&findings->memory, array, 0, count);
}

/* A packet that seemed to be missing comes late. */
static void find_late(struct ue_array *array, int64_t packet_id, bool was_acked) {
    for (size_t i = 0; i < array->count; i++) {
        struct ue_held_silence *held = ue_array_at(array, i);
        if (held->missing != 0 && packet_id >= held->first_id && packet_id <= held->last_id) {
            held->missing--;
            held->late++;
            held->acked -= was_acked && held->acked != 0;
        }
    }
}

/* A packet after the newest one is acknowledged: its side is alive. */
static void on_later_ack(struct ue_last_packet *last, const struct ue_observed_event *event) {
    if (last->frame == 0) {
        return;
    }
    last->acked++;
    last->acked_frame = event->frame;
    last->acked_ns = event->time_ns;
    last->peer_packets_after_ack = 0;
}

/* A packet that was not captured so far is acknowledged; an ack may be withdrawn. */
static void on_unseen_ack(struct ue_findings *findings, const struct ue_observed_event *event) {
    unsigned side = !event->side;
    struct ue_array *array = &findings->held_silences[side];
    bool is_ack = event->type == UE_OBSERVED_ACK;
    if (is_ack && !event->ack.is_excused && event->ack.packet_id > findings->silence[side].newest_id) {
        on_later_ack(&findings->silence[side].last, event);
    }
    for (size_t i = 0; i < array->count; i++) {
        struct ue_held_silence *held = ue_array_at(array, i);
        if (event->ack.packet_id >= held->first_id && event->ack.packet_id <= held->last_id) {
            held->acked += is_ack;
            held->acked -= !is_ack && held->acked != 0;
        }
    }
}

/* The ids before a packet were never sent: its sequence was damaged. */
static void forget_held(struct ue_findings *findings, unsigned side, const struct ue_observed_lost *ids) {
    struct ue_array *array = &findings->held_silences[side];
    findings->silence[side].newest_id = ids->first_id - 1;
    for (size_t i = array->count; i-- > 0;) {
        const struct ue_held_silence *held = ue_array_at(array, i);
        if (held->last_id == ids->last_id) {
            ue_array_remove(&findings->memory, array, i, 1);
        }
    }
}

static void update_held(struct ue_findings *findings, const struct ue_observed_event *event) {
    if (event->packet.is_late) {
        find_late(&findings->held_silences[event->side], event->packet_id, event->packet.was_acked_unseen);
    } else {
        report_decided(findings, event->side, event->packet_id);
    }
}

/* ---- packets ---- */

/* Captures of several queues are not in the order of time: the silence begins at the latest time. */
static void begin_silence(struct ue_silence_side *self, uint64_t frame, int64_t time_ns) {
    int64_t latest_ns = self->last.frame != 0 && self->last.time_ns > time_ns ? self->last.time_ns : time_ns;
    self->captured_frame = frame;
    self->last = (struct ue_last_packet){
        .frame = frame, .time_ns = latest_ns, .own_ns = time_ns, .is_unread = self->last.is_unread};
}

/* A packet that is sent after another one shows that the other one did not close the connection. */
static void end_silence(struct ue_silence_side *self, uint64_t frame, int64_t time_ns, bool is_unsure) {
    self->packets++;
    self->missing = 0;
    self->is_last_unsure = is_unsure;
    begin_silence(self, frame, time_ns);
    self->last.is_unread &= is_unsure;
}

static void on_packet(struct ue_findings *findings, const struct ue_observed_event *event) {
    struct ue_silence_side *self = &findings->silence[event->side];
    struct ue_silence_side *other = &findings->silence[!event->side];
    struct ue_finding_value gap_ns = ue_findings_span(findings, self->last.time_ns, event->time_ns);
    int64_t alone_ns =
        ue_time_ns_since(other->last.time_ns, self->last.time_ns); /* time that the other side went on sending */
    bool is_pause =
        ue_time_ns_since(event->time_ns, other->last.time_ns) >= ue_finding_threshold_ns(UE_FINDING_SILENCE) &&
        alone_ns < ue_finding_threshold_ns(UE_FINDING_SILENCE);
    if (self->packets != 0 && is_pause && gap_ns.at_most >= ue_finding_threshold_ns(UE_FINDING_PAUSE)) {
        struct ue_last_packet latest = other->last.frame > self->last.frame ? other->last : self->last;
        latest.time_ns = alone_ns > 0 ? other->last.time_ns : self->last.time_ns;
        report_pause(findings, event, &latest);
    } else if (self->packets != 0 && !is_pause && gap_ns.at_least >= ue_finding_threshold_ns(UE_FINDING_SILENCE) &&
               self->last.peer_packets >= UE_PEER_PACKETS_MIN) {
        report_silence(findings, event, self, gap_ns);
    }
    bool is_duplicate = event->type == UE_OBSERVED_PACKET && event->packet.is_duplicate;
    end_silence(self, event->frame, event->time_ns, is_unsure(event));
    /* a packet of new addresses is an event only when a handshake shows whose it is */
    bool is_after = !is_duplicate && event->frame > other->last.frame;
    other->last.peer_packets += is_after;
    other->last.peer_packets_after_ack += is_after;
}

/* A packet without an event: nothing is known of the packets before it, and their acks. */
static void on_unknown_packet(struct ue_findings *findings, const struct ue_observed_datagram *datagram) {
    end_silence(&findings->silence[datagram->role], datagram->frame, findings->course.now_ns, true);
    findings->silence[!datagram->role].last.peer_packets++;
    findings->silence[!datagram->role].last.peer_packets_after_ack++;
}

void ue_silence_on_result(struct ue_findings *findings, const struct ue_observed_datagram *datagram,
                          const struct ue_decode_result *result) {
    if (result->is_handshake) {
        return;
    }
    if (findings->silence[datagram->role].captured_frame != datagram->frame) {
        on_unknown_packet(findings, datagram);
    }
    findings->silence[datagram->role].last.is_unread |=
        result->fault.status != UE_OK || datagram->is_cut || result->closed_by != UE_HANDLER_NONE;
}

/* ---- events ---- */

static void set_newest(struct ue_silence_side *self, int64_t packet_id) {
    self->newest_id = packet_id > self->newest_id ? packet_id : self->newest_id;
}

void ue_silence_on_event(struct ue_findings *findings, const struct ue_observed_event *event) {
    switch (event->type) {
    case UE_OBSERVED_LOST:
        findings->silence[event->side].missing += event->lost.missing - event->lost.damaged;
        findings->silence[event->side].missing_first_id = event->lost.first_id;
        break;
    case UE_OBSERVED_NOT_LOST: forget_held(findings, event->side, &event->lost); break;
    case UE_OBSERVED_OTHER_VIEW: /* its side did not send it again, but the silence in the capture begins after it */
        begin_silence(&findings->silence[event->side], event->frame, event->time_ns);
        break;
    case UE_OBSERVED_HANDSHAKE: findings->silence[event->side].handshake_frame = event->frame; break;
    case UE_OBSERVED_OPAQUE: on_packet(findings, event); break;
    case UE_OBSERVED_PACKET:
        update_held(findings, event);
        on_packet(findings, event);
        set_newest(&findings->silence[event->side], event->packet_id);
        break;
    case UE_OBSERVED_ACK:
    case UE_OBSERVED_NAK:
        if (event->ack.frame == 0 && (event->type == UE_OBSERVED_ACK || event->ack.is_withdrawn)) {
            on_unseen_ack(findings, event);
        }
        break;
    default: break;
    }
}

/* Another attempt to connect is another conversation. */
void ue_silence_begin_tracker(struct ue_findings *findings, bool is_attempt) {
    for (unsigned side = 0; side < 2; side++) {
        struct ue_silence_side *self = &findings->silence[side];
        report_decided(findings, side, INT64_MAX);
        self->missing = 0;
        self->newest_id = 0;
        if (is_attempt) {
            *self = (struct ue_silence_side){0};
        }
    }
}

/* ---- the end ---- */

const struct ue_last_packet *ue_findings_last_packet(const struct ue_findings *findings, unsigned side) {
    return findings->course.is_closed ? &findings->last_at_close[side] : &findings->silence[side].last;
}

struct ue_finding_value ue_findings_silence_ns(const struct ue_findings *findings, unsigned side) {
    const struct ue_last_packet *self = ue_findings_last_packet(findings, side);
    const struct ue_last_packet *peer = ue_findings_last_packet(findings, !side);
    if (self->frame == 0 || peer->time_ns <= self->time_ns) {
        return (struct ue_finding_value){0, 0};
    }
    struct ue_finding_value span_ns = ue_findings_span(findings, self->time_ns, peer->time_ns);
    if (self->acked_frame != 0) {
        int64_t least_ns = ue_findings_span(findings, self->acked_ns, peer->time_ns).at_least;
        span_ns.at_least = least_ns < span_ns.at_least ? least_ns : span_ns.at_least; /* the clock may be set back */
    }
    return span_ns;
}

void ue_silence_finish(struct ue_findings *findings) {
    report_decided(findings, 0, INT64_MAX);
    report_decided(findings, 1, INT64_MAX);
}
