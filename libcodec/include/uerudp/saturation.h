/* SPDX-License-Identifier: MIT */
/* When a sender was saturated, at least: a lower bound of its bandwidth budget (QueuedBits, endpoint.md 30), rebuilt
   from the sizes of its packets, from their clock (endpoint.md 31.1) or, where they have none, from the capture times,
   and from the rate that the client asked for. The sender counts more where packets are missing in the capture, or
   where it allows less than the client asked for. The bound holds if the ticks of the sender are no longer than
   tick_ns, and its rate before the first known one was no higher than that. */
#ifndef UERUDP_SATURATION_H
#define UERUDP_SATURATION_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UE_SATURATION_GAPS 128

/* From a tick that leaves bits above the rate until they have left, by the time of the sender. */
struct ue_saturation_span {
    int64_t begin_ns; /* capture time of the last packet of that tick */
    int64_t length_ns;
    uint64_t frame; /* of that packet; 0: there is no span */
    int32_t rate;   /* when it began, bytes per second; it may change until the bits have left */
};

/* A packet, neither a copy nor captured after a later one. */
struct ue_saturation_packet {
    int64_t time_ns; /* of the capture */
    uint64_t frame;
    int64_t packet_id;
    uint64_t bytes;    /* with the 28 bytes of headers that engines count */
    bool has_info;     /* the first packet of a tick, with a clock */
    uint16_t clock_ms; /* UE_CLOCK_JITTER_UNUSABLE_MS: it has no value */
};

/* One side of a connection. Zeroed: the rate is not known. */
struct ue_saturation {
    int32_t rate;       /* the latest, bytes per second, at least 1800, as servers allow; 0: not known */
    int32_t first_rate; /* the first known one */
    int64_t tick_ns;    /* the longest tick for which the numbers hold; 0: not known */
    uint64_t packets;   /* that were counted, because the rate was known */
    int64_t counted_ns; /* the time since the rate was known, by the sender's clock */
    int64_t peak_bits;  /* the most in the queue at the end of a tick, before it removes any; at most 0: none known */
    uint64_t peak_frame;
    int32_t peak_rate; /* in that tick, bytes per second */
    uint64_t spans;
    int64_t total_ns;                          /* of all spans, complete after ue_saturation_finish */
    struct ue_saturation_span longest, latest; /* likewise longest */
    bool has_clocks;                           /* packets have clocks, so that delays in the network do not matter */
    bool is_from_start;                        /* a span depends on first_rate, which was not known */

    bool is_counting; /* the rest is private */
    bool has_sent, has_clock;
    bool is_rate_known, is_first_known;
    bool is_idle_known; /* since_idle_bits does not depend on a rate that was not known */
    bool is_whole;      /* no packet is missing since the first of the current tick */
    uint16_t clock_ms;
    int64_t last_id;
    int64_t tick_begin_ns, sent_ns; /* capture times of the first and the last packet of the current tick */
    uint64_t frame;
    int64_t since_start_bits; /* in the queue, above the least that the sender can have had at the first known rate */
    int64_t since_idle_bits;  /* in the queue, at least */
    int64_t later_bits;       /* sent in this tick, or in one before the next whose first packet is captured */
    int64_t long_tick_ns;     /* nearly all ticks are no longer */
    int64_t short_tick_ns;    /* a quarter of the ticks is no longer */
    int64_t held_ns;          /* how long the latest packet may have waited in the network; without clocks */
    int64_t latest_begin_ns, latest_end_ns; /* of the latest span, in the time of counted_ns */
    uint32_t gap_count;
    uint16_t gaps[UE_SATURATION_GAPS]; /* between ticks with packets, by milliseconds, rounded up */
};

/* The rate from the current tick of the side on. is_known: else it is at most this, and was so before the first call.
 */
void ue_saturation_set_rate(struct ue_saturation *side, int32_t bytes_per_s, bool is_known);

/* Nothing is known of what the side sends next: another connection begins. What was counted stays. */
void ue_saturation_stop(struct ue_saturation *side);

/* A packet that the side sent, in capture order. */
void ue_saturation_add(struct ue_saturation *side, const struct ue_saturation_packet *packet);

/* The connection ends at this capture time. No packet may follow. */
void ue_saturation_finish(struct ue_saturation *side, int64_t end_ns);

/* How long peak_rate needs for peak_bits. */
int64_t ue_saturation_peak_ns(const struct ue_saturation *side);

#ifdef __cplusplus
}
#endif

#endif
