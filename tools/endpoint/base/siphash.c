/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/base/siphash.h"

#include <string.h>

#include <uerudp/bits.h>

static uint64_t rotate(uint64_t word, unsigned bits) {
    return word << bits | word >> (64 - bits);
}

static void sip_rounds(uint64_t v[4], int rounds) {
    for (; rounds > 0; rounds--) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32) + v[3];
        v[2] += v[1];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[2] = rotate(v[2], 32);
    }
}

static void sip_word(uint64_t v[4], uint64_t word) {
    v[3] ^= word;
    sip_rounds(v, 2);
    v[0] ^= word;
}

uint64_t ue_siphash(const uint8_t *key, const void *bytes, size_t size_bytes) {
    uint64_t k0 = ue_bytes_load64(key), k1 = ue_bytes_load64(key + 8);
    uint64_t v[4] = {k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
                     k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)};
    const uint8_t *in = bytes;
    size_t left = size_bytes;
    for (; left >= 8; left -= 8, in += 8) {
        sip_word(v, ue_bytes_load64(in));
    }
    uint8_t last[8] = {0};
    memcpy(last, in, left);
    last[7] = (uint8_t)size_bytes;
    sip_word(v, ue_bytes_load64(last));
    v[2] ^= 0xff;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
