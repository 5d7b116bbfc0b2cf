/* SPDX-License-Identifier: MIT */
/* What the words of layouts (layout_words.h) do in each operation. op is constant at every call. */
#ifndef UERUDP_LIBCODEC_WIRE_LAYOUT_OPS_H
#define UERUDP_LIBCODEC_WIRE_LAYOUT_OPS_H

#include "libcodec/wire/bit_cursor_fast.h"

/* Report a field to the trace, unless decoding has failed. */
void ue_cursor_report(struct ue_cursor *c, enum ue_field field, size_t bit, uint64_t number, bool coded);
void ue_cursor_report_text(struct ue_cursor *c, enum ue_field field, size_t bit, struct ue_text text, bool coded);
void ue_cursor_report_generated(struct ue_cursor *c, enum ue_field field, size_t bit, size_t bits, uint64_t number);
void ue_cursor_report_text_generated(struct ue_cursor *c, enum ue_field field, size_t bit, struct ue_text text);
void ue_cursor_report_string(struct ue_cursor *c, enum ue_field field, size_t bit, size_t bits, const char *string);
void ue_cursor_begin_group(struct ue_cursor *c, enum ue_group group);
void ue_cursor_end_group(struct ue_cursor *c, enum ue_group group, const void *structure);

/* Request a field from the field source. A number that does not fit `bits` bits is a fault. */
uint64_t ue_cursor_build_number(struct ue_cursor *c, enum ue_field field, uint64_t default_number, unsigned bits);
struct ue_text ue_cursor_build_text(struct ue_cursor *c, enum ue_field field);
bool ue_cursor_build_more(struct ue_cursor *c, enum ue_field field);

#define UE_LAYOUT_ASSIGN(member, expression)                                                                           \
    do {                                                                                                               \
        if (op == UE_ENCODE) {                                                                                         \
            (void)(expression);                                                                                        \
        } else {                                                                                                       \
            (member) = (__typeof__(member))(expression);                                                               \
        }                                                                                                              \
    } while (0)

#define UE_LAYOUT_OLD(member) (op == UE_ENCODE ? (member) : 0)

UE_INLINE void ue_layout_fault(enum ue_op op, struct ue_cursor *c, enum ue_status status, enum ue_field field,
                               size_t bit) {
    if (op == UE_DECODE_FAST) {
        c->needs_slow_path = true;
    } else if (op == UE_ENCODE) {
        ue_cursor_fault_encode(c, status, field);
    } else {
        ue_cursor_fault(c, status, field, bit);
    }
}

UE_INLINE void ue_layout_flag(enum ue_op op, struct ue_cursor *c, enum ue_field field, bool *member) {
    size_t at = ue_cursor_pos(c);
    switch (op) {
    case UE_DECODE_FAST: *member = ue_cursor_fast_read_flag(c, true); break;
    case UE_DECODE: *member = ue_cursor_read_flag(c, field); break;
    case UE_ENCODE: ue_cursor_write_bits(c, *member, 1, field); break;
    case UE_BUILD: *member = ue_cursor_build_number(c, field, 0, 1) != 0; break;
    case UE_TRACE:
        *member = ue_cursor_read_flag(c, field);
        ue_cursor_report(c, field, at, *member, false);
        break;
    }
}

UE_INLINE uint64_t ue_layout_uint(enum ue_op op, struct ue_cursor *c, enum ue_field field, unsigned bits,
                                  uint64_t value) {
    size_t at = ue_cursor_pos(c);
    switch (op) {
    case UE_DECODE_FAST: return ue_cursor_fast_read(c, bits, bits);
    case UE_DECODE: return ue_cursor_read_bits(c, bits, field);
    case UE_BUILD: return ue_cursor_build_number(c, field, 0, bits);
    case UE_ENCODE:
        if (UE_UNLIKELY(value > ue_bits_mask(bits))) {
            ue_cursor_fault_encode(c, UE_E_RANGE, field);
        } else {
            ue_cursor_write_bits(c, value, bits, field);
        }
        return value;
    case UE_TRACE: break;
    }
    value = ue_cursor_read_bits(c, bits, field);
    ue_cursor_report(c, field, at, value, false);
    return value;
}

UE_INLINE uint32_t ue_layout_below(enum ue_op op, struct ue_cursor *c, enum ue_field field, struct ue_bound bound,
                                   uint64_t value) {
    size_t at = ue_cursor_pos(c);
    switch (op) {
    case UE_DECODE_FAST: return ue_cursor_fast_read_below(c, true, bound);
    case UE_DECODE: return ue_cursor_read_below(c, bound, field);
    case UE_ENCODE:
        if (UE_UNLIKELY(value >= bound.max)) {
            ue_cursor_fault_encode(c, UE_E_RANGE, field);
        } else {
            ue_cursor_write_below(c, (uint32_t)value, bound, field);
        }
        return (uint32_t)value;
    case UE_BUILD:
        value = ue_cursor_build_number(c, field, 0, 32);
        if (value >= bound.max) {
            ue_cursor_fault(c, UE_E_RANGE, field, ue_cursor_pos(c));
        }
        return (uint32_t)value;
    case UE_TRACE: break;
    }
    uint32_t read = ue_cursor_read_below(c, bound, field);
    ue_cursor_report(c, field, at, read, bound.longer != 0);
    return read;
}

UE_INLINE uint64_t ue_layout_packed(enum ue_op op, struct ue_cursor *c, enum ue_field field, unsigned groups,
                                    uint64_t value) {
    size_t at = ue_cursor_pos(c);
    switch (op) {
    case UE_DECODE_FAST: return ue_cursor_fast_read_packed(c, true);
    case UE_DECODE: return ue_cursor_read_packed(c, groups, field);
    case UE_BUILD: return ue_cursor_build_number(c, field, 0, groups == 5 ? 32 : 64);
    case UE_ENCODE:
        if (groups == 5 && value > UINT32_MAX) {
            ue_cursor_fault_encode(c, UE_E_RANGE, field);
        } else {
            ue_cursor_write_packed(c, value, field);
        }
        return value;
    case UE_TRACE: break;
    }
    value = ue_cursor_read_packed(c, groups, field);
    ue_cursor_report(c, field, at, value, true);
    return value;
}

UE_INLINE void ue_layout_text(enum ue_op op, struct ue_cursor *c, enum ue_field field, struct ue_text *member) {
    size_t at = ue_cursor_pos(c);
    switch (op) {
    case UE_DECODE_FAST: c->needs_slow_path = true; break;
    case UE_DECODE: *member = ue_cursor_read_text(c, field); break;
    case UE_ENCODE: ue_cursor_write_text(c, *member, field); break;
    case UE_BUILD: *member = ue_cursor_build_text(c, field); break;
    case UE_TRACE:
        *member = ue_cursor_read_text(c, field);
        ue_cursor_report_text(c, field, at, *member, true);
        break;
    }
}

/* A field source supplies whole bytes; the bits of the last byte that are too many are ignored. */
UE_INLINE void ue_layout_build_view(struct ue_cursor *c, enum ue_field field, size_t bits, struct ue_view *member) {
    *member = ue_cursor_build_text(c, field).units;
    if (member->bits > bits && member->bits - bits < 8) {
        member->bits = bits;
    }
}

/* The number of bits that a builder stated may be smaller than the number of bits that it supplied. */
UE_INLINE void ue_layout_build_length(struct ue_cursor *c, enum ue_field field, uint64_t bits, struct ue_view *member) {
    if (member->bits < bits) {
        ue_cursor_fault(c, UE_E_CONFLICT, field, ue_cursor_pos(c));
    }
    member->bits = (size_t)bits;
}

/* status: the fault of encoding a view that is not `bits` bits long. */
UE_INLINE void ue_layout_view(enum ue_op op, struct ue_cursor *c, enum ue_field field, size_t bits,
                              enum ue_status status, struct ue_view *member) {
    size_t at = ue_cursor_pos(c);
    switch (op) {
    case UE_DECODE_FAST: *member = ue_cursor_fast_read_view(c, bits); break;
    case UE_DECODE: *member = ue_cursor_read_view(c, bits, field); break;
    case UE_ENCODE:
        if (UE_UNLIKELY(member->bits != bits)) {
            ue_cursor_fault_encode(c, status, field);
        }
        ue_cursor_write_view(c, *member, field);
        break;
    case UE_BUILD: ue_layout_build_view(c, field, bits, member); break;
    case UE_TRACE:
        *member = ue_cursor_read_view(c, bits, field);
        ue_cursor_report_text(c, field, at, (struct ue_text){*member, false}, false);
        break;
    }
}

/* Out of line, because they are rare. */
void ue_layout_bytes(enum ue_op op, struct ue_cursor *c, enum ue_field field, size_t bytes, uint8_t *member);
void ue_layout_rest(enum ue_op op, struct ue_cursor *c, enum ue_field field, struct ue_view *member);
void ue_layout_counted(enum ue_op op, struct ue_cursor *c, enum ue_field field, unsigned count_bits,
                       unsigned element_bits, struct ue_view *member);
void ue_layout_wide(enum ue_op op, struct ue_cursor *c, enum ue_field field, size_t bits, uint64_t *number,
                    struct ue_view *rest);

/* The length that encoding writes before a view; 0 when decoding. */
UE_INLINE uint64_t ue_layout_length(enum ue_op op, const struct ue_view *member) {
    return op == UE_ENCODE ? member->bits : 0;
}

/* The bits whose length precedes them. */
UE_INLINE void ue_layout_measured(enum ue_op op, struct ue_cursor *c, enum ue_field length, enum ue_field field,
                                  uint64_t bits, struct ue_view *member) {
    ue_layout_view(op, c, field, (size_t)bits, UE_E_CONFLICT, member);
    if (op == UE_BUILD) {
        ue_layout_build_length(c, length, bits, member);
    }
}

UE_INLINE void ue_layout_uints(enum ue_op op, struct ue_cursor *c, enum ue_field field, unsigned bits, size_t count,
                               size_t capacity, uint32_t *members) {
    if (op != UE_ENCODE) {
        memset(members, 0, capacity * sizeof *members);
    }
    unsigned used = (unsigned)(count < capacity ? count : capacity);
    for (unsigned i = 0; i < used; i++) {
        UE_LAYOUT_ASSIGN(members[i], ue_layout_uint(op, c, field, bits, UE_LAYOUT_OLD(members[i])));
    }
    uint32_t rest = 0;
    for (size_t i = used; op == UE_ENCODE && i < capacity; i++) {
        rest |= members[i];
    }
    if (rest != 0) {
        ue_cursor_fault_encode(c, UE_E_ABSENT, field);
    }
}

/* How many zero bits may follow a terminator. */
enum ue_padding {
    UE_PADDING_BYTE,  /* up to the end of the byte: the outer terminator */
    UE_PADDING_NONE,  /* as many as the layout says; more are accepted but not canonical */
    UE_PADDING_BYTES, /* any number: a byte-oriented component restores whole bytes or blocks */
};

/* Finds the terminator and makes it the end of the cursor. Returns the number of bits after it. */
size_t ue_layout_find_terminator(struct ue_cursor *c, enum ue_padding padding, size_t *at);

/* The next bit, which is not consumed; false at the end. */
UE_INLINE bool ue_layout_peek(const struct ue_cursor *c) {
    return ue_cursor_left(c) != 0 && ue_bits_load(c->in, c->size_bytes, ue_cursor_pos(c), 1) != 0;
}

/* Reads or writes one element and reports it. */
typedef void ue_layout_element(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field field);

void ue_layout_elements(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field field,
                        size_t count, ue_layout_element *element, struct ue_view *member);

#endif
