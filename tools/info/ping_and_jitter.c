/* SPDX-License-Identifier: MIT */
#include "tools/info/ping_and_jitter.h"

#include <stdbool.h>

#define NS_PER_MS INT64_C(1000000)

static void on_clock(struct info_jitter *jitter, int64_t time_ns, uint16_t clock_ms) {
    if (ue_clock_jitter_feed(&jitter->clock, time_ns, clock_ms)) {
        int64_t average_ns = jitter->clock.average_ns;
        jitter->max_ns = average_ns > jitter->max_ns ? average_ns : jitter->max_ns;
        jitter->samples++;
    }
}

static void on_packet(struct info_timing *timing, const struct ue_tracker_event *event) {
    const struct ue_packet *packet = &event->datagram->packet;
    if (packet->has_info && !event->is_late) {
        on_clock(&timing->jitter[event->side], event->time_ns, packet->jitter_ms);
    }
    if (packet->has_frame_time) {
        info_timing_add_frame_time(timing, event->side, packet->frame_time_ms);
    }
}

static void on_ack(struct info_timing *timing, const struct ue_tracker_event *event) {
    unsigned side = !event->side;
    if (event->other_frame == 0 || event->span_ns < 0) {
        return;
    }
    info_histogram_add(&timing->halves[side], event->span_ns);
    timing->last_half_ns[side] = event->span_ns;
    if (timing->halves[!side].count != 0) {
        info_histogram_add(&timing->rtt, timing->last_half_ns[0] + timing->last_half_ns[1]);
    }
}

/* Challenge and Ack answer the client, Response the server. */
static void on_handshake(struct info_timing *timing, const struct ue_tracker_event *event) {
    if (event->span_ns >= 0 && timing->handshake_ns[!event->side] == 0) {
        timing->handshake_ns[!event->side] = event->span_ns;
    }
}

void info_timing_on_event(struct info_timing *timing, const struct ue_tracker_event *event) {
    switch (event->type) {
    case UE_TRACKER_HANDSHAKE: on_handshake(timing, event); break;
    case UE_TRACKER_PACKET: on_packet(timing, event); break;
    case UE_TRACKER_ACK: on_ack(timing, event); break;
    default: break;
    }
}

void info_timing_add_frame_time(struct info_timing *timing, unsigned side, uint8_t frame_time_ms) {
    if (side == 1) {
        info_histogram_add(&timing->frame_time_ms, frame_time_ms);
    }
}

int64_t info_timing_handshake_ns(const struct info_timing *timing) {
    bool is_known = timing->handshake_ns[0] != 0 && timing->handshake_ns[1] != 0;
    return is_known ? timing->handshake_ns[0] + timing->handshake_ns[1] : -1;
}

void info_timing_clear_spans(struct info_timing *timing) {
    struct info_timing kept = {.frame_time_ms = timing->frame_time_ms};
    timing->frame_time_ms = (struct info_histogram){0};
    info_timing_clear(timing);
    *timing = kept;
}

void info_timing_clear(struct info_timing *timing) {
    info_histogram_clear(&timing->rtt);
    info_histogram_clear(&timing->halves[0]);
    info_histogram_clear(&timing->halves[1]);
    info_histogram_clear(&timing->frame_time_ms);
}

/* ---- findings ---- */

static void report_ping(const struct info_timing *timing, struct info_findings *findings) {
    const struct info_histogram *rtt = &timing->rtt;
    int64_t p50 = info_histogram_percentile(rtt, 50);
    if (p50 < ue_finding_threshold_ns(UE_FINDING_PING)) {
        return;
    }
    struct ue_finding finding =
        ue_finding_of_span(rtt->min < p50 - rtt->min ? UE_FINDING_WAITING_PING : UE_FINDING_PING, 0, p50, 0, 0);
    ue_finding_set(&finding, UE_VALUE_LEAST, rtt->min);
    info_findings_add(findings, &finding);
}

static void report_frame_time(const struct info_timing *timing, struct info_findings *findings) {
    int64_t p90_ns = info_histogram_percentile(&timing->frame_time_ms, 90) * NS_PER_MS;
    if (p90_ns >= ue_finding_threshold_ns(UE_FINDING_FRAME_TIME)) {
        struct ue_finding finding = ue_finding_of_span(UE_FINDING_FRAME_TIME, 1, p90_ns, 0, 0);
        ue_finding_set(&finding, UE_VALUE_LEAST, info_histogram_percentile(&timing->frame_time_ms, 50) * NS_PER_MS);
        info_findings_add(findings, &finding);
    }
}

void info_timing_report(const struct info_timing *timing, struct info_findings *findings) {
    report_ping(timing, findings);
    report_frame_time(timing, findings);
}
