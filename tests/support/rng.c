/* SPDX-License-Identifier: MIT */
#include "tests/support/rng.h"

#include <inttypes.h>
#include <stdio.h>

#include <uerudp/bits.h>

#include "tests/support/environment.h"

#define SEED_STOCK UINT64_C(0x5eed0fa110ca7eD5)

/* splitmix64 */
uint64_t rng_next(struct rng *rng) {
    uint64_t word = rng->state += UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
    return word ^ word >> 31;
}

uint64_t rng_below(struct rng *rng, uint64_t bound) {
    return bound != 0 ? rng_next(rng) % bound : 0;
}

bool rng_chance(struct rng *rng, unsigned percent) {
    return rng_below(rng, 100) < percent;
}

/* Stores whole words, because stores of bytes are slow with MemorySanitizer. */
void rng_fill(struct rng *rng, void *bytes, size_t size_bytes) {
    uint8_t *to = bytes;
    size_t done = 0;
    for (; done + 8 <= size_bytes; done += 8) {
        ue_bytes_store64(to + done, rng_next(rng));
    }
    for (uint64_t word = done < size_bytes ? rng_next(rng) : 0; done < size_bytes; done++, word >>= 8) {
        to[done] = (uint8_t)word;
    }
}

uint64_t rng_boundary(struct rng *rng, uint64_t bound) {
    uint64_t value = 0;
    switch (rng_below(rng, 4)) {
    case 0: value = rng_below(rng, 4); break;
    case 1: value = bound - 1 - rng_below(rng, 4); break;
    case 2: value = (UINT64_C(1) << rng_below(rng, 64)) - rng_below(rng, 2); break;
    default: value = rng_next(rng); break;
    }
    return bound != 0 ? value % bound : value;
}

struct rng rng_seeded(const char *name) {
    struct rng rng = {environment_number("UERUDP_LAW_SEED", SEED_STOCK)};
    printf("%s: UERUDP_LAW_SEED=0x%" PRIx64 "\n", name, rng.state);
    return rng;
}

uint64_t rng_rounds(uint64_t fallback) {
    return environment_number("UERUDP_LAW_ROUNDS", fallback);
}
