/* SPDX-License-Identifier: MIT */
/* Saturating arithmetic of times in nanoseconds. A capture can hold any 64-bit time; sums and differences that overflow
   become INT64_MIN or INT64_MAX. */
#ifndef UERUDP_TIME_NS_H
#define UERUDP_TIME_NS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Nanoseconds of a microsecond, a millisecond, a second. */
#define UE_NS_PER_US INT64_C(1000)
#define UE_NS_PER_MS INT64_C(1000000)
#define UE_NS_PER_S INT64_C(1000000000)

static inline int64_t ue_time_ns_add(int64_t time_ns, int64_t span_ns) {
    int64_t sum;
    return __builtin_add_overflow(time_ns, span_ns, &sum) ? (span_ns < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static inline int64_t ue_time_ns_since(int64_t time_ns, int64_t before_ns) {
    int64_t span;
    return __builtin_sub_overflow(time_ns, before_ns, &span) ? (before_ns > 0 ? INT64_MIN : INT64_MAX) : span;
}

/* Combines seconds and nanoseconds, each of any size and sign. Only the sum saturates. */
static inline int64_t ue_time_ns_from(int64_t seconds, int64_t nanoseconds) {
    int64_t time_ns, rest_ns = nanoseconds % UE_NS_PER_S;
    seconds = ue_time_ns_add(seconds, nanoseconds / UE_NS_PER_S);
    if (seconds > 0 && rest_ns < 0) { /* with equal signs the product is no larger than the sum */
        seconds--;
        rest_ns += UE_NS_PER_S;
    } else if (seconds < 0 && rest_ns > 0) {
        seconds++;
        rest_ns -= UE_NS_PER_S;
    }
    if (__builtin_mul_overflow(seconds, UE_NS_PER_S, &time_ns)) {
        return seconds < 0 ? INT64_MIN : INT64_MAX;
    }
    return ue_time_ns_add(time_ns, rest_ns);
}

#ifdef __cplusplus
}
#endif

#endif
