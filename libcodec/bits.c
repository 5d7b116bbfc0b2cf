/* SPDX-License-Identifier: MIT */
#include "libcodec/bits.h"

uint64_t ue_bits_load_tail(const uint8_t *base, size_t bit, unsigned count) {
    if (count == 0) {
        return 0;
    }
    const uint8_t *bytes = base + (bit >> 3);
    unsigned shift = (unsigned)(bit & 7);
    size_t touched = ue_bits_bytes(shift + count);
    uint64_t low = 0;
    for (size_t i = 0; i < touched && i < 8; i++) {
        low |= (uint64_t)bytes[i] << (8 * i);
    }
    low >>= shift;
    if (touched > 8) {
        low |= (uint64_t)bytes[8] << (64 - shift);
    }
    return low & ue_bits_mask(count);
}

static void store_few(uint8_t *to, unsigned shift, unsigned count, uint64_t value) {
    uint8_t mask = (uint8_t)(ue_bits_mask(count) << shift);
    *to = (uint8_t)((*to & ~mask) | ((value << shift) & mask));
}

void ue_bits_copy(uint8_t *to, size_t to_bit, const uint8_t *from, size_t from_bit, size_t count) {
    to += to_bit >> 3;
    unsigned to_shift = (unsigned)(to_bit & 7);
    if (to_shift != 0 && count != 0) {
        unsigned head = 8 - to_shift < count ? 8 - to_shift : (unsigned)count;
        store_few(to, to_shift, head, ue_bits_load_tail(from, from_bit, head));
        to++;
        from_bit += head;
        count -= head;
    }
    from += from_bit >> 3;
    unsigned shift = (unsigned)(from_bit & 7);
    size_t bytes = count >> 3;
    if (shift == 0) {
        if (bytes != 0) {
            memcpy(to, from, bytes);
        }
        to += bytes;
        from += bytes;
    } else {
        /* Bits of the byte behind each word are always part of the run here: shift is not 0. */
        for (; bytes >= 8; bytes -= 8, to += 8, from += 8) {
            ue_bytes_store64(to, ue_bytes_load64(from) >> shift | (uint64_t)from[8] << (64 - shift));
        }
        for (; bytes != 0; bytes--, to++, from++) {
            *to = (uint8_t)(from[0] >> shift | from[1] << (8 - shift));
        }
    }
    unsigned tail = (unsigned)(count & 7);
    if (tail != 0) {
        store_few(to, 0, tail, ue_bits_load_tail(from, shift, tail));
    }
}

bool ue_bits_last_set(const uint8_t *base, size_t begin, size_t end, size_t *bit) {
    while (end > begin) {
        unsigned count = end - begin < 64 ? (unsigned)(end - begin) : 64;
        uint64_t word = ue_bits_load(base, ue_bits_bytes(end), end - count, count);
        if (word != 0) {
            *bit = end - count + (63 - (unsigned)__builtin_clzll(word));
            return true;
        }
        end -= count;
    }
    return false;
}

bool ue_bytes_zero(const uint8_t *bytes, size_t count) {
    uint8_t any = 0;
    for (size_t i = 0; i < count; i++) {
        any |= bytes[i];
    }
    return any == 0;
}

void ue_view_copy(struct ue_view view, uint8_t *to) {
    if (view.bits % 8 != 0) {
        to[view.bits / 8] = 0;
    }
    ue_bits_copy(to, 0, view.base, view.bit, view.bits);
}

uint64_t ue_view_load(struct ue_view view, size_t offset_bits, unsigned count) {
    return ue_bits_load(view.base, ue_bits_bytes(view.bit + view.bits), view.bit + offset_bits, count);
}

bool ue_view_equal(struct ue_view a, struct ue_view b) {
    if (a.bits != b.bits) {
        return false;
    }
    for (size_t done = 0; done < a.bits; done += 64) {
        unsigned count = a.bits - done < 64 ? (unsigned)(a.bits - done) : 64;
        if (ue_view_load(a, done, count) != ue_view_load(b, done, count)) {
            return false;
        }
    }
    return true;
}
