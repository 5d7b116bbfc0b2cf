/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/detection_magic.h"

#include "libcodec/base/fnv1a.h"

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

/* Compares the first bits with those of the first Initial, or while there is none, of the first datagram. */
static void count_bits(struct ue_detection_magic *magic, uint32_t first, bool is_before_initial) {
    if (magic->datagrams == 0 || (is_before_initial && magic->initials != 0)) {
        magic->bits = first;
        magic->datagrams = 0;
        memset(magic->differ, 0, sizeof magic->differ);
    }
    magic->datagrams++;
    if (first != magic->bits) {
        magic->differ[__builtin_ctz(first ^ magic->bits)]++;
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
    bool had_initial = magic->initials != 0;
    try_lengths(detection, side, bytes, size_bytes);
    count_bits(magic, (uint32_t)ue_bits_load(bytes, size_bytes, at, UE_MAGIC_BITS_MAX), !had_initial);
}

unsigned ue_detection_magic_bits(const struct ue_detection *detection) {
    const struct ue_detection_magic *magic = &detection->magic;
    uint32_t lengths = magic->initials & magic->answers;
    if (lengths == 0 || (lengths & (lengths - 1)) != 0) {
        return 0;
    }
    unsigned bits = (unsigned)__builtin_ctz(lengths) + 1, others = 0;
    for (unsigned bit = 0; bit < bits; bit++) {
        others += magic->differ[bit];
    }
    return others * UE_DETECTION_MAGIC_MIN <= magic->datagrams ? bits : 0;
}

bool ue_detection_hides_handshake(const struct ue_detection *detection) {
    return !detection->has_sure_form && ue_detection_magic_bits(detection) != 0;
}
