/* SPDX-License-Identifier: MIT */
#include "tools/sim/encryption_secret.h"

#include <inttypes.h>
#include <stdio.h>

#include <uerudp/endpoint.h>
#include "tools/sim/rng.h"

#define SALT_KEY 8

void sim_secret_key(uint64_t seed, uint8_t *key) {
    struct sim_rng rng = {sim_rng_mix(seed, SALT_KEY)};
    for (size_t i = 0; i < UE_KEY_BYTES; i++) {
        key[i] = (uint8_t)sim_rng_next(&rng);
    }
}

void sim_secret_token(uint64_t seed, char token[SIM_SECRET_TOKEN_BYTES]) {
    snprintf(token, SIM_SECRET_TOKEN_BYTES, "sim-%016" PRIx64, seed);
}
