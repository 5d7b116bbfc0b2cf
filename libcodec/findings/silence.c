/* SPDX-License-Identifier: MIT */
#include "libcodec/findings/findings_state.h"

/* So many missing packets may be an error in the sequence of the next one, which the packet after that shows. */
#define DOUBTFUL_MISSING_MIN 64

/* Packets of one side that prove that it was alive while the other was silent. */
#define PEER_PACKETS_MIN 2

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

static void report_silence(const struct ue_findings *findings, const struct ue_observed_event *event,
                           struct ue_silence_side *self, struct ue_finding_value gap_ns) {
    if (self->handshake_frame > self->last.frame) {
        return; /* it was not silent: it sent messages of a handshake meanwhile, during which it sends no packets */
    }
    enum ue_finding_id id = self->is_last_unsure || is_unsure(event) ? UE_FINDING_UNSURE_SILENCE
                            : self->missing != 0                     ? UE_FINDING_LOST_SILENCE
                                                                     : UE_FINDING_SILENCE;
    struct ue_finding finding =
        ue_finding_of_bounded_span(id, event->side, widened(gap_ns, &self->last), self->last.frame, event->frame);
    ue_finding_set_time(&finding, self->last.time_ns);
    ue_finding_set(&finding, UE_VALUE_COUNT, (int64_t)self->missing);
    ue_finding_set(&finding, UE_VALUE_OTHERS, (int64_t)self->last.peer_packets);
    self->is_held = self->missing >= DOUBTFUL_MISSING_MIN;
    if (self->is_held) {
        self->held = finding;
    } else {
        ue_findings_report(findings, &finding);
    }
}

static void report_held(const struct ue_findings *findings, struct ue_silence_side *self) {
    if (self->is_held) {
        self->is_held = false;
        ue_findings_report(findings, &self->held);
    }
}

/* Captures of several queues are not in the order of time: the silence begins at the latest time. */
static void begin_silence(struct ue_silence_side *self, uint64_t frame, int64_t time_ns) {
    int64_t latest_ns = self->last.frame != 0 && self->last.time_ns > time_ns ? self->last.time_ns : time_ns;
    self->captured_frame = frame;
    self->last = (struct ue_last_packet){.frame = frame, .time_ns = latest_ns, .own_ns = time_ns};
}

static void end_silence(struct ue_silence_side *self, uint64_t frame, int64_t time_ns, bool is_unsure) {
    self->packets++;
    self->missing = 0;
    self->is_last_unsure = is_unsure;
    begin_silence(self, frame, time_ns);
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
    report_held(findings, self);
    if (self->packets != 0 && is_pause && gap_ns.at_most >= ue_finding_threshold_ns(UE_FINDING_PAUSE)) {
        struct ue_last_packet latest = other->last.frame > self->last.frame ? other->last : self->last;
        latest.time_ns = alone_ns > 0 ? other->last.time_ns : self->last.time_ns;
        report_pause(findings, event, &latest);
    } else if (self->packets != 0 && !is_pause && gap_ns.at_least >= ue_finding_threshold_ns(UE_FINDING_SILENCE) &&
               self->last.peer_packets >= PEER_PACKETS_MIN) {
        report_silence(findings, event, self, gap_ns);
    }
    bool is_duplicate = event->type == UE_OBSERVED_PACKET && event->packet.is_duplicate;
    end_silence(self, event->frame, event->time_ns, is_unsure(event));
    /* a packet of new addresses is an event only when a handshake shows whose it is */
    other->last.peer_packets += !is_duplicate && event->frame > other->last.frame;
    other->peer_packets_since_report += !is_duplicate;
}

/* Nothing is known of the packets before this one, and their acks. */
void ue_silence_on_result(struct ue_findings *findings, const struct ue_observed_datagram *datagram,
                          const struct ue_decode_result *result) {
    if (result->is_handshake || findings->silence[datagram->role].captured_frame == datagram->frame) {
        return;
    }
    end_silence(&findings->silence[datagram->role], datagram->frame, findings->course.now_ns, true);
    findings->silence[!datagram->role].last.peer_packets++;
    findings->silence[!datagram->role].is_waiting = false;
}

/* ---- gaps between acks ---- */

static void report_gap(const struct ue_findings *findings, struct ue_silence_side *self, unsigned side) {
    struct ue_finding finding =
        ue_finding_of_bounded_span(UE_FINDING_ACK_GAP, side, self->gap_ns, self->gap_from_frame, self->gap_frame);
    ue_finding_set_time(&finding, self->gap_from_ns);
    ue_finding_set(&finding, UE_VALUE_COUNT, (int64_t)self->gap_nacked);
    self->gap_frame = 0;
    ue_findings_report(findings, &finding);
}

static void end_gap(struct ue_findings *findings, uint64_t frame) {
    for (unsigned side = 0; side < 2; side++) {
        struct ue_silence_side *self = &findings->silence[side];
        if (self->gap_frame != 0 && self->gap_frame != frame) {
            report_gap(findings, self, side);
        }
    }
}

static void begin_wait(struct ue_silence_side *self, const struct ue_observed_event *event) {
    self->report_ns = event->time_ns;
    self->report_frame = event->frame;
    self->peer_packets_since_report = 0;
}

static void on_report(struct ue_findings *findings, const struct ue_observed_event *event) {
    struct ue_silence_side *self = &findings->silence[!event->side];
    struct ue_finding_value gap_ns = ue_findings_span(findings, self->report_ns, event->time_ns);
    /* the packet with the ack is itself counted in peer_packets_since_report */
    if (self->is_waiting && gap_ns.at_least >= ue_finding_threshold_ns(UE_FINDING_SILENCE) &&
        self->peer_packets_since_report > PEER_PACKETS_MIN) {
        self->gap_ns = gap_ns;
        self->gap_from_frame = self->report_frame;
        self->gap_from_ns = self->report_ns;
        self->gap_frame = event->frame;
        self->gap_nacked = 0;
    }
    self->gap_nacked += event->type == UE_OBSERVED_NAK;
    self->is_waiting = event->ack.packet_id < self->newest_id;
    begin_wait(self, event);
}

/* Starts waiting for an ack when a packet is sent. */
static void start_waiting(struct ue_findings *findings, const struct ue_observed_event *event) {
    struct ue_silence_side *self = &findings->silence[event->side];
    self->newest_id = event->packet_id > self->newest_id ? event->packet_id : self->newest_id;
    if (!self->is_waiting) {
        self->is_waiting = true;
        begin_wait(self, event);
    }
}

void ue_silence_on_event(struct ue_findings *findings, const struct ue_observed_event *event) {
    end_gap(findings, event->frame);
    switch (event->type) {
    case UE_OBSERVED_LOST:
        findings->silence[event->side].missing += event->lost.missing - event->lost.damaged;
        findings->silence[!event->side].is_waiting = false; /* they may have held the acks */
        break;
    case UE_OBSERVED_NOT_LOST: findings->silence[event->side].is_held = false; break;
    case UE_OBSERVED_OTHER_VIEW: /* its side did not send it again, but the silence in the capture begins after it */
        begin_silence(&findings->silence[event->side], event->frame, event->time_ns);
        break;
    case UE_OBSERVED_HANDSHAKE: findings->silence[event->side].handshake_frame = event->frame; break;
    case UE_OBSERVED_OPAQUE:
        on_packet(findings, event);
        findings->silence[!event->side].is_waiting = false; /* the packet may hold the ack */
        break;
    case UE_OBSERVED_PACKET:
        on_packet(findings, event);
        start_waiting(findings, event);
        break;
    case UE_OBSERVED_ACK:
    case UE_OBSERVED_NAK:
        if (!event->ack.is_withdrawn) {
            on_report(findings, event);
        }
        break;
    default: break;
    }
}

/* Another attempt to connect is another conversation. */
void ue_silence_begin_tracker(struct ue_findings *findings, bool is_attempt) {
    end_gap(findings, 0);
    for (unsigned side = 0; side < 2; side++) {
        struct ue_silence_side *self = &findings->silence[side];
        report_held(findings, self);
        self->newest_id = 0;
        self->missing = 0;
        self->is_waiting = false;
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
    bool is_silent = self->frame != 0 && peer->time_ns > self->time_ns;
    return is_silent ? ue_findings_span(findings, self->time_ns, peer->time_ns) : (struct ue_finding_value){0, 0};
}

void ue_silence_finish(struct ue_findings *findings) {
    end_gap(findings, 0);
    report_held(findings, &findings->silence[0]);
    report_held(findings, &findings->silence[1]);
    for (unsigned side = 0; !findings->course.is_closed && side < 2; side++) {
        const struct ue_silence_side *self = &findings->silence[side];
        struct ue_finding_value gap_ns = ue_findings_silence_ns(findings, side);
        if (gap_ns.at_least < ue_finding_threshold_ns(UE_FINDING_SILENCE) ||
            gap_ns.at_least >= ue_finding_threshold_ns(UE_FINDING_TIMEOUT) ||
            self->last.peer_packets < PEER_PACKETS_MIN) {
            continue; /* a side that went silent is reported as a timeout */
        }
        struct ue_finding finding =
            ue_finding_of_bounded_span(UE_FINDING_LAST_SILENCE, side, gap_ns, self->last.frame, 0);
        ue_finding_set_time(&finding, self->last.time_ns);
        ue_finding_set(&finding, UE_VALUE_OTHERS, (int64_t)self->last.peer_packets);
        ue_findings_report(findings, &finding);
    }
}
