/* SPDX-License-Identifier: MIT */
/* Round trip times, jitter, server frame times, and bytes per second. */
#ifndef UERUDP_TOOLS_INFO_TIMING_H
#define UERUDP_TOOLS_INFO_TIMING_H

#include <uerudp/clock_jitter.h>
#include <stdint.h>
#include <uerudp/packet_tracker.h>
#include "tools/info/histogram.h"

/* The jitter of one side's packets, from its jitter clock and the capture's clock. */
struct info_jitter {
    struct ue_clock_jitter clock;
    int64_t max_ns;
    uint64_t samples;
};

struct info_timing {
    struct info_histogram rtt; /* ns; the sum of the halves of both directions, independent of the capture point */
    struct info_histogram halves[2]; /* ns; from a packet of this side to the first packet that acknowledges it */
    int64_t last_half_ns[2];
    int64_t handshake_ns[2]; /* from this side's handshake message to the answer; 0: unknown */
    struct info_jitter jitter[2];
    struct info_histogram frame_time_ms; /* as reported by the server */
};

/* Handles events of types HANDSHAKE, PACKET and ACKED. */
void info_timing_on_event(struct info_timing *timing, const struct ue_tracker_event *event);

/* Adds a server frame time, which some generations write in items. */
void info_timing_add_frame_time(struct info_timing *timing, unsigned side, uint8_t frame_time_ms);

/* The full round trip time of the handshake; -1: not seen. */
int64_t info_timing_handshake_ns(const struct info_timing *timing);

/* Clears the values measured with the capture's clock; server frame times stay. */
void info_timing_clear_spans(struct info_timing *timing);

void info_timing_clear(struct info_timing *timing);

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

#endif
