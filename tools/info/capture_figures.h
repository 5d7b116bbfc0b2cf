/* SPDX-License-Identifier: MIT */
/* Figures of all connections of a capture together, as shares and rates, so that captures can be compared that differ
   in duration and number of players. */
#ifndef UERUDP_TOOLS_INFO_CAPTURE_FIGURES_H
#define UERUDP_TOOLS_INFO_CAPTURE_FIGURES_H

#include "tools/info/connection_info.h"

/* Times that several connections measured. NAN: no samples. */
struct info_percentiles {
    double p50_ms, p99_ms;
};

struct info_way_figures {
    uint64_t packets;
    uint64_t whole_bytes, whole_seconds; /* with IP and UDP headers, see struct ue_side_rate */
    uint64_t reported, not_acked;
    uint64_t reliable, resends;
    uint64_t peak_bytes_per_s; /* of one connection */
};

struct info_figures {
    uint64_t connections;
    bool has_times;      /* the capture times of all connections are plausible */
    double duration_s;   /* from the first to the last datagram of any connection */
    double connection_s; /* sum of the durations of the connections */
    struct info_way_figures ways[2];
    struct info_percentiles rtt, server_frame_time;
    uint64_t findings[UE_FINDING_COUNT]; /* by kind */
    uint64_t affected[UE_FINDING_COUNT]; /* connections that have one */
    double longest_stall_ms;             /* 0: none */
};

/* infos: struct info_connection. */
struct info_figures info_figures_of(const GPtrArray *infos);

/* Whether a connection has more findings of a kind the longer it lasts; else it has one at most of each side, message
   or channel. */
bool info_figures_grows(unsigned kind);

/* How often a kind of finding occurs: of those whose number grows, in a minute of one connection; of others, the share
   of the connections that have it. NAN: not known. */
double info_figures_frequency(const struct info_figures *figures, unsigned kind);

/* A number in a minute of one connection; NAN if no time is known. */
double info_figures_per_minute(const struct info_figures *figures, uint64_t count);

#endif
