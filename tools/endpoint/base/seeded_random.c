/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/base/seeded_random.h"

#include <gcrypt.h>

#include <uerudp/bits.h>

#define COUNTER_BYTES 8

/* libgcrypt must be initialised by one thread before any other uses it. Whoever seals or bakes cookies has a random
   source, so the first of them does it, while others wait. A program that uses libgcrypt itself may have done it. */
static void initialise_libgcrypt(void) {
    static bool is_taken;
    while (__atomic_test_and_set(&is_taken, __ATOMIC_ACQUIRE)) {
    }
    if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P) == 0 && gcry_check_version(NULL) != NULL) {
        gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
        gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    }
    __atomic_clear(&is_taken, __ATOMIC_RELEASE);
}

void ue_random_init(struct ue_random *random, const uint8_t *seed) {
    initialise_libgcrypt();
    *random = (struct ue_random){0};
    if (seed != NULL) {
        memcpy(random->seed, seed, sizeof random->seed);
    }
}

static void next_block(struct ue_random *random) {
    uint8_t input[UE_SEED_BYTES + COUNTER_BYTES];
    memcpy(input, random->seed, UE_SEED_BYTES);
    ue_bytes_store64(input + UE_SEED_BYTES, random->counter++);
    gcry_md_hash_buffer(GCRY_MD_SHA512, random->block, input, sizeof input);
    random->left = UE_RANDOM_BLOCK_BYTES;
}

void ue_random_fill(struct ue_random *random, uint8_t *bytes, size_t size_bytes) {
    while (size_bytes != 0) {
        if (random->left == 0) {
            next_block(random);
        }
        size_t taken = size_bytes < random->left ? size_bytes : random->left;
        memcpy(bytes, random->block + UE_RANDOM_BLOCK_BYTES - random->left, taken);
        random->left -= (uint32_t)taken;
        bytes += taken;
        size_bytes -= taken;
    }
}

static uint32_t next_word(struct ue_random *random) {
    uint8_t b[4];
    ue_random_fill(random, b, sizeof b);
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

uint32_t ue_random_below(struct ue_random *random, uint32_t bound) {
    if (bound == 0) {
        return 0;
    }
    uint32_t uneven = -bound % bound; /* 2^32 mod bound: so many words would favour small results */
    uint32_t word = next_word(random);
    while (word < uneven) {
        word = next_word(random);
    }
    return word % bound;
}
