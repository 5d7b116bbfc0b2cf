/* SPDX-License-Identifier: MIT */
/* A hash without seed, whose collisions are easy to make: only to compare messages of one peer. */
#ifndef UERUDP_LIBCODEC_BASE_FNV1A_H
#define UERUDP_LIBCODEC_BASE_FNV1A_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a; never 0. */
static inline uint32_t ue_fnv1a_hash(const uint8_t *bytes, size_t size_bytes) {
    uint32_t hash = UINT32_C(2166136261);
    for (size_t i = 0; i < size_bytes; i++) {
        hash = (hash ^ bytes[i]) * UINT32_C(16777619);
    }
    return hash != 0 ? hash : 1;
}

#endif
