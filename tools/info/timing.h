/* SPDX-License-Identifier: MIT */
/* Round trips, jitter and server frame times. */
#ifndef UERUDP_TOOLS_INFO_TIMING_H
#define UERUDP_TOOLS_INFO_TIMING_H

#include <uerudp/clock_jitter.h>
#include <uerudp/packet_tracker.h>
#include "tools/info/histogram.h"

/* The jitter of what one side sends, by its jitter clock and the capture's. */
struct info_jitter {
    struct ue_clock_jitter clock;
    int64_t max_ns;
    uint64_t samples;
};

struct info_timing {
    struct info_histogram rtt;       /* ns; the halves of both directions together, independent of the capture point */
    struct info_histogram halves[2]; /* ns; from a packet of this side to the first one that acknowledges it */
    int64_t last_half_ns[2];
    int64_t handshake_ns[2]; /* from this side's question of the handshake to the other's answer; 0: unknown */
    struct info_jitter jitter[2];
    struct info_histogram frame_time_ms; /* as the server reports it */
};

/* Feed events of types HANDSHAKE, PACKET and ACKED. */
void info_timing_on_event(struct info_timing *timing, const struct ue_tracker_event *event);

/* A server frame time, wherever the generation writes it. */
void info_timing_add_frame_time(struct info_timing *timing, unsigned side, uint8_t frame_time_ms);

/* The whole round trip of the handshake; -1: not seen. */
int64_t info_timing_handshake_ns(const struct info_timing *timing);

/* Forgets what was measured by the clock of the capture; server frame times stay. */
void info_timing_clear_spans(struct info_timing *timing);

void info_timing_clear(struct info_timing *timing);

#endif
