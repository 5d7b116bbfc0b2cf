/* SPDX-License-Identifier: MIT */
/* The key and the token that both sides of an encrypted scenario know; they follow from its seed. */
#ifndef UERUDP_TOOLS_SIM_ENCRYPTION_SECRET_H
#define UERUDP_TOOLS_SIM_ENCRYPTION_SECRET_H

#include <stdint.h>

#define SIM_SECRET_TOKEN_BYTES 24

/* key: UE_KEY_BYTES. */
void sim_secret_key(uint64_t seed, uint8_t *key);

/* The token by which the server finds the key. */
void sim_secret_token(uint64_t seed, char token[SIM_SECRET_TOKEN_BYTES]);

#endif
