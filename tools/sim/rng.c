/* SPDX-License-Identifier: MIT */
#include "tools/sim/rng.h"

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

static uint64_t finish(uint64_t word) {
    word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
    return word ^ word >> 31;
}

uint64_t sim_rng_mix(uint64_t a, uint64_t b) {
    return finish(finish(a + GOLDEN) ^ (b + 1) * GOLDEN);
}

uint64_t sim_rng_next(struct sim_rng *rng) {
    return finish(rng->state += GOLDEN);
}

uint64_t sim_rng_below(struct sim_rng *rng, uint64_t bound) {
    if (bound == 0) {
        return 0;
    }
    /* the first `biased` words would make small numbers more likely */
    uint64_t biased = (0 - bound) % bound;
    uint64_t word;
    do {
        word = sim_rng_next(rng);
    } while (word < biased);
    return word % bound;
}

double sim_rng_unit_of(uint64_t word) {
    return (double)(word >> 11) * 0x1p-53;
}

double sim_rng_unit(struct sim_rng *rng) {
    return sim_rng_unit_of(sim_rng_next(rng));
}
