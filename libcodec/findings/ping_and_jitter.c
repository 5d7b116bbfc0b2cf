/* SPDX-License-Identifier: MIT */
#include "libcodec/findings/findings_state.h"

#define NS_PER_MS INT64_C(1000000)

static void on_clock(struct ue_side_jitter *jitter, int64_t time_ns, uint16_t clock_ms) {
    if (ue_clock_jitter_feed(&jitter->clock, time_ns, clock_ms)) {
        int64_t average_ns = jitter->clock.average_ns;
        jitter->max_ns = average_ns > jitter->max_ns ? average_ns : jitter->max_ns;
        jitter->samples++;
    }
}

static void add_frame_time(struct ue_findings *findings, unsigned side, uint8_t frame_time_ms) {
    if (side == 1) {
        ue_histogram_add(&findings->memory, &findings->timing.frame_time_ms, frame_time_ms);
    }
}

static void on_packet(struct ue_findings *findings, const struct ue_observed_event *event) {
    const struct ue_packet *packet = event->packet.decoded;
    if (packet->has_info && !event->packet.is_late) {
        on_clock(&findings->timing.jitter[event->side], event->time_ns, packet->jitter_ms);
    }
    if (packet->has_frame_time) {
        add_frame_time(findings, event->side, packet->frame_time_ms);
    }
}

static void on_ack(struct ue_findings *findings, const struct ue_observed_event *event) {
    unsigned side = !event->side;
    if (event->ack.frame == 0 || event->ack.span_ns < 0) {
        return;
    }
    ue_histogram_add(&findings->memory, &findings->timing.halves[side], event->ack.span_ns);
    findings->timing.last_half_ns[side] = event->ack.span_ns;
    if (findings->timing.halves[!side].count != 0) {
        ue_histogram_add(&findings->memory, &findings->timing.rtt,
                         ue_time_ns_add(findings->timing.last_half_ns[0], findings->timing.last_half_ns[1]));
    }
}

/* Challenge and Ack answer the client, Response the server. */
static void on_handshake(struct ue_findings *findings, const struct ue_observed_event *event) {
    if (event->handshake.answer_ns >= 0 && findings->timing.handshake_ns[!event->side] == 0) {
        findings->timing.handshake_ns[!event->side] = event->handshake.answer_ns;
    }
}

void ue_timing_on_event(struct ue_findings *findings, const struct ue_observed_event *event) {
    switch (event->type) {
    case UE_OBSERVED_HANDSHAKE: on_handshake(findings, event); break;
    case UE_OBSERVED_PACKET: on_packet(findings, event); break;
    case UE_OBSERVED_ACK: on_ack(findings, event); break;
    default: break;
    }
}

/* Up to 4.21 the server's frame time is in the items. */
static void visit_item(void *user, const struct ue_item *item) {
    if (item->is_ack && item->ack.has_frame_time) {
        add_frame_time(user, 1, item->ack.frame_time_ms);
    }
}

void ue_timing_on_datagram(struct ue_findings *findings, const struct ue_observed_datagram *datagram) {
    struct ue_visitor visitor = {.item = visit_item, .user = findings};
    struct ue_decode_result result;
    if (datagram->context.profile.packet == UE_PACKET_LEGACY && datagram->role == 1) {
        ue_datagram_decode(&datagram->context, datagram->bytes, datagram->size_bytes, NULL, &visitor, &result);
    }
}

int64_t ue_timing_handshake_ns(const struct ue_timing *timing) {
    bool is_known = timing->handshake_ns[0] != 0 && timing->handshake_ns[1] != 0;
    return is_known ? ue_time_ns_add(timing->handshake_ns[0], timing->handshake_ns[1]) : -1;
}

static void clear_spans(struct ue_findings *findings) {
    ue_histogram_clear(&findings->memory, &findings->timing.rtt);
    ue_histogram_clear(&findings->memory, &findings->timing.halves[0]);
    ue_histogram_clear(&findings->memory, &findings->timing.halves[1]);
}

void ue_timing_clear_spans(struct ue_findings *findings) {
    clear_spans(findings);
    findings->timing = (struct ue_timing){.frame_time_ms = findings->timing.frame_time_ms};
}

void ue_timing_clear(struct ue_findings *findings) {
    clear_spans(findings);
    ue_histogram_clear(&findings->memory, &findings->timing.frame_time_ms);
}

/* ---- findings ---- */

static void report_ping(const struct ue_findings *findings) {
    const struct ue_histogram *rtt = &findings->timing.rtt;
    int64_t p50 = ue_histogram_percentile(rtt, 50);
    if (p50 < ue_finding_threshold_ns(UE_FINDING_PING)) {
        return;
    }
    struct ue_finding finding =
        ue_finding_of_span(rtt->min < p50 - rtt->min ? UE_FINDING_WAITING_PING : UE_FINDING_PING, 0, p50, 0, 0);
    ue_finding_set(&finding, UE_VALUE_LEAST, rtt->min);
    ue_findings_report(findings, &finding);
}

static void report_frame_time(const struct ue_findings *findings) {
    int64_t p90_ns = ue_histogram_percentile(&findings->timing.frame_time_ms, 90) * NS_PER_MS;
    if (p90_ns >= ue_finding_threshold_ns(UE_FINDING_FRAME_TIME)) {
        struct ue_finding finding = ue_finding_of_span(UE_FINDING_FRAME_TIME, 1, p90_ns, 0, 0);
        ue_finding_set(&finding, UE_VALUE_LEAST,
                       ue_histogram_percentile(&findings->timing.frame_time_ms, 50) * NS_PER_MS);
        ue_findings_report(findings, &finding);
    }
}

void ue_timing_finish(struct ue_findings *findings) {
    report_ping(findings);
    report_frame_time(findings);
}
