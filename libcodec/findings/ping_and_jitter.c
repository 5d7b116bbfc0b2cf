/* SPDX-License-Identifier: MIT */
#include "libcodec/findings/findings_state.h"
#include <uerudp/time_ns.h>

static void on_clock(struct ue_side_jitter *jitter, int64_t time_ns, uint16_t clock_ms) {
    if (ue_clock_jitter_feed(&jitter->clock, time_ns, clock_ms)) {
        int64_t average_ns = jitter->clock.average_ns;
        jitter->max_ns = average_ns > jitter->max_ns ? average_ns : jitter->max_ns;
        jitter->samples++;
    }
}

/* Of each packet of the server: from its header, or up to 4.21 from its acks. */
static void add_frame_time(struct ue_findings *findings, const struct ue_observed_event *event) {
    struct ue_timing *timing = &findings->timing;
    const struct ue_packet *packet = event->packet.decoded;
    if (event->side == 1 && !event->packet.is_duplicate && (packet->has_frame_time || timing->has_item_frame_time)) {
        ue_histogram_add(&findings->memory, &timing->frame_time_ms,
                         packet->has_frame_time ? packet->frame_time_ms : timing->item_frame_time_ms);
    }
}

static void add_interval(struct ue_findings *findings, struct ue_send_pace *pace, uint64_t frame) {
    if (pace->interval_ms.count == 0 || pace->last_interval_ms > pace->interval_ms.max) {
        pace->longest_frame = frame;
        pace->longest_ns = pace->time_ns;
    }
    ue_histogram_add(&findings->memory, &pace->interval_ms, pace->last_interval_ms);
}

/* The clock wraps every second; after a second or more it has no value (endpoint.md 31.1). */
static int64_t interval_ms(const struct ue_send_pace *pace, uint16_t clock_ms) {
    bool has_clock = clock_ms < UE_CLOCK_JITTER_UNUSABLE_MS;
    if (!pace->has_info || (has_clock && !pace->has_clock)) {
        return -1;
    }
    return has_clock ? (clock_ms - pace->clock_ms + 1000) % 1000 : UE_SEND_INTERVAL_LIMIT_MS;
}

static void pace_frame(struct ue_findings *findings, struct ue_send_pace *pace, const struct ue_observed_event *event) {
    uint16_t clock_ms = event->packet.decoded->jitter_ms;
    bool has_clock = clock_ms < UE_CLOCK_JITTER_UNUSABLE_MS;
    pace->last_interval_ms = interval_ms(pace, clock_ms);
    if (pace->last_interval_ms >= 0 && findings->callbacks->wait != NULL) {
        add_interval(findings, pace, event->frame);
    }
    pace->has_info = true;
    pace->has_clock = has_clock;
    pace->clock_ms = clock_ms;
    pace->time_ns = event->time_ns;
}

static void on_pace(struct ue_findings *findings, const struct ue_observed_event *event) {
    struct ue_send_pace *pace = &findings->timing.pace[event->side];
    pace->last_interval_ms = -1;
    if (event->packet.is_duplicate) {
        return;
    }
    pace->has_info = pace->has_info && event->packet_id == pace->last_id + 1;
    pace->last_id = event->packet_id;
    if (event->packet.decoded->has_info && findings->timing.has_clocks) {
        pace_frame(findings, pace, event);
    }
}

static void on_packet(struct ue_findings *findings, const struct ue_observed_event *event) {
    const struct ue_packet *packet = event->packet.decoded;
    on_pace(findings, event);
    if (findings->callbacks->wait != NULL && packet->has_info && !event->packet.is_late) {
        on_clock(&findings->timing.jitter[event->side], event->time_ns, packet->jitter_ms);
    }
    add_frame_time(findings, event);
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
    default: break;
    }
}

/* Up to 4.21 the server's frame time is in the items. */
static void visit_item(void *user, const struct ue_item *item) {
    struct ue_timing *timing = user;
    if (item->is_ack && item->ack.has_frame_time) {
        timing->has_item_frame_time = true;
        timing->item_frame_time_ms = item->ack.frame_time_ms;
    }
}

void ue_timing_on_datagram(struct ue_findings *findings, const struct ue_observed_datagram *datagram) {
    enum ue_packet_layout layout = datagram->context.profile.packet;
    struct ue_timing *timing = &findings->timing;
    struct ue_visitor visitor = {.item = visit_item, .user = timing};
    struct ue_decode_result result;
    timing->has_clocks = layout != UE_PACKET_LEGACY && layout != UE_PACKET_KBPS;
    timing->has_item_frame_time = false;
    if (layout == UE_PACKET_LEGACY && datagram->role == 1) {
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
    ue_histogram_clear(&findings->memory, &findings->timing.pace[0].interval_ms);
    ue_histogram_clear(&findings->memory, &findings->timing.pace[1].interval_ms);
}

void ue_timing_clear_spans(struct ue_findings *findings) {
    clear_spans(findings);
    findings->timing =
        (struct ue_timing){.frame_time_ms = findings->timing.frame_time_ms, .has_clocks = findings->timing.has_clocks};
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

/* A smaller number has no tenth; a single one may be that of a damaged packet. */
#define FRAME_TIMES_MIN 10

static void report_frame_time(const struct ue_findings *findings) {
    const struct ue_histogram *times_ms = &findings->timing.frame_time_ms;
    enum ue_finding_id id = findings->timing.has_clocks ? UE_FINDING_FRAME_TIME : UE_FINDING_PACKET_FRAME_TIME;
    int64_t p90_ns = ue_histogram_percentile(times_ms, 90) * UE_NS_PER_MS, p50 = ue_histogram_percentile(times_ms, 50);
    if (times_ms->count >= FRAME_TIMES_MIN && p90_ns >= ue_finding_threshold_ns(id)) {
        struct ue_finding finding = ue_finding_of_span(id, 1, p90_ns, 0, 0);
        ue_finding_set(&finding, UE_VALUE_LEAST, p50 * UE_NS_PER_MS);
        ue_finding_set(&finding, UE_VALUE_OTHERS, p50 == UINT8_MAX); /* longer frames have no other value */
        ue_findings_report(findings, &finding);
    }
}

void ue_timing_finish(struct ue_findings *findings) {
    report_ping(findings);
    report_frame_time(findings);
}
