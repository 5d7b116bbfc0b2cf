/* SPDX-License-Identifier: MIT */
/* Round trip times (ping), jitter and server frame times. */
#ifndef UERUDP_TOOLS_INFO_PING_AND_JITTER_H
#define UERUDP_TOOLS_INFO_PING_AND_JITTER_H

#include <uerudp/clock_jitter.h>
#include <stdint.h>
#include <uerudp/packet_tracker.h>
#include "tools/info/finding_list.h"
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

/* Adds the findings on round trips and on the server's frame times. */
void info_timing_report(const struct info_timing *timing, struct info_findings *findings);

#endif
