/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/core/jitter_and_ping.h"
#include <uerudp/time_ns.h>

#define NS_PER_SECOND UINT64_C(1000000000)
#define JITTER_SMOOTHING 16 /* JitterNoiseReduction */
#define PING_SMOOTHING 8

/* endpoint.md 31.1. */
uint16_t ue_jitter_clock_read(struct ue_jitter_clock *clock, uint64_t now_ns) {
    bool is_recent = clock->has_last && now_ns - clock->last_ns < NS_PER_SECOND;
    clock->last_ns = now_ns;
    clock->has_last = true;
    return is_recent ? (uint16_t)(now_ns / UE_NS_PER_MS % 1000) : UE_JITTER_IGNORED;
}

/* endpoint.md 31.2. */
void ue_jitter_feed(struct ue_jitter *j, uint16_t sent_ms, uint64_t now_ns) {
    if (sent_ms >= UE_JITTER_IGNORED) {
        return;
    }
    int32_t transit = (int32_t)(now_ns / UE_NS_PER_MS % 1000) - sent_ms;
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
    uint64_t excluded_ns = frame_time_ms * UE_NS_PER_MS;
    uint64_t elapsed_ns = now_ns - sent_ns;
    ping->last_ns = elapsed_ns > excluded_ns ? elapsed_ns - excluded_ns : 0;
    uint64_t old_ns = ping->smoothed_ns;
    ping->smoothed_ns = old_ns == 0 ? ping->last_ns : old_ns - old_ns / PING_SMOOTHING + ping->last_ns / PING_SMOOTHING;
    ping->lag_sum_ns += ping->last_ns;
    ping->lag_count++;
    return true;
}

void ue_ping_end_second(struct ue_ping *ping) {
    if (ping->lag_count > 0) {
        ping->average_ns = ping->lag_sum_ns / ping->lag_count;
    }
    ping->lag_sum_ns = 0;
    ping->lag_count = 0;
}
