/* SPDX-License-Identifier: MIT */
#include <uerudp/clock_jitter.h>

#include <uerudp/time_ns.h>

#define NS_PER_MS INT64_C(1000000)
#define UNUSABLE_MS 1000 /* 1023 on the wire; real ones are below */
#define NOISE 16         /* JitterNoiseReduction */

/* The engine takes differences as they are; here the clock's step from 999 to 0 is none. */
static int64_t difference_ns(int64_t a_ns, int64_t b_ns) {
    int64_t difference = a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns;
    return difference < UE_NS_PER_S - difference ? difference : UE_NS_PER_S - difference;
}

bool ue_clock_jitter_feed(struct ue_clock_jitter *jitter, int64_t time_ns, uint16_t clock_ms) {
    if (clock_ms >= UNUSABLE_MS) {
        return false;
    }
    int64_t delta_ns = (time_ns % UE_NS_PER_S - clock_ms * NS_PER_MS + 2 * UE_NS_PER_S) % UE_NS_PER_S;
    bool is_first = !jitter->has_delta;
    if (!is_first) {
        jitter->average_ns += (difference_ns(delta_ns, jitter->delta_ns) - jitter->average_ns) / NOISE;
    }
    jitter->has_delta = true;
    jitter->delta_ns = delta_ns;
    return !is_first;
}
