/* SPDX-License-Identifier: MIT */
/* How unevenly packets arrive, by the milliseconds of their sender's clock that they carry (protocol.md 7;
   endpoint.md 31). */
#ifndef UERUDP_CLOCK_JITTER_H
#define UERUDP_CLOCK_JITTER_H

#include <stdbool.h>
#include <stdint.h>

#include <uerudp/time_ns.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UE_CLOCK_JITTER_UNUSABLE_MS 1000 /* 1023: a second or more since the last clock */
#define UE_CLOCK_JITTER_NOISE 16         /* JitterNoiseReduction */

/* The jitter of the packets of one side. A zeroed struct is initialised. */
struct ue_clock_jitter {
    int64_t delta_ns;   /* receive time minus the sender's clock, modulo one second; of the last packet */
    int64_t average_ns; /* smoothed like the engine's AverageJitterInMS */
    bool has_delta;
};

/* The distance of two clocks that wrap every second. The engine does not handle the wrap. */
static inline int64_t ue_clock_jitter_distance_ns(int64_t a_ns, int64_t b_ns) {
    int64_t difference = a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns;
    return difference < UE_NS_PER_S - difference ? difference : UE_NS_PER_S - difference;
}

/* Adds a packet. time_ns: when it was captured; clock_ms: its jitter clock. Returns false when the average does not
   change, because the clock is not usable or this is the first packet. */
static inline bool ue_clock_jitter_feed(struct ue_clock_jitter *jitter, int64_t time_ns, uint16_t clock_ms) {
    if (clock_ms >= UE_CLOCK_JITTER_UNUSABLE_MS) {
        return false;
    }
    int64_t delta_ns = (time_ns % UE_NS_PER_S - clock_ms * UE_NS_PER_MS + 2 * UE_NS_PER_S) % UE_NS_PER_S;
    bool is_first = !jitter->has_delta;
    if (!is_first) {
        jitter->average_ns +=
            (ue_clock_jitter_distance_ns(delta_ns, jitter->delta_ns) - jitter->average_ns) / UE_CLOCK_JITTER_NOISE;
    }
    jitter->has_delta = true;
    jitter->delta_ns = delta_ns;
    return !is_first;
}

#ifdef __cplusplus
}
#endif

#endif
