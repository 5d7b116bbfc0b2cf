/* SPDX-License-Identifier: MIT */
#include "tools/info/timing.h"

#include <stdbool.h>

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

#define SATURATED_PERCENT 95

void info_rate_finish(struct info_rate *rate, int64_t agreed_bytes) {
    if (rate->bytes > rate->peak_bytes) {
        rate->peak_bytes = rate->bytes;
        rate->peak_second = rate->second;
    }
    bool is_saturated = agreed_bytes > 0 && rate->bytes * 100 >= (uint64_t)agreed_bytes * SATURATED_PERCENT;
    rate->saturated_seconds += is_saturated;
    rate->bytes = 0;
}

void info_rate_add(struct info_rate *rate, int64_t since_ns, uint64_t bytes, int64_t agreed_bytes) {
    int64_t second = since_ns / INT64_C(1000000000);
    if (second != rate->second) {
        info_rate_finish(rate, agreed_bytes);
        rate->second = second;
    }
    rate->bytes += bytes + INFO_DATAGRAM_OVERHEAD_BYTES;
}
