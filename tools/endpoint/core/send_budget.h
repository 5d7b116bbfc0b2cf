/* SPDX-License-Identifier: MIT */
/* Flow control of one connection, and its statistics per second (endpoint.md 30 and 31). Times are nanoseconds on a
   monotonic scale; speeds are bytes per second. */
#ifndef UERUDP_TOOLS_ENDPOINT_CORE_SEND_BUDGET_H
#define UERUDP_TOOLS_ENDPOINT_CORE_SEND_BUDGET_H

#include "tools/endpoint/core/jitter_and_ping.h"

#define UE_NET_SPEED_FALLBACK 2600 /* where none is configured */

/* The speed that results from a configured one (0: the fallback), or from the one that a client requests of a server.
 */
int32_t ue_net_speed(int32_t configured);
int32_t ue_net_speed_clamp(int32_t asked, int32_t max_client_rate);

/* QueuedBits: above zero the connection exceeds its bandwidth. */
struct ue_send_budget {
    int32_t net_speed;
    int32_t queued_bits;
};

void ue_send_budget_sent(struct ue_send_budget *b, uint32_t packet_bytes);
/* Ends a tick; desired_tick_ns limits the elapsed time, 0: no limit. */
void ue_send_budget_tick(struct ue_send_budget *b, uint64_t elapsed_ns, uint64_t desired_tick_ns);
/* IsNetReady; saturate: clears what was sent too much first. */
bool ue_send_budget_is_ready(struct ue_send_budget *b, uint32_t buffered_bits, bool saturate);

/* The current second, and the rate of the last full one. */
struct ue_traffic {
    uint64_t in_bytes_at_begin; /* the counter when the second began */
    uint32_t in_bytes_per_second;
    uint64_t second_begin_ns;
};
/* Call it once a tick: ends the second when it is over (also ping's), else false. */
bool ue_traffic_tick(struct ue_traffic *traffic, const struct ue_counters *counters, struct ue_ping *ping,
                     uint64_t now_ns);

#endif
