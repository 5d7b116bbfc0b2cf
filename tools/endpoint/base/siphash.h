/* SPDX-License-Identifier: MIT */
/* SipHash-2-4 (Aumasson, Bernstein 2012): a hash which nobody without the key can steer into collisions. */
#ifndef UERUDP_TOOLS_ENDPOINT_BASE_SIPHASH_H
#define UERUDP_TOOLS_ENDPOINT_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define UE_SIPHASH_KEY_BYTES 16

uint64_t ue_siphash(const uint8_t *key, const void *bytes, size_t size_bytes);

#endif
