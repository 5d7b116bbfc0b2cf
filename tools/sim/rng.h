/* SPDX-License-Identifier: MIT */
/* Pseudorandom numbers of simulations (splitmix64): a seed gives the same numbers on every machine. Not for secrets. */
#ifndef UERUDP_TOOLS_SIM_RNG_H
#define UERUDP_TOOLS_SIM_RNG_H

#include <stdint.h>

struct sim_rng {
    uint64_t state;
};

/* Mixes two words: seeds for parts of a run that must be independent of one another. */
uint64_t sim_rng_mix(uint64_t a, uint64_t b);

uint64_t sim_rng_next(struct sim_rng *rng);
/* 0 to bound - 1, uniform; 0 where bound is 0. */
uint64_t sim_rng_below(struct sim_rng *rng, uint64_t bound);
/* 0 <= result < 1. */
double sim_rng_unit(struct sim_rng *rng);
/* The same function of a word that is random already. */
double sim_rng_unit_of(uint64_t word);

#endif
