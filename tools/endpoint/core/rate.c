/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/core/rate.h"

#include <stddef.h>

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_SECOND UINT64_C(1000000000)
#define JITTER_SMOOTHING 16 /* JitterNoiseReduction */
#define PING_SMOOTHING 8

int32_t ue_net_speed(int32_t configured) {
    if (configured == 0) {
        return UE_NET_SPEED_FALLBACK;
    }
    return configured > UE_NET_SPEED_MIN ? configured : UE_NET_SPEED_MIN;
}

/* endpoint.md 30.5. */
int32_t ue_net_speed_clamp(int32_t asked, int32_t max_client_rate) {
    if (asked < UE_NET_SPEED_MIN) {
        return UE_NET_SPEED_MIN;
    }
    return asked < max_client_rate ? asked : max_client_rate;
}

static int32_t saturated(int64_t bits) {
    return (int32_t)(bits > INT32_MAX ? INT32_MAX : bits < INT32_MIN ? INT32_MIN : bits);
}

/* endpoint.md 30.1. */
void ue_send_budget_sent(struct ue_send_budget *b, uint32_t packet_bytes) {
    b->queued_bits = saturated(b->queued_bits + 8 * ((int64_t)packet_bytes + UE_PACKET_OVERHEAD_BYTES));
}

/* Bits that a speed allows in a time. More seconds than any speed needs to fill 32 bits count as that many. */
static int64_t bits_in(int32_t net_speed, uint64_t elapsed_ns) {
    uint64_t bits_per_second = net_speed > 0 ? (uint64_t)net_speed * 8 : 0;
    uint64_t seconds = elapsed_ns / NS_PER_SECOND;
    seconds = seconds < (UINT64_C(1) << 28) ? seconds : UINT64_C(1) << 28;
    return saturated(
        (int64_t)(bits_per_second * seconds + bits_per_second * (elapsed_ns % NS_PER_SECOND) / NS_PER_SECOND));
}

/* endpoint.md 30.2. */
void ue_send_budget_tick(struct ue_send_budget *b, uint64_t elapsed_ns, uint64_t desired_tick_ns) {
    bool is_hitch = desired_tick_ns != 0 && elapsed_ns > desired_tick_ns;
    int64_t allowed = bits_in(b->net_speed, is_hitch ? desired_tick_ns : elapsed_ns);
    int64_t left = b->queued_bits - allowed;
    b->queued_bits = saturated(left < -2 * allowed ? -2 * allowed : left);
}

/* endpoint.md 30.3. */
bool ue_send_budget_is_ready(struct ue_send_budget *b, uint32_t buffered_bits, bool saturate) {
    if (saturate) {
        b->queued_bits = saturated(-(int64_t)buffered_bits);
    }
    return b->queued_bits + (int64_t)buffered_bits <= 0;
}

/* endpoint.md 31.1. */
uint16_t ue_jitter_clock_read(struct ue_jitter_clock *clock, uint64_t now_ns) {
    bool is_recent = clock->has_last && now_ns - clock->last_ns < NS_PER_SECOND;
    clock->last_ns = now_ns;
    clock->has_last = true;
    return is_recent ? (uint16_t)(now_ns / NS_PER_MS % 1000) : UE_JITTER_IGNORED;
}

/* endpoint.md 31.2. */
void ue_jitter_feed(struct ue_jitter *j, uint16_t sent_ms, uint64_t now_ns) {
    if (sent_ms >= UE_JITTER_IGNORED) {
        return;
    }
    int32_t transit = (int32_t)(now_ns / NS_PER_MS % 1000) - sent_ms;
    transit += transit < 0 ? 1000 : 0;
    int32_t change = transit - j->previous_ms;
    change = change < 0 ? -change : change;
    j->average_ms += (change - j->average_ms) / JITTER_SMOOTHING;
    j->previous_ms = transit;
}

/* endpoint.md 31.3. */
bool ue_ping_feed(struct ue_ping *ping, int64_t acked, int64_t newest, uint64_t sent_ns, uint64_t now_ns,
                  uint32_t frame_time_ms) {
    if (newest - acked >= UE_PING_REACH) {
        return false;
    }
    uint64_t excluded_ns = frame_time_ms * NS_PER_MS;
    uint64_t elapsed_ns = now_ns - sent_ns;
    ping->last_ns = elapsed_ns > excluded_ns ? elapsed_ns - excluded_ns : 0;
    uint64_t old_ns = ping->smoothed_ns;
    ping->smoothed_ns = old_ns == 0 ? ping->last_ns : old_ns - old_ns / PING_SMOOTHING + ping->last_ns / PING_SMOOTHING;
    ping->lag_sum_ns += ping->last_ns;
    ping->lag_count++;
    return true;
}

static void ping_close_second(struct ue_ping *ping) {
    if (ping->lag_count > 0) {
        ping->average_ns = ping->lag_sum_ns / ping->lag_count;
    }
    ping->lag_sum_ns = 0;
    ping->lag_count = 0;
}

static uint32_t per_second(uint32_t count, uint64_t elapsed_ns) {
    return (uint32_t)(count * NS_PER_SECOND / elapsed_ns);
}

static float percent(uint32_t part, uint64_t whole) {
    return whole != 0 ? 100.0f * (float)part / (float)whole : 0.0f;
}

/* endpoint.md 31.4. */
bool ue_traffic_tick(struct ue_traffic *traffic, struct ue_ping *ping, uint64_t now_ns) {
    uint64_t elapsed_ns = now_ns - traffic->second_begin_ns;
    if (elapsed_ns < NS_PER_SECOND) {
        return false;
    }
    struct ue_traffic_rate rate = {
        .in_bytes = per_second(traffic->in_bytes, elapsed_ns),
        .out_bytes = per_second(traffic->out_bytes, elapsed_ns),
        .in_packets = per_second(traffic->in_packets, elapsed_ns),
        .out_packets = per_second(traffic->out_packets, elapsed_ns),
        .in_lost_percent = percent(traffic->in_lost, (uint64_t)traffic->in_packets + traffic->in_lost),
        .out_lost_percent = percent(traffic->out_lost, traffic->out_reported),
    };
    *traffic = (struct ue_traffic){.second_begin_ns = now_ns, .last = rate};
    ping_close_second(ping);
    return true;
}
