/* SPDX-License-Identifier: MIT */
/* Random numbers that a printed seed reproduces. */
#ifndef UERUDP_TESTS_SUPPORT_RNG_H
#define UERUDP_TESTS_SUPPORT_RNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rng {
    uint64_t state;
};

uint64_t rng_next(struct rng *rng);

/* 0 to bound - 1; 0 if bound is 0. */
uint64_t rng_below(struct rng *rng, uint64_t bound);

/* True in `percent` of 100 calls. */
bool rng_chance(struct rng *rng, unsigned percent);

void rng_fill(struct rng *rng, void *bytes, size_t size_bytes);

/* A number below bound that is often small or near a power of two. */
uint64_t rng_boundary(struct rng *rng, uint64_t bound);

/* Seeded from UERUDP_LAW_SEED or with a fixed number; prints the seed under the given name. */
struct rng rng_seeded(const char *name);

/* The number in UERUDP_LAW_ROUNDS, or the fallback. */
uint64_t rng_rounds(uint64_t fallback);

#endif
