/* SPDX-License-Identifier: MIT */
/* Random numbers that follow from a seed and that nobody without the seed can predict: block n is SHA-512 over the seed
   and n as eight little-endian bytes (libgcrypt). */
#ifndef UERUDP_TOOLS_ENDPOINT_BASE_SEEDED_RANDOM_H
#define UERUDP_TOOLS_ENDPOINT_BASE_SEEDED_RANDOM_H

#include <uerudp/endpoint.h>

#define UE_RANDOM_BLOCK_BYTES 64

struct ue_random {
    uint8_t seed[UE_SEED_BYTES];
    uint64_t counter; /* number of the next block */
    uint8_t block[UE_RANDOM_BLOCK_BYTES];
    uint32_t left; /* unused bytes of the block */
};

/* seed: UE_SEED_BYTES; NULL: all zero. */
void ue_random_init(struct ue_random *random, const uint8_t *seed);
void ue_random_fill(struct ue_random *random, uint8_t *bytes, size_t size_bytes);
/* 0 to bound - 1, uniform; 0 where bound is 0. */
uint32_t ue_random_below(struct ue_random *random, uint32_t bound);

#endif
