/* SPDX-License-Identifier: MIT */
/* The fast path of decoding (UE_DECODE_FAST). It reads without a bounds check after each field. The next bits
   are in the cursor's word; after the end of the buffer they are zeros. Each field has a constant maximum length, so
   that the compiler decides where the word must be loaded again. ue_cursor_fast_failed tests once per structure whether
   the end was overrun. Structures of a rare form fail as well. The caller decodes what failed again with UE_DECODE,
   which reports the fault. */
#ifndef UERUDP_LIBCODEC_WIRE_BIT_CURSOR_FAST_H
#define UERUDP_LIBCODEC_WIRE_BIT_CURSOR_FAST_H

#include "libcodec/wire/bit_cursor.h"

#define UE_CURSOR_FAST_BITS 57 /* loading a word yields at least this many bits */

/* The bits from this position on, and zeros after the end of the buffer. */
uint64_t ue_cursor_fast_load_tail(const uint8_t *in, size_t size_bytes, size_t bit);

UE_INLINE void ue_cursor_fast_start(struct ue_cursor *c) {
    c->valid_bits = 0;
    c->needs_slow_path = false;
}

UE_INLINE bool ue_cursor_fast_failed(const struct ue_cursor *c) {
    return c->needs_slow_path || c->next > c->end;
}

UE_INLINE void ue_cursor_fast_load(struct ue_cursor *c, unsigned most) {
    if (c->valid_bits >= most) {
        return;
    }
    size_t byte = c->next >> 3;
    c->word = UE_UNLIKELY(byte + 8 > c->size_bytes) ? ue_cursor_fast_load_tail(c->in, c->size_bytes, c->next)
                                                    : ue_bytes_load64(c->in + byte) >> (c->next & 7);
    c->valid_bits = UE_CURSOR_FAST_BITS;
}

UE_INLINE void ue_cursor_fast_skip(struct ue_cursor *c, unsigned count, unsigned most) {
    c->word >>= count;
    c->next += count;
    c->valid_bits -= most;
}

/* Reads count bits; `most` is the upper bound of count. */
UE_INLINE uint64_t ue_cursor_fast_read(struct ue_cursor *c, unsigned count, unsigned most) {
    ue_cursor_fast_load(c, most);
    uint64_t value = c->word & ((UINT64_C(1) << count) - 1);
    ue_cursor_fast_skip(c, count, most);
    if (!__builtin_constant_p(most)) {
        c->valid_bits = 0; /* not known to the compiler any more */
    }
    return value;
}

/* Long optional fields are rare: without them the word needs fewer loads. */
#define UE_CURSOR_FAST_OPTIONAL_BITS 31

UE_INLINE uint64_t ue_cursor_fast_read_if(struct ue_cursor *c, bool present, unsigned bits) {
    if (bits > UE_CURSOR_FAST_OPTIONAL_BITS) {
        c->needs_slow_path |= present;
        return 0;
    }
    return ue_cursor_fast_read(c, present ? bits : 0, bits);
}

UE_INLINE bool ue_cursor_fast_read_flag(struct ue_cursor *c, bool present) {
    ue_cursor_fast_load(c, 1);
    bool value = ((uint32_t)c->word & present) != 0;
    ue_cursor_fast_skip(c, present, 1);
    return value;
}

/* All bits set when the condition holds: turns a branch into a bitwise and. */
UE_INLINE uint32_t ue_cursor_fast_mask(bool condition) {
    return -(uint32_t)condition;
}

UE_INLINE uint32_t ue_cursor_fast_read_below(struct ue_cursor *c, bool present, struct ue_bound bound) {
    ue_cursor_fast_load(c, UE_BOUND_BITS_COMMON);
    unsigned bits = bound.bits & ue_cursor_fast_mask(present);
    uint32_t value = (uint32_t)c->word & (uint32_t)((UINT64_C(1) << bits) - 1);
    unsigned longer = value < (bound.longer & ue_cursor_fast_mask(present));
    value |= ((uint32_t)(c->word >> bits) & longer) << bits;
    ue_cursor_fast_skip(c, bits + longer, UE_BOUND_BITS_COMMON);
    return value;
}

/* Reads a canonical packed integer of one or two groups. It uses the same maximum length as a bounded integer, because
   a layout has one or the other. */
UE_INLINE uint32_t ue_cursor_fast_read_packed(struct ue_cursor *c, bool present) {
    ue_cursor_fast_load(c, UE_BOUND_BITS_COMMON);
    uint32_t more = (uint32_t)c->word & present;
    uint32_t first = (uint32_t)c->word >> 1 & 127 & ue_cursor_fast_mask(present);
    uint32_t second = (uint32_t)c->word >> 8 & 0xff & ue_cursor_fast_mask(more);
    c->needs_slow_path |= (more > second) | (second & 1);
    ue_cursor_fast_skip(c, 8 * present + 8 * more, UE_BOUND_BITS_COMMON);
    return first | second << 6;
}

UE_INLINE struct ue_view ue_cursor_fast_read_view(struct ue_cursor *c, size_t bits) {
    struct ue_view view = {c->in, c->next, bits};
    c->next += bits;
    c->valid_bits = 0;
    return view;
}

/* Makes the terminator the end of the cursor. The outer terminator is in the last byte, which is not 0. Returns false
   if zeros follow the inner one, which is usually the last bit. */
UE_INLINE bool ue_cursor_fast_find_terminator(struct ue_cursor *c, bool is_outer, size_t *at) {
    *at = c->end - 1;
    uint8_t last = c->in[*at >> 3];
    if (is_outer) {
        *at = c->end - 8 + (31 - (unsigned)__builtin_clz(last));
    }
    bool is_adjacent = is_outer || (last >> (*at & 7) & 1) != 0;
    if (UE_UNLIKELY(!is_adjacent)) {
        size_t found = c->next;
        c->needs_slow_path |= c->next >= c->end || !ue_bits_last_set(c->in, c->next, c->end, &found);
        *at = found;
    }
    c->end = *at;
    return is_adjacent;
}

#endif
