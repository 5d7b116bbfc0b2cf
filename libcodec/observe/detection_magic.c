/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/detection_magic.h"

#include "libcodec/base/fnv1a.h"

/* Minimum number of datagrams that begin with the same bits. */
#define DATAGRAMS_MIN 8

static void add_handshake(struct ue_detection_magic *magic, unsigned bits, unsigned side,
                          const struct ue_handshake_match *match) {
    uint32_t flag = UINT32_C(1) << (bits - 1);
    uint32_t hash = match->has_cookie ? ue_fnv1a_hash(match->cookie, UE_COOKIE_BYTES) : 0;
    bool other = ((magic->sides & flag) != 0) != (side != 0);
    if (match->type == UE_HANDSHAKE_INITIAL && !match->has_cookie) {
        magic->initials |= flag;
    }
    if (hash == 0) {
        return;
    }
    if (other && magic->cookies[bits - 1] == hash) {
        magic->answers |= flag;
    }
    magic->cookies[bits - 1] = hash;
    magic->sides = side != 0 ? magic->sides | flag : magic->sides & ~flag;
}

/* Tries all lengths. Restarts do not count: the restart bit follows the handshake bit, so that they also match a header
   that is one bit shorter. */
static void try_lengths(struct ue_detection *detection, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    for (uint8_t bits = 1; bits <= UE_MAGIC_BITS_MAX; bits++) {
        struct ue_settings settings = detection->settings;
        struct ue_handshake_match match;
        settings.magic_bits = bits;
        if (ue_profile_match_handshake(&settings, bytes, size_bytes, &match) && !match.restart) {
            add_handshake(&detection->magic, bits, side, &match);
        }
    }
}

void ue_detection_observe_magic(struct ue_detection *detection, unsigned side, const uint8_t *bytes,
                                size_t size_bytes) {
    struct ue_detection_magic *magic = &detection->magic;
    size_t at = (size_t)detection->settings.skip_bytes * 8;
    bool is_settled = detection->has_sure_form && detection->is_confirmed;
    if (detection->settings.magic_bits != 0 || detection->is_given || is_settled ||
        size_bytes * 8 < at + UE_MAGIC_BITS_MAX) {
        return;
    }
    uint32_t first = (uint32_t)ue_bits_load(bytes, size_bytes, at, UE_MAGIC_BITS_MAX);
    if (magic->datagrams++ == 0) {
        magic->bits = first;
    }
    magic->changed |= first ^ magic->bits;
    try_lengths(detection, side, bytes, size_bytes);
}

/* The only length after which there is a handshake, if the bits before it are equal in all datagrams; else 0. */
static unsigned only_length(const struct ue_detection_magic *magic) {
    uint32_t lengths = magic->initials & magic->answers;
    if (lengths == 0 || (lengths & (lengths - 1)) != 0) {
        return 0;
    }
    unsigned bits = (unsigned)__builtin_ctz(lengths) + 1;
    return (magic->changed & (uint32_t)ue_bits_mask(bits)) == 0 ? bits : 0;
}

bool ue_detection_hides_handshake(const struct ue_detection *detection) {
    return !detection->has_sure_form && only_length(&detection->magic) != 0;
}

bool ue_detection_find_magic(const struct ue_detection *detection, unsigned *bits, uint32_t *value) {
    const struct ue_detection_magic *magic = &detection->magic;
    bool is_explained = detection->has_ids_evidence && !ue_detection_is_guess(&detection->result);
    *bits = only_length(magic);
    if (*bits == 0 || magic->datagrams < DATAGRAMS_MIN || is_explained) {
        return false;
    }
    *value = magic->bits & (uint32_t)ue_bits_mask(*bits);
    return true;
}
