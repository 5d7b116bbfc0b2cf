/* SPDX-License-Identifier: MIT */
/* A position in a buffer that is read or written bit by bit, with a sticky fault. */
#ifndef UERUDP_LIBCODEC_WIRE_BIT_CURSOR_H
#define UERUDP_LIBCODEC_WIRE_BIT_CURSOR_H

#include <uerudp/profile.h>
#include <uerudp/status.h>
#include <uerudp/trace.h>

/* Operations of a layout. UE_DECODE_FAST decodes valid structures of the common form, see bit_cursor_fast.h. */
enum ue_op { UE_DECODE, UE_ENCODE, UE_TRACE, UE_BUILD, UE_DECODE_FAST };

struct ue_cursor {
    const uint8_t *in;
    uint8_t *out;
    size_t size_bytes;    /* size of the buffer in or out */
    size_t end;           /* first bit that may not be used */
    size_t next;          /* the bit after the word */
    uint64_t word;        /* reading: bits loaded and not consumed; writing: 64 aligned bits, not stored yet */
    unsigned held;        /* bits of the word that are not consumed or not filled: the position is next - held */
    unsigned valid_bits;  /* fast path: lower bound of the bits of the word that are loaded; held is 0 */
    bool needs_slow_path; /* fast path: the structure is invalid or of a rare form */
    bool canonical;
    struct ue_fault fault;
    const struct ue_trace *trace;
    const struct ue_field_source *source;
};

/* Member by member: compilers clear a structure of this size with a string instruction, which starts slowly. */
UE_INLINE void ue_cursor_clear(struct ue_cursor *c) {
    c->in = NULL;
    c->out = NULL;
    c->size_bytes = 0;
    c->end = 0;
    c->next = 0;
    c->word = 0;
    c->held = 0;
    c->valid_bits = 0;
    c->needs_slow_path = false;
    c->canonical = true;
    c->fault = (struct ue_fault){0};
    c->trace = NULL;
    c->source = NULL;
}

UE_INLINE void ue_cursor_init_read(struct ue_cursor *c, const uint8_t *in, size_t bit, size_t end) {
    ue_cursor_clear(c);
    c->in = in;
    c->size_bytes = ue_bits_bytes(end);
    c->next = bit;
    c->end = end;
}

UE_INLINE size_t ue_cursor_pos(const struct ue_cursor *c) {
    return c->next - c->held;
}

UE_INLINE void ue_cursor_seek(struct ue_cursor *c, size_t bit) {
    c->next = bit;
    c->held = 0;
}

/* Begins writing at `bit`. Earlier bits of the buffer do not change. */
UE_INLINE void ue_cursor_init_write(struct ue_cursor *c, uint8_t *out, size_t size_bytes, size_t bit) {
    size_t word_bit = bit & ~(size_t)63;
    unsigned used = (unsigned)(bit - word_bit);
    ue_cursor_clear(c);
    c->out = out;
    c->size_bytes = size_bytes;
    c->end = size_bytes * 8;
    c->word = ue_bits_load(out, size_bytes, word_bit, used);
    c->next = word_bit + 64;
    c->held = 64 - used;
}

/* Records the first fault and stops the cursor. Inline, like the rest of the hot path, so that a cursor's address never
   leaves a layout and its members stay in registers. */
UE_INLINE void ue_cursor_fault(struct ue_cursor *c, enum ue_status status, enum ue_field field, size_t bit) {
    if (c->fault.status == UE_OK) {
        c->fault.status = status;
        c->fault.field = field;
        c->fault.bit = bit;
    }
    ue_cursor_seek(c, ue_cursor_pos(c));
    c->end = c->next;
}

/* Records the first fault of a writing cursor, which then discards further writes. The fault names the field; its bit
   is 0, for an incomplete encoding has no useful position. */
UE_INLINE void ue_cursor_fault_encode(struct ue_cursor *c, enum ue_status status, enum ue_field field) {
    if (c->fault.status == UE_OK) {
        c->fault.status = status;
        c->fault.field = field;
    }
}

/* Copies back from a local copy what reading and writing can have changed. */
UE_INLINE void ue_cursor_copy_back(struct ue_cursor *c, const struct ue_cursor *local) {
    c->next = local->next;
    c->end = local->end;
    c->word = local->word;
    c->held = local->held;
    c->canonical = local->canonical;
    if (UE_UNLIKELY(local->fault.status != UE_OK)) {
        c->fault = local->fault;
    }
}

UE_INLINE bool ue_cursor_ok(const struct ue_cursor *c) {
    return c->fault.status == UE_OK;
}

UE_INLINE size_t ue_cursor_left(const struct ue_cursor *c) {
    return c->end - ue_cursor_pos(c);
}

/* Up to 64 bits of a buffer, so that one load serves several fields. */
struct ue_bit_window {
    uint64_t word;
    size_t held;
};

/* Loads the bits from `bit` on: at least 57, or all up to `end`. */
struct ue_bit_window ue_bit_window_load(const uint8_t *in, size_t size_bytes, size_t bit, size_t end);

UE_INLINE void ue_cursor_load(struct ue_cursor *c) {
    size_t at = ue_cursor_pos(c);
    struct ue_bit_window window = ue_bit_window_load(c->in, c->size_bytes, at, c->end);
    c->word = window.word;
    c->held = (unsigned)window.held;
    c->next = at + window.held;
}

/* Reads 0 to 57 bits. */
UE_INLINE uint64_t ue_cursor_read_short(struct ue_cursor *c, unsigned count, enum ue_field field) {
    if (c->held < count) {
        ue_cursor_load(c);
        if (UE_UNLIKELY(c->held < count)) {
            ue_cursor_fault(c, UE_E_TRUNCATED, field, ue_cursor_pos(c));
            return 0;
        }
    }
    uint64_t value = c->word & ue_bits_mask(count);
    c->word >>= count;
    c->held -= count;
    return value;
}

/* Reads 0 to 64 bits. */
UE_INLINE uint64_t ue_cursor_read_bits(struct ue_cursor *c, unsigned count, enum ue_field field) {
    if (count <= 57) {
        return ue_cursor_read_short(c, count, field);
    }
    if (UE_UNLIKELY(count > ue_cursor_left(c))) {
        ue_cursor_fault(c, UE_E_TRUNCATED, field, ue_cursor_pos(c));
        return 0;
    }
    uint64_t low = ue_cursor_read_short(c, 32, field);
    return low | ue_cursor_read_short(c, count - 32, field) << 32;
}

UE_INLINE bool ue_cursor_read_flag(struct ue_cursor *c, enum ue_field field) {
    return ue_cursor_read_short(c, 1, field) != 0;
}

/* Writes 0 to 64 bits. The value must fit. The word of a writing cursor has 1 to 64 free bits. */
UE_INLINE void ue_cursor_write_bits(struct ue_cursor *c, uint64_t value, unsigned count, enum ue_field field) {
    c->word |= value << ((64 - c->held) & 63);
    if (__builtin_expect(count < c->held, 1)) {
        c->held -= count;
        return;
    }
    if (UE_UNLIKELY(!ue_cursor_ok(c) || c->next > c->end)) {
        ue_cursor_fault_encode(c, UE_E_FULL, field);
        return;
    }
    ue_bytes_store64(c->out + c->next / 8 - 8, c->word);
    c->word = value >> 1 >> (c->held - 1);
    c->held += 64 - count;
    c->next += 64;
}

/* Stores the `count` low bytes of a word. */
void ue_bytes_store_tail(uint8_t *bytes, uint64_t word, size_t count);

/* Stores the bits that are still in the word. Zeros follow to the end of the last byte, or to the end of the word when
   the buffer is large enough. */
UE_INLINE void ue_cursor_flush(struct ue_cursor *c) {
    if (UE_UNLIKELY(!ue_cursor_ok(c) || ue_cursor_pos(c) > c->end)) {
        ue_cursor_fault_encode(c, UE_E_FULL, UE_F_NONE);
        return;
    }
    uint8_t *to = c->out + c->next / 8 - 8;
    if (UE_UNLIKELY(c->next > c->end)) {
        ue_bytes_store_tail(to, c->word, ue_bits_bytes(64 - c->held));
        return;
    }
    ue_bytes_store64(to, c->word);
}

/* ---- bounded integers (protocol.md 2.3): the top bit is omitted when it can only be 0 ---- */

UE_INLINE uint32_t ue_cursor_read_below(struct ue_cursor *c, struct ue_bound bound, enum ue_field field) {
    uint32_t value = (uint32_t)ue_cursor_read_bits(c, bound.bits, field);
    if (value < bound.longer && ue_cursor_read_flag(c, field)) {
        value |= UINT32_C(1) << bound.bits;
    }
    return value;
}

UE_INLINE void ue_cursor_write_below(struct ue_cursor *c, uint32_t value, struct ue_bound bound, enum ue_field field) {
    bool longer = (value & (uint32_t)ue_bits_mask(bound.bits)) < bound.longer;
    ue_cursor_write_bits(c, value, bound.bits + longer, field);
}

/* ---- packed integers (protocol.md 2.4) ---- */

struct ue_packed {
    uint64_t value;
    size_t bits; /* 0: truncated */
    bool canonical;
};

/* Reads a packed integer of at most `groups` groups from a view. */
struct ue_packed ue_packed_load(struct ue_view view, unsigned groups);

/* Reads a packed integer: one or two groups from the word, longer ones out of line. */
UE_INLINE uint64_t ue_cursor_read_packed(struct ue_cursor *c, unsigned groups, enum ue_field field) {
    if (c->held < 16) {
        ue_cursor_load(c);
    }
    uint64_t first = c->word & 0xff;
    uint64_t second = c->word >> 8 & 0xff;
    bool one = (first & 1) == 0 && c->held >= 8;
    bool two = (first & 1) != 0 && (second & 1) == 0 && second != 0 && c->held >= 16;
    if (one || two) {
        unsigned count = one ? 8 : 16;
        c->word >>= count;
        c->held -= count;
        return one ? first >> 1 : first >> 1 | second >> 1 << 7;
    }
    size_t at = ue_cursor_pos(c);
    struct ue_packed packed = ue_packed_load((struct ue_view){c->in, at, c->end - at}, groups);
    if (UE_UNLIKELY(packed.bits == 0)) {
        ue_cursor_fault(c, UE_E_TRUNCATED, field, at);
        return 0;
    }
    c->canonical &= packed.canonical;
    ue_cursor_seek(c, at + packed.bits);
    return packed.value;
}

UE_INLINE void ue_cursor_write_packed(struct ue_cursor *c, uint64_t value, enum ue_field field) {
    for (; value > 127; value >>= 7) {
        ue_cursor_write_bits(c, (value & 127) << 1 | 1, 8, field);
    }
    ue_cursor_write_bits(c, value << 1, 8, field);
}

/* ---- runs of bits and texts ---- */

UE_INLINE struct ue_view ue_cursor_read_view(struct ue_cursor *c, size_t bits, enum ue_field field) {
    struct ue_view view = {c->in, ue_cursor_pos(c), bits};
    if (UE_UNLIKELY(bits > ue_cursor_left(c))) {
        ue_cursor_fault(c, UE_E_LENGTH, field, view.bit);
        view.bits = 0;
    }
    ue_cursor_seek(c, view.bit + view.bits);
    return view;
}

/* Writes the `fill` bits of word and `words` (at least 1) 64-bit words of a run after them. Returns the bits that
   remain in the last word. */
uint64_t ue_words_append(uint8_t *out, uint64_t word, unsigned fill, const uint8_t *from, unsigned shift, size_t words);

/* The last 1 to 63 bits of a view, with a single load if the view has eight bytes. */
UE_INLINE uint64_t ue_view_tail(struct ue_view view, unsigned count) {
    size_t end = view.bit + view.bits;
    size_t begin = end - count;
    size_t bytes = ue_bits_bytes(end);
    if (bytes < (view.bit >> 3) + 8 || begin < (bytes - 8) * 8) {
        return ue_bits_load_tail(view.base, begin, count);
    }
    return ue_bytes_load64(view.base + bytes - 8) >> (begin - (bytes - 8) * 8) & ue_bits_mask(count);
}

UE_INLINE void ue_cursor_write_view(struct ue_cursor *c, struct ue_view view, enum ue_field field) {
    if (UE_UNLIKELY(!ue_cursor_ok(c) || view.bits > ue_cursor_left(c))) {
        ue_cursor_fault_encode(c, UE_E_FULL, field);
        return;
    }
    const uint8_t *from = view.base + (view.bit >> 3);
    unsigned shift = (unsigned)(view.bit & 7);
    size_t words = view.bits / 64;
    unsigned rest = (unsigned)(view.bits % 64);
    if (words != 0) {
        c->word = ue_words_append(c->out + c->next / 8 - 8, c->word, 64 - c->held, from, shift, words);
        c->next += words * 64;
    }
    if (rest != 0) {
        ue_cursor_write_bits(c, ue_view_tail(view, rest), rest, field);
    }
}

/* Texts are rare: their code is out of line and works on a copy of the cursor. */
struct ue_text ue_cursor_read_text_slow(struct ue_cursor *c, enum ue_field field);
void ue_cursor_write_text_slow(struct ue_cursor *c, struct ue_text text, enum ue_field field);

UE_INLINE struct ue_text ue_cursor_read_text(struct ue_cursor *c, enum ue_field field) {
    struct ue_cursor copy = *c;
    struct ue_text text = ue_cursor_read_text_slow(&copy, field);
    *c = copy;
    return text;
}

UE_INLINE void ue_cursor_write_text(struct ue_cursor *c, struct ue_text text, enum ue_field field) {
    struct ue_cursor copy = *c;
    ue_cursor_write_text_slow(&copy, text, field);
    *c = copy;
}

#endif
