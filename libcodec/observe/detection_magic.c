/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/detection_magic.h"

/* Datagrams that must begin with the same bits. */
#define DATAGRAMS_MIN 8

/* FNV-1a; never 0. */
static uint32_t hash_of(const uint8_t cookie[UE_COOKIE_BYTES]) {
    uint32_t hash = UINT32_C(2166136261);
    for (size_t i = 0; i < UE_COOKIE_BYTES; i++) {
        hash = (hash ^ cookie[i]) * UINT32_C(16777619);
    }
    return hash != 0 ? hash : 1;
}

static void learn_shape(struct ue_detection_magic *trial, unsigned bits, unsigned side, const struct ue_handshake_match *shape) {
    uint32_t flag = UINT32_C(1) << (bits - 1);
    uint32_t hash = shape->has_cookie ? hash_of(shape->cookie) : 0;
    bool other = ((trial->sides & flag) != 0) != (side != 0);
    if (shape->type == UE_HANDSHAKE_INITIAL && !shape->has_cookie) {
        trial->initials |= flag;
    }
    if (hash == 0) {
        return;
    }
    if (other && trial->cookies[bits - 1] == hash) {
        trial->answers |= flag;
    }
    trial->cookies[bits - 1] = hash;
    trial->sides = side != 0 ? trial->sides | flag : trial->sides & ~flag;
}

/* Tries all lengths. A restart is left out: its bit is next to the handshake bit, so that a header one bit shorter
   would pass for one. */
static void learn_lengths(struct ue_detection *flow, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    for (uint8_t bits = 1; bits <= UE_MAGIC_BITS_MAX; bits++) {
        struct ue_settings settings = flow->settings;
        struct ue_handshake_match shape;
        settings.magic_bits = bits;
        if (ue_profile_match_handshake(&settings, bytes, size_bytes, &shape) && !shape.restart) {
            learn_shape(&flow->magic, bits, side, &shape);
        }
    }
}

void ue_detection_observe_magic(struct ue_detection *flow, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    struct ue_detection_magic *trial = &flow->magic;
    size_t at = (size_t)flow->settings.skip_bytes * 8;
    if (flow->settings.magic_bits != 0 || flow->given || flow->has_ids_evidence || trial->datagrams == UE_DETECTION_HELD_MAX ||
        size_bytes * 8 < at + UE_MAGIC_BITS_MAX) {
        return;
    }
    uint32_t first = (uint32_t)ue_bits_load(bytes, size_bytes, at, UE_MAGIC_BITS_MAX);
    if (trial->datagrams++ == 0) {
        trial->bits = first;
    }
    trial->changed |= first ^ trial->bits;
    learn_lengths(flow, side, bytes, size_bytes);
}

bool ue_detection_find_magic(const struct ue_detection *flow, unsigned *bits, uint32_t *value) {
    const struct ue_detection_magic *trial = &flow->magic;
    uint32_t lengths = trial->initials & trial->answers;
    bool is_one = lengths != 0 && (lengths & (lengths - 1)) == 0;
    if (!is_one || trial->datagrams < DATAGRAMS_MIN || flow->choice.reason != UE_DETECTION_REASON_CLOSEST) {
        return false;
    }
    *bits = (unsigned)__builtin_ctz(lengths) + 1;
    *value = trial->bits & (uint32_t)ue_bits_mask(*bits);
    return (trial->changed & (uint32_t)ue_bits_mask(*bits)) == 0;
}
