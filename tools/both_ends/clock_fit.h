/* SPDX-License-Identifier: MIT */
/* How far the clock of one capture is ahead of that of another, from packets that both have. */
#ifndef UERUDP_TOOLS_BOTH_ENDS_CLOCK_FIT_H
#define UERUDP_TOOLS_BOTH_ENDS_CLOCK_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A packet in both captures. */
struct clock_sample {
    int64_t time_ns;  /* in the first capture */
    int64_t ahead_ns; /* its time in the second capture less that in the first: offset of the clock, plus delay if it
                         went from the first to the second, less delay if it went the other way */
};

/* Which of two capture points the packets of a side pass first. */
enum clock_order {
    CLOCK_ORDER_UNKNOWN, /* packets of one side only, or none, or the parts do not agree */
    CLOCK_ORDER_FIRST,   /* packets of side 0 the first point, those of side 1 the second */
    CLOCK_ORDER_SECOND,  /* the reverse */
    CLOCK_ORDER_SAME     /* no packet needs time between them */
};

/* samples: by the side that sent them. Every delay is positive, so packets of a side whose packets go from the first
   point to the second are seen with a greater difference than those of the other side, whatever the clocks are. */
enum clock_order clock_order_of(const struct clock_sample *const samples[2], const size_t counts[2]);

/* No clock of a machine drifts more, and none that is corrected without being set; what seems to be more is a delay
   that grows. */
#define CLOCK_FIT_DRIFT_MAX 500e-6

enum clock_fit_result {
    CLOCK_FIT_KNOWN,
    CLOCK_FIT_ONE_WAY,   /* packets of one direction only: the delay cannot be told from the offset */
    CLOCK_FIT_NOT_LINEAR /* no offset with the drift of a clock leaves all delays positive: a clock was set, or its
                            drift changed */
};

/* offset(t) = offset_ns + drift * (t - reference_ns), of the second clock against the first. The bounds hold whatever
   the delays are, if both clocks run evenly: with any other offset and drift, a packet would arrive before it was sent
   by more than what the times may be inaccurate by. */
struct clock_fit {
    enum clock_fit_result result;
    int64_t reference_ns; /* of the first clock: when the samples begin */
    int64_t offset_ns; /* exact, if the fastest packets of both directions needed equally long all the time; unless the
                          result is KNOWN, only what the samples have on average */
    int64_t bound_ns;  /* offset_ns is wrong by at most this */
    double drift;      /* 0 unless has_drift */
    double least_drift, most_drift; /* within CLOCK_FIT_DRIFT_MAX */
    bool is_drift_measured;         /* the samples are enough to see a drift, or that none exceeds chance */
    bool has_drift; /* it exceeds chance, or with none a packet would arrive before it was sent (then it is the middle
                       of the bounds, and not measured) */
};

/* Fits the line. samples[0] went from the first capture point to the second, samples[1] the other way. */
struct clock_fit clock_fit_of(const struct clock_sample *const samples[2], const size_t counts[2]);

/* Whether the delays bound the drift more than a clock does: else the captures are too short for it. */
static inline bool clock_fit_bounds_drift(const struct clock_fit *fit) {
    return fit->least_drift > -CLOCK_FIT_DRIFT_MAX || fit->most_drift < CLOCK_FIT_DRIFT_MAX;
}

/* The offset at a time of the first clock. */
int64_t clock_fit_offset_ns(const struct clock_fit *fit, int64_t time_ns);

/* The time of the first clock at a time of the second clock. */
int64_t clock_fit_to_first_ns(const struct clock_fit *fit, int64_t time_ns);

#endif
