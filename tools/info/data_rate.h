/* SPDX-License-Identifier: MIT */
/* Bytes per second of a side, compared with the rate that the client requested. */
#ifndef UERUDP_TOOLS_INFO_DATA_RATE_H
#define UERUDP_TOOLS_INFO_DATA_RATE_H

#include "tools/info/finding_list.h"

#define INFO_DATAGRAM_OVERHEAD_BYTES 28

/* Bytes per second of one side, with IP and UDP headers as the engine counts them (endpoint.md 23.1). */
struct info_rate {
    int64_t second; /* index of the current second since the connection began */
    uint64_t bytes;
    uint64_t peak_bytes; /* of the busiest second, see info_rate_finish */
    int64_t peak_second;
    uint64_t saturated_seconds; /* seconds with at least 95 % of the agreed rate */
};

/* since_ns: since the connection's first datagram; agreed_bytes: per second, 0: unknown. */
void info_rate_add(struct info_rate *rate, int64_t since_ns, uint64_t bytes, int64_t agreed_bytes);

/* Ends the last second. */
void info_rate_finish(struct info_rate *rate, int64_t agreed_bytes);

/* Adds the finding that the agreed rate was used up, in bytes per second; agreed_bytes as requested. */
void info_rate_report(const struct info_rate *rate, unsigned side, int32_t agreed_bytes,
                      struct info_findings *findings);

#endif
