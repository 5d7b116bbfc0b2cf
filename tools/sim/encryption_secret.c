/* SPDX-License-Identifier: MIT */
#include "tools/sim/encryption_secret.h"

#include <inttypes.h>
#include <stdio.h>

#include <uerudp/endpoint.h>
#include "tools/sim/rng.h"

#define SALT_KEY 8

void ue_secret_key(uint64_t seed, uint8_t *key) {
    struct ue_rng rng = {ue_rng_mix(seed, SALT_KEY)};
    for (size_t i = 0; i < UE_KEY_BYTES; i++) {
        key[i] = (uint8_t)ue_rng_next(&rng);
    }
}

void ue_secret_token(uint64_t seed, char token[UE_SECRET_TOKEN_BYTES]) {
    snprintf(token, UE_SECRET_TOKEN_BYTES, "sim-%016" PRIx64, seed);
}
