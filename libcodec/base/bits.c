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

static void store_bits(uint8_t *to, unsigned shift, unsigned count, uint64_t value) {
    uint8_t mask = (uint8_t)(ue_bits_mask(count) << shift);
    *to = (uint8_t)((*to & ~mask) | ((value << shift) & mask));
}

/* Four words that the compiler can keep in one vector register. */
typedef uint64_t words4 __attribute__((vector_size(32)));

/* Converts between little-endian and the machine's byte order. */
UE_INLINE void swap_words(words4 *words) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (size_t i = 0; i < 4; i++) {
        (*words)[i] = __builtin_bswap64((*words)[i]);
    }
#else
    (void)words;
#endif
}

/* Shifts one load right and a load from the next byte left, so that no word needs bits of its neighbour. Where the two
   overlap, they hold the same bits. */
UE_INLINE void shift_words(uint8_t *to, const uint8_t *from, unsigned shift) {
    words4 low, high;
    memcpy(&low, from, sizeof low);
    memcpy(&high, from + 1, sizeof high);
    swap_words(&low);
    swap_words(&high);
    low = low >> shift | high << (8 - shift);
    swap_words(&low);
    memcpy(to, &low, sizeof low);
}

/* Loads 64 bits from bit `shift` on; reads nine bytes. */
UE_INLINE uint64_t load_shifted(const uint8_t *from, unsigned shift) {
    return ue_bytes_load64(from) >> shift | ue_bytes_load64(from + 1) << (8 - shift);
}

/* Copies bytes whose source begins at bit `shift` (1 to 7) of a byte. The last block of a run may overlap the block
   before it, which is cheaper than a loop for the rest. */
static void copy_shifted(uint8_t *to, const uint8_t *from, unsigned shift, size_t bytes) {
    size_t done = 0;
    if (bytes >= sizeof(words4)) {
        for (; done + sizeof(words4) < bytes; done += sizeof(words4)) {
            shift_words(to + done, from + done, shift);
        }
        shift_words(to + bytes - sizeof(words4), from + bytes - sizeof(words4), shift);
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
        return; /* the pointers of an empty run may be NULL */
    }
    to += to_bit >> 3;
    unsigned to_shift = (unsigned)(to_bit & 7);
    if (to_shift != 0) {
        unsigned head = 8 - to_shift < count ? 8 - to_shift : (unsigned)count;
        store_bits(to, to_shift, head, ue_bits_load_tail(from, from_bit, head));
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
        store_bits(to + bytes, 0, tail, (uint64_t)(from[bytes] | (both ? from[bytes + 1] << 8 : 0)) >> shift);
    }
}

/* Skips zero words backwards from `end`, which is a multiple of 8 bits; `words` words at a time. */
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
        size_t aligned = 64 - (-end & 7); /* the most bits that one load yields: it ends at a byte boundary */
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

/* Whether the views are equal from offset_bits on. The offset may be past their end. */
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
    size_t words = a.bits > 8 ? (a.bits - 8) / 64 : 0; /* load_shifted reads a ninth byte */
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
