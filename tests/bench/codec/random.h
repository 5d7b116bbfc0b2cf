/* SPDX-License-Identifier: MIT */
/* Repeatable random numbers (SplitMix64): the same seed gives the same workload on every machine. */
#ifndef UERUDP_TESTS_BENCH_CODEC_RANDOM_H
#define UERUDP_TESTS_BENCH_CODEC_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

static inline uint64_t random_next(struct random *random) {
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline uint32_t random_below(struct random *random, uint32_t bound) {
    return (uint32_t)((random_next(random) >> 32) * bound >> 32);
}

static inline uint32_t random_between(struct random *random, uint32_t low, uint32_t high) {
    return low + random_below(random, high - low + 1);
}

static inline bool random_percent(struct random *random, uint32_t percent) {
    return random_below(random, 100) < percent;
}

#endif
