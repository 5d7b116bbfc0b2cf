/* SPDX-License-Identifier: MIT */
/* PRIVATE to the library: the cursor and the words in which layouts are written.
   A layout is an always-inlined function whose first argument `op` is a compile-time constant, so that one text gives
   a decoder, an encoder, a tracer and a builder. After the first fault a reading cursor is at its end and gives zeros:
   layouts contain no error branches. In a layout, op, c (cursor), x (context) and m (structure) are in scope. */
#ifndef UE_WIRE_H
#define UE_WIRE_H

#include "libcodec/profile.h"
#include "libcodec/sink.h"
#include "libcodec/status.h"

enum ue_op { UE_DECODE, UE_ENCODE, UE_TRACE, UE_BUILD };

struct ue_cursor {
    const uint8_t *in;
    uint8_t *out;
    size_t size_bytes; /* of the buffer behind in or out */
    size_t pos;        /* next bit */
    size_t end;        /* first bit that may not be used */
    uint64_t word;     /* encode: the bits of the 64-bit word that contains pos, not stored yet */
    struct ue_fault fault;
    bool canonical;
    const struct ue_sink *sink;
    const struct ue_source *source;
};

UE_INLINE void ue_cursor_read(struct ue_cursor *c, const uint8_t *in, size_t bit, size_t end) {
    *c = (struct ue_cursor){.in = in, .size_bytes = ue_bits_bytes(end), .pos = bit, .end = end, .canonical = true};
}

/* Continues at `bit` of a buffer whose earlier bits stay. */
void ue_cursor_write(struct ue_cursor *c, uint8_t *out, size_t size_bytes, size_t bit);

void ue_word_store_few(uint8_t *to, size_t bytes, uint64_t word);

/* Stores what is still in the word; where there is room, zeros behind it. */
UE_INLINE void ue_cursor_flush(struct ue_cursor *c) {
    size_t byte = (c->pos >> 6) * 8;
    if (byte + 8 <= c->size_bytes) {
        ue_bytes_store64(c->out + byte, c->word);
    } else {
        ue_word_store_few(c->out + byte, ue_bits_bytes(c->pos & 63), c->word);
    }
}

/* Records the first fault and stops the cursor. Inline, like all of the hot path, so that a cursor's address never
   leaves a layout and its members stay in registers. */
UE_INLINE void ue_cursor_fault(struct ue_cursor *c, enum ue_status status, enum ue_field field, size_t bit) {
    if (c->fault.status == UE_OK) {
        c->fault.status = status;
        c->fault.field = field;
        c->fault.bit = bit;
    }
    c->end = c->pos;
}

UE_INLINE bool ue_cursor_ok(const struct ue_cursor *c) {
    return c->fault.status == UE_OK;
}

UE_INLINE size_t ue_cursor_left(const struct ue_cursor *c) {
    return c->end - c->pos;
}

/* Reports a field to the sink, unless decoding has failed. */
void ue_cursor_report(struct ue_cursor *c, enum ue_field field, size_t bit, uint64_t number, bool coded);
void ue_cursor_report_text(struct ue_cursor *c, enum ue_field field, size_t bit, struct ue_text text, bool coded);
void ue_cursor_report_generated(struct ue_cursor *c, enum ue_field field, size_t bit, size_t bits, uint64_t number);
void ue_cursor_report_text_generated(struct ue_cursor *c, enum ue_field field, size_t bit, struct ue_text text);
void ue_cursor_report_string(struct ue_cursor *c, enum ue_field field, size_t bit, size_t bits, const char *string);
void ue_cursor_begin(struct ue_cursor *c, enum ue_group group);
void ue_cursor_end(struct ue_cursor *c, enum ue_group group);

/* Asks the source for a field; the answer must fit the given number of bits. */
uint64_t ue_cursor_ask(struct ue_cursor *c, enum ue_field field, uint64_t otherwise, unsigned bits);
struct ue_text ue_cursor_ask_text(struct ue_cursor *c, enum ue_field field);
bool ue_cursor_ask_more(struct ue_cursor *c, enum ue_field field);

UE_INLINE uint64_t ue_cursor_take(struct ue_cursor *c, unsigned count, enum ue_field field) {
    if (UE_UNLIKELY(count > ue_cursor_left(c))) {
        ue_cursor_fault(c, UE_E_TRUNCATED, field, c->pos);
        return 0;
    }
    uint64_t value = ue_bits_load(c->in, c->size_bytes, c->pos, count);
    c->pos += count;
    return value;
}

UE_INLINE bool ue_cursor_take_flag(struct ue_cursor *c, enum ue_field field) {
    if (UE_UNLIKELY(c->pos >= c->end)) {
        ue_cursor_fault(c, UE_E_TRUNCATED, field, c->pos);
        return false;
    }
    bool value = (c->in[c->pos >> 3] >> (c->pos & 7)) & 1;
    c->pos++;
    return value;
}

/* Writes 0 to 64 bits of a value that fits them. */
UE_INLINE void ue_cursor_put(struct ue_cursor *c, uint64_t value, unsigned count, enum ue_field field) {
    if (UE_UNLIKELY(count > ue_cursor_left(c))) {
        ue_cursor_fault(c, UE_E_FULL, field, c->pos);
        return;
    }
    unsigned fill = (unsigned)(c->pos & 63);
    c->word |= value << fill;
    if (fill + count >= 64) {
        ue_bytes_store64(c->out + (c->pos >> 6) * 8, c->word);
        c->word = fill != 0 ? value >> (64 - fill) : 0;
    }
    c->pos += count;
}

/* ---- bounded integers (spec 1.3): the top bit is omitted when it could only be 0 ---- */

UE_INLINE uint32_t ue_cursor_take_below(struct ue_cursor *c, uint32_t max, enum ue_field field) {
    unsigned width = ue_bits_width(max);
    if ((max & (max - 1)) == 0) {
        return (uint32_t)ue_cursor_take(c, width, field);
    }
    uint32_t top = UINT32_C(1) << (width - 1);
    uint32_t value = (uint32_t)ue_cursor_take(c, width - 1, field);
    if (value < max - top && ue_cursor_take_flag(c, field)) {
        value |= top;
    }
    return value;
}

UE_INLINE void ue_cursor_put_below(struct ue_cursor *c, uint32_t value, uint32_t max, enum ue_field field) {
    unsigned width = ue_bits_width(max);
    if ((max & (max - 1)) == 0) {
        ue_cursor_put(c, value, width, field);
        return;
    }
    uint32_t top = UINT32_C(1) << (width - 1);
    bool shorter = (value & (top - 1)) >= max - top;
    ue_cursor_put(c, value, shorter ? width - 1 : width, field);
}

/* ---- packed integers (spec 1.5, 1.6) ---- */

struct ue_packed {
    uint64_t value;
    size_t bits; /* 0: truncated */
    bool canonical;
};

/* Reads up to `groups` groups from the view. */
struct ue_packed ue_packed_load(struct ue_view view, unsigned groups);

UE_INLINE uint64_t ue_cursor_take_packed(struct ue_cursor *c, unsigned groups, enum ue_field field) {
    if (UE_UNLIKELY(ue_cursor_left(c) < 8)) {
        ue_cursor_fault(c, UE_E_TRUNCATED, field, c->pos);
        return 0;
    }
    uint64_t group = ue_bits_load(c->in, c->size_bytes, c->pos, 8);
    if ((group & 1) == 0) {
        c->pos += 8;
        return group >> 1;
    }
    struct ue_packed packed = ue_packed_load((struct ue_view){c->in, c->pos, ue_cursor_left(c)}, groups);
    if (UE_UNLIKELY(packed.bits == 0)) {
        ue_cursor_fault(c, UE_E_TRUNCATED, field, c->pos);
        return 0;
    }
    c->canonical &= packed.canonical;
    c->pos += packed.bits;
    return packed.value;
}

UE_INLINE void ue_cursor_put_packed(struct ue_cursor *c, uint64_t value, enum ue_field field) {
    for (; value > 127; value >>= 7) {
        ue_cursor_put(c, (value & 127) << 1 | 1, 8, field);
    }
    ue_cursor_put(c, value << 1, 8, field);
}

/* ---- runs of bits and texts ---- */

UE_INLINE struct ue_view ue_cursor_take_view(struct ue_cursor *c, size_t bits, enum ue_field field) {
    struct ue_view view = {c->in, c->pos, bits};
    if (UE_UNLIKELY(bits > ue_cursor_left(c))) {
        ue_cursor_fault(c, UE_E_LENGTH, field, c->pos);
        view.bits = 0;
    }
    c->pos += view.bits;
    return view;
}

UE_INLINE void ue_cursor_put_view(struct ue_cursor *c, struct ue_view view, enum ue_field field) {
    if (UE_UNLIKELY(view.bits > ue_cursor_left(c))) {
        ue_cursor_fault(c, UE_E_FULL, field, c->pos);
        return;
    }
    ue_cursor_flush(c);
    ue_bits_copy(c->out, c->pos, view.base, view.bit, view.bits);
    c->pos += view.bits;
    size_t word_bit = c->pos & ~(size_t)63;
    c->word = ue_bits_load(c->out, c->size_bytes, word_bit, (unsigned)(c->pos - word_bit));
}

/* Texts are rare: their code stays out of line and works on a copy of the cursor. */
struct ue_text ue_cursor_take_text_far(struct ue_cursor *c, enum ue_field field);
void ue_cursor_put_text_far(struct ue_cursor *c, struct ue_text text, enum ue_field field);

UE_INLINE struct ue_text ue_cursor_take_text(struct ue_cursor *c, enum ue_field field) {
    struct ue_cursor copy = *c;
    struct ue_text text = ue_cursor_take_text_far(&copy, field);
    *c = copy;
    return text;
}

UE_INLINE void ue_cursor_put_text(struct ue_cursor *c, struct ue_text text, enum ue_field field) {
    struct ue_cursor copy = *c;
    ue_cursor_put_text_far(&copy, text, field);
    *c = copy;
}

/* ---- words, as functions; op is constant at every call ---- */

UE_INLINE void ue_word_flag(enum ue_op op, struct ue_cursor *c, enum ue_field field, bool *member) {
    size_t at = c->pos;
    switch (op) {
    case UE_DECODE: *member = ue_cursor_take_flag(c, field); break;
    case UE_ENCODE: ue_cursor_put(c, *member, 1, field); break;
    case UE_BUILD: *member = ue_cursor_ask(c, field, 0, 1) != 0; break;
    case UE_TRACE:
        *member = ue_cursor_take_flag(c, field);
        ue_cursor_report(c, field, at, *member, false);
        break;
    }
}

UE_INLINE uint64_t ue_word_uint(enum ue_op op, struct ue_cursor *c, enum ue_field field, unsigned bits, uint64_t value) {
    size_t at = c->pos;
    switch (op) {
    case UE_DECODE: return ue_cursor_take(c, bits, field);
    case UE_BUILD: return ue_cursor_ask(c, field, 0, bits);
    case UE_ENCODE:
        if (UE_UNLIKELY(value > ue_bits_mask(bits))) {
            ue_cursor_fault(c, UE_E_RANGE, field, c->pos);
        } else {
            ue_cursor_put(c, value, bits, field);
        }
        return value;
    case UE_TRACE: break;
    }
    value = ue_cursor_take(c, bits, field);
    ue_cursor_report(c, field, at, value, false);
    return value;
}

UE_INLINE uint32_t ue_word_below(enum ue_op op, struct ue_cursor *c, enum ue_field field, uint32_t max, uint32_t value) {
    size_t at = c->pos;
    switch (op) {
    case UE_DECODE: return ue_cursor_take_below(c, max, field);
    case UE_ENCODE:
        if (UE_UNLIKELY(value >= max)) {
            ue_cursor_fault(c, UE_E_RANGE, field, c->pos);
        } else {
            ue_cursor_put_below(c, value, max, field);
        }
        return value;
    case UE_BUILD:
        value = (uint32_t)ue_cursor_ask(c, field, 0, 32);
        if (value >= max) {
            ue_cursor_fault(c, UE_E_RANGE, field, c->pos);
        }
        return value;
    case UE_TRACE: break;
    }
    value = ue_cursor_take_below(c, max, field);
    ue_cursor_report(c, field, at, value, (max & (max - 1)) != 0);
    return value;
}

UE_INLINE uint64_t ue_word_packed(enum ue_op op, struct ue_cursor *c, enum ue_field field, unsigned groups,
                                  uint64_t value) {
    size_t at = c->pos;
    switch (op) {
    case UE_DECODE: return ue_cursor_take_packed(c, groups, field);
    case UE_BUILD: return ue_cursor_ask(c, field, 0, groups == 5 ? 32 : 64);
    case UE_ENCODE: ue_cursor_put_packed(c, value, field); return value;
    case UE_TRACE: break;
    }
    value = ue_cursor_take_packed(c, groups, field);
    ue_cursor_report(c, field, at, value, true);
    return value;
}

UE_INLINE void ue_word_text(enum ue_op op, struct ue_cursor *c, enum ue_field field, struct ue_text *member) {
    size_t at = c->pos;
    switch (op) {
    case UE_DECODE: *member = ue_cursor_take_text(c, field); break;
    case UE_ENCODE: ue_cursor_put_text(c, *member, field); break;
    case UE_BUILD: *member = ue_cursor_ask_text(c, field); break;
    case UE_TRACE:
        *member = ue_cursor_take_text(c, field);
        ue_cursor_report_text(c, field, at, *member, true);
        break;
    }
}

/* bits: the length, which decode knows from elsewhere; encode and build take it from the view and check it. */
UE_INLINE void ue_word_view(enum ue_op op, struct ue_cursor *c, enum ue_field field, size_t bits, struct ue_view *member) {
    size_t at = c->pos;
    switch (op) {
    case UE_DECODE: *member = ue_cursor_take_view(c, bits, field); break;
    case UE_ENCODE: ue_cursor_put_view(c, *member, field); break;
    case UE_BUILD: *member = ue_cursor_ask_text(c, field).units; break;
    case UE_TRACE:
        *member = ue_cursor_take_view(c, bits, field);
        ue_cursor_report_text(c, field, at, (struct ue_text){*member, false}, false);
        break;
    }
}

/* A fixed number of bytes, copied into the structure. */
void ue_word_bytes(enum ue_op op, struct ue_cursor *c, enum ue_field field, size_t bytes, uint8_t *member);

/* Optional part: decode asks the bits left, encode the member, build the source. */
UE_INLINE void ue_word_more(enum ue_op op, struct ue_cursor *c, enum ue_field field, bool present, bool *member) {
    if (op == UE_DECODE || op == UE_TRACE) {
        *member = present && ue_cursor_ok(c);
    } else if (op == UE_BUILD) {
        *member = ue_cursor_ask_more(c, field);
    }
}

/* ---- words, as layouts spell them ---- */

#define FLAG(member, field) ue_word_flag(op, c, UE_F_##field, &(member))

#define UE_WORD_ASSIGN(member, expression)                                                                             \
    do {                                                                                                               \
        if (op == UE_ENCODE) {                                                                                         \
            (void)(expression);                                                                                        \
        } else {                                                                                                       \
            (member) = (__typeof__(member))(expression);                                                               \
        }                                                                                                              \
    } while (0)

#define UE_WORD_OLD(member) (op == UE_ENCODE ? (member) : 0)

#define UINT(member, field, bits)                                                                                      \
    UE_WORD_ASSIGN(member, ue_word_uint(op, c, UE_F_##field, (bits), UE_WORD_OLD(member)))

#define BELOW(member, field, max)                                                                                      \
    UE_WORD_ASSIGN(member, ue_word_below(op, c, UE_F_##field, (max), UE_WORD_OLD(member)))

#define PACKED(member, field) UE_WORD_ASSIGN(member, ue_word_packed(op, c, UE_F_##field, 5, UE_WORD_OLD(member)))

#define PACKED64(member, field) UE_WORD_ASSIGN(member, ue_word_packed(op, c, UE_F_##field, 10, UE_WORD_OLD(member)))

#define BYTES(member, field) ue_word_bytes(op, c, UE_F_##field, sizeof(member), (member))

#define VIEW(member, field, length_bits) ue_word_view(op, c, UE_F_##field, (length_bits), &(member))

#define TEXT(member, field) ue_word_text(op, c, UE_F_##field, &(member))

#define MORE(member, field, present) ue_word_more(op, c, UE_F_##field, (present), &(member))

#define ABSENT(member, field, otherwise)                                                                               \
    do {                                                                                                               \
        if (op == UE_ENCODE) {                                                                                         \
            if (UE_UNLIKELY((member) != (otherwise))) {                                                                \
                ue_cursor_fault(c, UE_E_ABSENT, UE_F_##field, c->pos);                                                 \
            }                                                                                                          \
        } else {                                                                                                       \
            (member) = (otherwise);                                                                                    \
        }                                                                                                              \
    } while (0)

#define ABSENT_VIEW(member, field)                                                                                     \
    do {                                                                                                               \
        if (op == UE_ENCODE) {                                                                                         \
            if (UE_UNLIKELY((member).bits != 0)) {                                                                     \
                ue_cursor_fault(c, UE_E_ABSENT, UE_F_##field, c->pos);                                                 \
            }                                                                                                          \
        } else {                                                                                                       \
            (member) = (struct ue_view){0};                                                                            \
        }                                                                                                              \
    } while (0)

#define REQUIRE(condition, status, field)                                                                              \
    do {                                                                                                               \
        if (UE_UNLIKELY(!(condition))) {                                                                               \
            ue_cursor_fault(c, (status), UE_F_##field, c->pos);                                                        \
        }                                                                                                              \
    } while (0)

#define BEGIN(group)                                                                                                   \
    do {                                                                                                               \
        if (op == UE_TRACE) {                                                                                          \
            ue_cursor_begin(c, UE_GROUP_##group);                                                                      \
        }                                                                                                              \
    } while (0)

#define END(group)                                                                                                     \
    do {                                                                                                               \
        if (op == UE_TRACE) {                                                                                          \
            ue_cursor_end(c, UE_GROUP_##group);                                                                        \
        }                                                                                                              \
    } while (0)

/* A field that is derived from wire fields: shown in a trace, never read or written. */
#define GENERATED(field, from_bit, length_bits, value)                                                                 \
    do {                                                                                                               \
        if (op == UE_TRACE) {                                                                                          \
            ue_cursor_report_generated(c, UE_F_##field, (from_bit), (length_bits), (value));                           \
        }                                                                                                              \
    } while (0)

#endif
