/* SPDX-License-Identifier: MIT */
#include <uerudp/bits.h>

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

/* Four words that the compiler may keep in one register. */
typedef uint64_t lanes __attribute__((vector_size(32)));

/* From little-endian to the machine's order, and back. */
UE_INLINE void swap_lanes(lanes *words) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (size_t i = 0; i < 4; i++) {
        (*words)[i] = __builtin_bswap64((*words)[i]);
    }
#else
    (void)words;
#endif
}

/* Shifting one load right and another, from the next byte on, left moves each word without looking at its neighbours:
   where the two overlap, they agree. */
UE_INLINE void move_lanes(uint8_t *to, const uint8_t *from, unsigned shift) {
    lanes low, high;
    memcpy(&low, from, sizeof low);
    memcpy(&high, from + 1, sizeof high);
    swap_lanes(&low);
    swap_lanes(&high);
    low = low >> shift | high << (8 - shift);
    swap_lanes(&low);
    memcpy(to, &low, sizeof low);
}

/* 64 bits that begin inside a byte; reads nine bytes. */
UE_INLINE uint64_t load_shifted(const uint8_t *from, unsigned shift) {
    return ue_bytes_load64(from) >> shift | ue_bytes_load64(from + 1) << (8 - shift);
}

/* Copies bytes whose source begins inside a byte, shift is not 0. The last block of a run may overlap the one before:
   cheaper than a loop for the rest. */
static void copy_shifted(uint8_t *to, const uint8_t *from, unsigned shift, size_t bytes) {
    size_t done = 0;
    if (bytes >= sizeof(lanes)) {
        for (; done + sizeof(lanes) < bytes; done += sizeof(lanes)) {
            move_lanes(to + done, from + done, shift);
        }
        move_lanes(to + bytes - sizeof(lanes), from + bytes - sizeof(lanes), shift);
    } else if (bytes >= 8) {
        for (; done + 8 < bytes; done += 8) {
            ue_bytes_store64(to + done, load_shifted(from + done, shift));
        }
        ue_bytes_store64(to + bytes - 8, load_shifted(from + bytes - 8, shift));
    } else {
        for (; done < bytes; done++) {
            to[done] = (uint8_t)(from[done] >> shift | from[done + 1] << (8 - shift));
        }
    }
}

void ue_bits_copy(uint8_t *to, size_t to_bit, const uint8_t *from, size_t from_bit, size_t count) {
    if (count == 0) {
        return; /* an empty run may have no bytes at all */
    }
    to += to_bit >> 3;
    unsigned to_shift = (unsigned)(to_bit & 7);
    if (to_shift != 0) {
        unsigned head = 8 - to_shift < count ? 8 - to_shift : (unsigned)count;
        store_few(to, to_shift, head, ue_bits_load_tail(from, from_bit, head));
        to++;
        from_bit += head;
        count -= head;
    }
    from += from_bit >> 3;
    unsigned shift = (unsigned)(from_bit & 7);
    size_t bytes = count >> 3;
    if (shift != 0) {
        copy_shifted(to, from, shift, bytes);
    } else if (bytes != 0) {
        memcpy(to, from, bytes);
    }
    unsigned tail = (unsigned)(count & 7);
    if (tail != 0) {
        bool both = shift + tail > 8;
        store_few(to + bytes, 0, tail, (uint64_t)(from[bytes] | (both ? from[bytes + 1] << 8 : 0)) >> shift);
    }
}

/* Steps back over runs of zero words that end at the byte border `end`. */
UE_INLINE size_t skip_zeros(const uint8_t *base, size_t begin, size_t end, size_t words) {
    while (end - begin >= 64 * words) {
        uint64_t any = 0;
        for (size_t i = 1; i <= words; i++) {
            any |= ue_bytes_load64(base + end / 8 - 8 * i);
        }
        if (any != 0) {
            break;
        }
        end -= 64 * words;
    }
    return end;
}

bool ue_bits_last_set(const uint8_t *base, size_t begin, size_t end, size_t *bit) {
    while (end > begin) {
        size_t aligned = 64 - (-end & 7); /* the most that one load gives: it ends with the byte of the last bit */
        unsigned count = (unsigned)(end - begin < aligned ? end - begin : aligned);
        uint64_t word = ue_bits_load(base, ue_bits_bytes(end), end - count, count);
        if (word != 0) {
            *bit = end - 1 - (size_t)__builtin_clzll(word << (64 - count));
            return true;
        }
        end = skip_zeros(base, begin, end - count, 8);
        end = skip_zeros(base, begin, end, 1);
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
    if ((view.bit | view.bits) % 8 == 0 && view.bits != 0) {
        memcpy(to, view.base + view.bit / 8, view.bits / 8);
        return;
    }
    if (view.bits % 8 != 0) {
        to[view.bits / 8] = 0;
    }
    ue_bits_copy(to, 0, view.base, view.bit, view.bits);
}

uint64_t ue_view_load(struct ue_view view, size_t offset_bits, unsigned count) {
    return ue_bits_load(view.base, ue_bits_bytes(view.bit + view.bits), view.bit + offset_bits, count);
}

/* Whether the views are equal from offset_bits on, which may be behind them. */
static bool is_end_equal(struct ue_view a, struct ue_view b, size_t offset_bits) {
    for (size_t done = offset_bits; done < a.bits; done += 56) {
        unsigned count = a.bits - done < 56 ? (unsigned)(a.bits - done) : 56;
        if (ue_view_load(a, done, count) != ue_view_load(b, done, count)) {
            return false;
        }
    }
    return true;
}

bool ue_view_equal(struct ue_view a, struct ue_view b) {
    size_t words = a.bits > 8 ? (a.bits - 8) / 64 : 0; /* behind which there is a ninth byte */
    uint64_t difference = 0;
    if (a.bits != b.bits) {
        return false;
    }
    for (size_t i = 0; i < words; i++) {
        difference |=
            load_shifted(a.base + a.bit / 8 + 8 * i, a.bit % 8) ^ load_shifted(b.base + b.bit / 8 + 8 * i, b.bit % 8);
    }
    return difference == 0 && is_end_equal(a, b, 64 * words);
}
