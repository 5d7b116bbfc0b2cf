/* SPDX-License-Identifier: MIT */
/* Interleaved timing: every round runs every trial once, so that what disturbs the machine disturbs all alike. */
#ifndef UERUDP_TESTS_BENCH_CODEC_TIMING_H
#define UERUDP_TESTS_BENCH_CODEC_TIMING_H

#include "tests/bench/codec/candidates.h"

/* One candidate on one pool; results in nanoseconds per packet. */
struct trial {
    const char *shape;
    const struct candidate *candidate;
    struct bench *bench;
    double median;
    double minimum;
};

/* False when memory is short. */
bool trials_run(struct trial *trials, size_t count, uint32_t rounds, struct random *random);

#endif
