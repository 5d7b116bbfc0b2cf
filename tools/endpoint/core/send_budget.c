/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/core/send_budget.h"

#include <stddef.h>

#define NS_PER_SECOND UINT64_C(1000000000)

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
    b->queued_bits = saturated(b->queued_bits + 8 * ((int64_t)packet_bytes + UE_IPV4_UDP_BYTES));
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

/* endpoint.md 31.4. */
bool ue_traffic_tick(struct ue_traffic *traffic, const struct ue_counters *counters, struct ue_ping *ping,
                     uint64_t now_ns) {
    uint64_t elapsed_ns = now_ns - traffic->second_begin_ns;
    if (elapsed_ns < NS_PER_SECOND) {
        return false;
    }
    uint64_t in_bytes = counters->in_bytes - traffic->in_bytes_at_begin;
    *traffic = (struct ue_traffic){
        .second_begin_ns = now_ns,
        .in_bytes_per_second = (uint32_t)(in_bytes * NS_PER_SECOND / elapsed_ns),
        .in_bytes_at_begin = counters->in_bytes,
    };
    ue_ping_end_second(ping);
    return true;
}
