/* SPDX-License-Identifier: MIT */
/* Reading and copying runs of bits in a byte buffer. Bit 0 is the least significant bit of byte 0, and integers are
   little-endian at bit granularity (protocol.md 2.1, 4.2). Nothing here allocates or fails; the caller checks bounds.
 */
#ifndef UERUDP_BITS_H
#define UERUDP_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UE_INLINE static inline __attribute__((always_inline))
#define UE_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* A run of bits inside a buffer that the view does not own; valid as long as that buffer. */
struct ue_view {
    const uint8_t *base;
    size_t bit;  /* first bit, counted from base */
    size_t bits; /* length */
};

/* Number of bytes that `bits` bits occupy. */
UE_INLINE size_t ue_bits_bytes(size_t bits) {
    return bits / 8 + (bits % 8 != 0);
}

/* Number of bits that the largest value below max needs: the longest form of a bounded integer. */
UE_INLINE unsigned ue_bits_width(uint32_t max) {
    return max > 1 ? 32u - (unsigned)__builtin_clz(max - 1) : 0;
}

/* Encoding of a bounded integer (protocol.md 2.3). A value below max takes `bits` bits; one more bit follows when the
   number in these bits is below `longer`. */
struct ue_bound {
    uint32_t max;
    uint32_t longer;
    unsigned bits;
};

#define UE_BOUND_BITS_COMMON 20 /* the fast path handles bounds up to this width: a bunch length of 65,535 bytes */

UE_INLINE struct ue_bound ue_bound_of(uint32_t max) {
    unsigned width = ue_bits_width(max);
    struct ue_bound bound = {max, 0, width}; /* no compound literal: C++ has none */
    if ((max & (max - 1)) != 0) {
        bound.longer = max - (UINT32_C(1) << (width - 1));
        bound.bits = width - 1;
    }
    return bound;
}

UE_INLINE uint64_t ue_bits_mask(unsigned count) {
    return count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
}

UE_INLINE uint64_t ue_bytes_load64(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

UE_INLINE void ue_bytes_store64(uint8_t *bytes, uint64_t word) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(bytes, &word, sizeof word);
}

/* As ue_bits_load, but loads only the bytes that contain the bits: for the last bytes of a buffer. */
uint64_t ue_bits_load_tail(const uint8_t *base, size_t bit, unsigned count);

/* Loads 0 to 64 bits. They must lie inside size_bytes; no byte after size_bytes is read. */
UE_INLINE uint64_t ue_bits_load(const uint8_t *base, size_t size_bytes, size_t bit, unsigned count) {
    size_t byte = bit >> 3;
    unsigned shift = (unsigned)(bit & 7);
    if (UE_UNLIKELY(shift + count > 64 || byte + 8 > size_bytes)) {
        return ue_bits_load_tail(base, bit, count);
    }
    return (ue_bytes_load64(base + byte) >> shift) & ue_bits_mask(count);
}

/* Copies count bits and leaves the other bits of the destination's bytes unchanged. The runs must not overlap. */
void ue_bits_copy(uint8_t *to, size_t to_bit, const uint8_t *from, size_t from_bit, size_t count);

/* Finds the highest set bit in [begin, end). Returns false when all bits are zero. */
bool ue_bits_last_set(const uint8_t *base, size_t begin, size_t end, size_t *bit);

bool ue_bytes_zero(const uint8_t *bytes, size_t count);

/* Copies a view to ue_bits_bytes(view.bits) bytes, aligned to bit 0, and pads the last byte with zeros. */
void ue_view_copy(struct ue_view view, uint8_t *to);

/* Loads count (at most 64) bits that begin at offset_bits of the view. They must lie inside the view. */
uint64_t ue_view_load(struct ue_view view, size_t offset_bits, unsigned count);

/* Whether two views hold the same bits. */
bool ue_view_equal(struct ue_view a, struct ue_view b);

#ifdef __cplusplus
}
#endif

#endif
