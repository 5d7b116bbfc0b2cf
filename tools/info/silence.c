/* SPDX-License-Identifier: MIT */
#include "tools/info/silence.h"

/* Packets of one side that prove that it was alive while the other was silent. */
#define PEER_PACKETS_MIN 2

/* ---- silence ---- */

static void report_pause(const struct ue_tracker_event *event, const struct info_silence_side *last,
                         struct info_findings *findings) {
    int64_t gap_ns = event->time_ns - last->last_ns;
    const struct ue_finding finding =
        ue_finding_of_span(UE_FINDING_PAUSE, event->side, gap_ns, last->last_frame, event->frame);
    info_findings_add(findings, &finding);
}

static void report_silence(const struct ue_tracker_event *event, const struct info_silence_side *self, int64_t gap_ns,
                           struct info_findings *findings) {
    struct ue_finding finding = ue_finding_of_span(self->missing != 0 ? UE_FINDING_LOST_SILENCE : UE_FINDING_SILENCE,
                                                   event->side, gap_ns, self->last_frame, event->frame);
    ue_finding_set(&finding, UE_VALUE_COUNT, (int64_t)self->missing);
    ue_finding_set(&finding, UE_VALUE_OTHERS, (int64_t)self->peer_packets);
    info_findings_add(findings, &finding);
}

static void on_packet(struct info_silence *silence, const struct ue_tracker_event *event,
                      struct info_findings *findings) {
    struct info_silence_side *self = &silence->sides[event->side];
    struct info_silence_side *other = &silence->sides[!event->side];
    int64_t gap_ns = event->time_ns - self->last_ns;
    int64_t alone_ns = other->last_ns - self->last_ns; /* time that the other side went on sending */
    bool is_pause = event->time_ns - other->last_ns >= ue_finding_threshold_ns(UE_FINDING_SILENCE) &&
                    alone_ns < ue_finding_threshold_ns(UE_FINDING_SILENCE);
    if (self->packets != 0 && gap_ns >= ue_finding_threshold_ns(UE_FINDING_SILENCE)) {
        if (is_pause) {
            report_pause(event, alone_ns > 0 ? other : self, findings);
        } else if (self->peer_packets >= PEER_PACKETS_MIN) {
            report_silence(event, self, gap_ns, findings);
        }
    }
    self->packets++;
    self->last_ns = event->time_ns;
    self->last_frame = event->frame;
    self->missing = 0;
    self->peer_packets = 0;
    other->peer_packets++;
    other->peer_packets_since_report++;
}

/* ---- gaps between acks ---- */

static void report_gap(struct info_silence_side *self, unsigned side, struct info_findings *findings) {
    struct ue_finding finding =
        ue_finding_of_span(UE_FINDING_ACK_GAP, side, self->gap_ns, self->gap_from_frame, self->gap_frame);
    ue_finding_set(&finding, UE_VALUE_COUNT, (int64_t)self->gap_nacked);
    self->gap_frame = 0;
    info_findings_add(findings, &finding);
}

static void end_gap(struct info_silence *silence, uint64_t frame, struct info_findings *findings) {
    for (unsigned side = 0; side < 2; side++) {
        struct info_silence_side *self = &silence->sides[side];
        if (self->gap_frame != 0 && self->gap_frame != frame) {
            report_gap(self, side, findings);
        }
    }
}

static void begin_wait(struct info_silence_side *self, const struct ue_tracker_event *event) {
    self->report_ns = event->time_ns;
    self->report_frame = event->frame;
    self->peer_packets_since_report = 0;
}

static void on_report(struct info_silence *silence, const struct ue_tracker_event *event) {
    struct info_silence_side *self = &silence->sides[!event->side];
    int64_t gap_ns = event->time_ns - self->report_ns;
    /* the packet with the ack is itself counted in unanswering */
    if (self->is_waiting && gap_ns >= ue_finding_threshold_ns(UE_FINDING_SILENCE) &&
        self->peer_packets_since_report > PEER_PACKETS_MIN) {
        self->gap_ns = gap_ns;
        self->gap_from_frame = self->report_frame;
        self->gap_frame = event->frame;
        self->gap_nacked = 0;
    }
    self->gap_nacked += event->type == UE_TRACKER_NAK;
    self->is_waiting = event->packet_id < self->newest_id;
    begin_wait(self, event);
}

/* Starts waiting for an ack when a packet is sent. */
static void start_waiting(struct info_silence *silence, const struct ue_tracker_event *event) {
    struct info_silence_side *self = &silence->sides[event->side];
    self->newest_id = MAX(self->newest_id, event->packet_id);
    if (!self->is_waiting) {
        self->is_waiting = true;
        begin_wait(self, event);
    }
}

void info_silence_on_event(struct info_silence *silence, const struct ue_tracker_event *event,
                           struct info_findings *findings) {
    end_gap(silence, event->frame, findings);
    switch (event->type) {
    case UE_TRACKER_LOST:
        silence->sides[event->side].missing += (uint64_t)(event->last_id - event->packet_id + 1);
        break;
    case UE_TRACKER_PACKET:
        on_packet(silence, event, findings);
        start_waiting(silence, event);
        break;
    case UE_TRACKER_ACK:
    case UE_TRACKER_NAK:
        if (!event->is_withdrawn) {
            on_report(silence, event);
        }
        break;
    default: break;
    }
}

/* ---- the end ---- */

int64_t info_silence_at_end_ns(const struct info_silence *silence, unsigned side) {
    const struct info_silence_side *self = &silence->sides[side];
    const struct info_silence_side *other = &silence->sides[!side];
    return self->packets != 0 && other->last_ns > self->last_ns ? other->last_ns - self->last_ns : 0;
}

void info_silence_finish(struct info_silence *silence, bool is_closed, struct info_findings *findings) {
    end_gap(silence, 0, findings);
    for (unsigned side = 0; !is_closed && side < 2; side++) {
        const struct info_silence_side *self = &silence->sides[side];
        int64_t gap_ns = info_silence_at_end_ns(silence, side);
        if (gap_ns < ue_finding_threshold_ns(UE_FINDING_SILENCE) ||
            gap_ns >= ue_finding_threshold_ns(UE_FINDING_TIMEOUT) || self->peer_packets < PEER_PACKETS_MIN) {
            continue; /* a side that went silent is reported as a timeout */
        }
        struct ue_finding finding = ue_finding_of_span(UE_FINDING_LAST_SILENCE, side, gap_ns, self->last_frame, 0);
        ue_finding_set(&finding, UE_VALUE_OTHERS, (int64_t)self->peer_packets);
        info_findings_add(findings, &finding);
    }
}
