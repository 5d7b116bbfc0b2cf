/* SPDX-License-Identifier: MIT */
/* What a side sends in each second, IP and UDP headers included as the engine counts them (endpoint.md 23.1). */
#ifndef UERUDP_TOOLS_INFO_SEND_RATE_H
#define UERUDP_TOOLS_INFO_SEND_RATE_H

#include <stdint.h>

#define INFO_DATAGRAM_OVERHEAD_BYTES 28

struct info_rate {
    int64_t second; /* since the connection began, of `bytes` */
    uint64_t bytes;
    uint64_t peak_bytes; /* of the busiest second, see info_rate_finish */
    int64_t peak_second;
    uint64_t saturated_seconds; /* with at least 95 % of the agreed rate */
};

/* since_ns: of the connection's first datagram; agreed_bytes: per second, 0 for unknown. */
void info_rate_add(struct info_rate *rate, int64_t since_ns, uint64_t bytes, int64_t agreed_bytes);

/* Ends the last second. */
void info_rate_finish(struct info_rate *rate, int64_t agreed_bytes);

#endif
