/* SPDX-License-Identifier: MIT */
/* The words that layouts are written in.
   A layout describes one wire structure. It is an always-inlined function whose first argument `op` is a compile-time
   constant, so that the same text yields a decoder, an encoder, a tracer and a builder. After the first fault a reading
   cursor is at its end and yields zeros; therefore layouts contain no error branches. In a layout, op, c (cursor), x
   (context) and m (structure) are in scope. Only the words test op: this file, layout_ops.h and layout_ops.c.

   The fast path (UE_DECODE_FAST, bit_cursor_fast.h) knows the words FLAG, UINT, BELOW, PACKED, their forms with _IF,
   VIEW and those made of them. All other words make it leave the structure to UE_DECODE. */
#ifndef UERUDP_LIBCODEC_WIRE_LAYOUT_WORDS_H
#define UERUDP_LIBCODEC_WIRE_LAYOUT_WORDS_H

#include "libcodec/wire/layout_ops.h"

/* Words with _AS take the field as an expression. */

/* One bit. */
#define FLAG_AS(member, field) ue_layout_flag(op, c, (field), &(member))
#define FLAG(member, field) FLAG_AS(member, UE_F_##field)

/* An integer of `bits` bits. */
#define UINT_AS(member, field, bits)                                                                                   \
    UE_LAYOUT_ASSIGN(member, ue_layout_uint(op, c, (field), (bits), UE_LAYOUT_OLD(member)))
#define UINT(member, field, bits) UINT_AS(member, UE_F_##field, bits)

/* A bounded integer (protocol.md 2.3). */
#define BELOW_AS(member, field, bound)                                                                                 \
    UE_LAYOUT_ASSIGN(member, ue_layout_below(op, c, (field), (bound), UE_LAYOUT_OLD(member)))
#define BELOW(member, field, bound) BELOW_AS(member, UE_F_##field, bound)

/* A packed integer (protocol.md 2.4) of 32 bits, or of 64. */
#define PACKED(member, field) UE_LAYOUT_ASSIGN(member, ue_layout_packed(op, c, UE_F_##field, 5, UE_LAYOUT_OLD(member)))
#define PACKED64_AS(member, field) UE_LAYOUT_ASSIGN(member, ue_layout_packed(op, c, (field), 10, UE_LAYOUT_OLD(member)))

/* A fixed number of bytes, stored in the structure. */
#define BYTES(member, field) ue_layout_bytes(op, c, UE_F_##field, sizeof(member), (member))

/* An engine string (protocol.md 2.5). */
#define TEXT_AS(member, field) ue_layout_text(op, c, (field), &(member))
#define TEXT(member, field) TEXT_AS(member, UE_F_##field)

/* Bits that stay a view. Their number follows from the context: another number is out of range. */
#define VIEW_AS(member, field, length_bits) ue_layout_view(op, c, (field), (length_bits), UE_E_RANGE, &(member))
#define VIEW(member, field, length_bits) VIEW_AS(member, UE_F_##field, length_bits)

/* Bits whose number follows from an earlier member: another number contradicts that member. */
#define VIEW_OF(member, field, length_bits) ue_layout_view(op, c, UE_F_##field, (length_bits), UE_E_CONFLICT, &(member))

/* All bits that are left. */
#define REST_AS(member, field) ue_layout_rest(op, c, (field), &(member))
#define REST(member, field) REST_AS(member, UE_F_##field)

/* Bits after their number, which is a bounded integer. */
#define VIEW_BELOW(member, length_field, field, bound)                                                                 \
    ue_layout_measured(op, c, UE_F_##length_field, UE_F_##field,                                                       \
                       ue_layout_below(op, c, UE_F_##length_field, (bound), ue_layout_length(op, &(member))),          \
                       &(member))

/* Bits after their number, which is a packed integer. */
#define VIEW_PACKED(member, length_field, field)                                                                       \
    ue_layout_measured(op, c, UE_F_##length_field, UE_F_##field,                                                       \
                       ue_layout_packed(op, c, UE_F_##length_field, 5, ue_layout_length(op, &(member))), &(member))

/* The bits since `from_bit`, which other members hold as values: encoding ignores the view. */
#define DECODED_VIEW(member, from_bit)                                                                                 \
    do {                                                                                                               \
        if (op == UE_DECODE || op == UE_TRACE) {                                                                       \
            (member) = (struct ue_view){c->in, (from_bit), ue_cursor_pos(c) - (from_bit)};                             \
        }                                                                                                              \
    } while (0)

/* Elements of a fixed size after their number, all reported as one field. */
#define COUNTED_AS(member, field, count_bits, element_bits)                                                            \
    ue_layout_counted(op, c, (field), (count_bits), (element_bits), &(member))
#define COUNTED(member, field, count_bits, element_bits) COUNTED_AS(member, UE_F_##field, count_bits, element_bits)

/* `count` elements of any size that stay a view. A view that is not exactly that many elements does not encode. */
#define ELEMENTS(member, field, count, element) ue_layout_elements(op, c, x, UE_F_##field, (count), element, &(member))

/* An integer of at least 64 bits: its low 64 bits, and a view of the others. */
#define WIDE_AS(number, rest, field, bits) ue_layout_wide(op, c, (field), (bits), &(number), &(rest))

/* The first `count` members of an array of integers; the others are zero. */
#define UINTS(array, field, bits, count)                                                                               \
    ue_layout_uints(op, c, UE_F_##field, (bits), (count), sizeof(array) / sizeof *(array), (array))

/* An integer whose trace shows another value than the member has. */
#define UE_LAYOUT_SHOWN(word, member, field, shown, ...)                                                               \
    do {                                                                                                               \
        size_t shown_at = ue_cursor_pos(c);                                                                            \
        UE_LAYOUT_ASSIGN(member,                                                                                       \
                         word(op == UE_TRACE ? UE_DECODE : op, c, (field), __VA_ARGS__, UE_LAYOUT_OLD(member)));       \
        if (op == UE_TRACE) {                                                                                          \
            ue_cursor_report(c, (field), shown_at, (shown), true);                                                     \
        }                                                                                                              \
    } while (0)
#define UINT_SHOWN_AS(member, field, bits, shown) UE_LAYOUT_SHOWN(ue_layout_uint, member, field, shown, (bits))
#define UINT_SHOWN(member, field, bits, shown) UINT_SHOWN_AS(member, UE_F_##field, bits, shown)
#define PACKED_SHOWN(member, field, shown) UE_LAYOUT_SHOWN(ue_layout_packed, member, UE_F_##field, shown, 5)

/* An integer `wire` that stands for another value: `to_wire` is the integer of the member, `to_member` the member's
   value of the integer. A member that is no value of an integer is out of range. A builder asks for the member's value;
   its default is that of the integer 0. */
#define UE_LAYOUT_MAPPED(word, wire, member, field, to_wire, to_member, ...)                                           \
    do {                                                                                                               \
        size_t mapped_at = ue_cursor_pos(c);                                                                           \
        (wire) = op == UE_ENCODE ? (to_wire) : 0;                                                                      \
        if (op != UE_BUILD) {                                                                                          \
            (wire) = (__typeof__(wire))word(op == UE_TRACE ? UE_DECODE : op, c, UE_F_##field, __VA_ARGS__, (wire));    \
        }                                                                                                              \
        UE_LAYOUT_EXPECT(member, UE_E_RANGE, field, to_member);                                                        \
        if (op == UE_BUILD) {                                                                                          \
            (member) =                                                                                                 \
                (__typeof__(member))ue_cursor_build_number(c, UE_F_##field, (member), (unsigned)sizeof(member) * 8);   \
        } else if (op == UE_TRACE) {                                                                                   \
            ue_cursor_report(c, UE_F_##field, mapped_at, (member), true);                                              \
        }                                                                                                              \
    } while (0)
#define UINT_MAPPED(wire, member, field, bits, to_wire, to_member)                                                     \
    UE_LAYOUT_MAPPED(ue_layout_uint, wire, member, field, to_wire, to_member, (bits))
#define BELOW_MAPPED(wire, member, field, bound, to_wire, to_member)                                                   \
    UE_LAYOUT_MAPPED(ue_layout_below, wire, member, field, to_wire, to_member, (bound))

/* Possibly a flag that the preceding `bits` bits state beside their own field; reported when it is set. */
#define SHARED_IF(condition, member, field, bits, stated)                                                              \
    do {                                                                                                               \
        bool possible = (condition);                                                                                   \
        if (op == UE_BUILD && possible) {                                                                              \
            FLAG(member, field);                                                                                       \
        } else if (op != UE_ENCODE) {                                                                                  \
            (member) = possible && (stated);                                                                           \
        } else if (!possible) {                                                                                        \
            ABSENT(member, field, false);                                                                              \
        }                                                                                                              \
        if (op == UE_TRACE && (member)) {                                                                              \
            ue_cursor_report(c, UE_F_##field, ue_cursor_pos(c) - (bits), true, true);                                  \
        }                                                                                                              \
    } while (0)

/* Whether an optional part is present. Decoding: `condition`, which asks the bits that are left; encoding: the member;
   building: the field source. */
#define MORE(member, field, condition)                                                                                 \
    do {                                                                                                               \
        if (op == UE_BUILD) {                                                                                          \
            (member) = ue_cursor_build_more(c, UE_F_##field);                                                          \
        } else if (op != UE_ENCODE) {                                                                                  \
            (member) = (condition) && ue_cursor_ok(c);                                                                 \
        }                                                                                                              \
    } while (0)

/* Whether one more element follows, which senders may omit at the end. Decoding: `condition`, which asks the bits that
   are left; encoding and building: always, up to the number of elements. */
#define FOLLOWS(condition) (op == UE_ENCODE || op == UE_BUILD || (condition))

/* The highest number of elements: encoding has as many as the member says, decoding and building at most `most`. */
#define AT_MOST(member, most) (op == UE_ENCODE ? (member) : (most))

/* A member that is absent on the wire and has a fixed value. */
#define ABSENT(member, field, otherwise) UE_LAYOUT_EXPECT(member, UE_E_ABSENT, field, otherwise)

/* A member that no bit states and other members imply; a builder need not state it either. */
#define IMPLIED(member, field, value) UE_LAYOUT_EXPECT(member, UE_E_CONFLICT, field, value)

#define UE_LAYOUT_EXPECT(member, status, field, value)                                                                 \
    do {                                                                                                               \
        if (op != UE_ENCODE) {                                                                                         \
            (member) = (__typeof__(member))(value);                                                                    \
        } else if (UE_UNLIKELY((member) != (__typeof__(member))(value))) {                                             \
            ue_cursor_fault_encode(c, (status), UE_F_##field);                                                         \
        }                                                                                                              \
    } while (0)

/* An implied member that a trace reports, over the bits since `from_bit`, and that a builder may state. */
#define IMPLIED_FIELD(member, field, bits, from_bit, value, is_reported)                                               \
    do {                                                                                                               \
        IMPLIED(member, field, value);                                                                                 \
        if (op == UE_BUILD) {                                                                                          \
            uint64_t stated = ue_cursor_build_number(c, UE_F_##field, (uint64_t)(member), (bits));                     \
            REQUIRE(stated == (uint64_t)(member), UE_E_CONFLICT, field);                                               \
        }                                                                                                              \
        if (is_reported) {                                                                                             \
            GENERATED(field, from_bit, ue_cursor_pos(c) - (from_bit), (uint64_t)(member));                             \
        }                                                                                                              \
    } while (0)

#define ABSENT_VIEW(member, field)                                                                                     \
    do {                                                                                                               \
        if (op != UE_ENCODE) {                                                                                         \
            (member) = (struct ue_view){0};                                                                            \
        } else if (UE_UNLIKELY((member).bits != 0)) {                                                                  \
            ue_cursor_fault_encode(c, UE_E_ABSENT, UE_F_##field);                                                      \
        }                                                                                                              \
    } while (0)

#define ABSENT_TEXT(member, field)                                                                                     \
    do {                                                                                                               \
        ABSENT_VIEW((member).units, field);                                                                            \
        ABSENT((member).wide, field, false);                                                                           \
    } while (0)

#define ABSENT_BYTES(member, field)                                                                                    \
    do {                                                                                                               \
        if (op != UE_ENCODE) {                                                                                         \
            memset((member), 0, sizeof(member));                                                                       \
        } else if (!ue_bytes_zero((member), sizeof(member))) {                                                         \
            ue_cursor_fault_encode(c, UE_E_ABSENT, UE_F_##field);                                                      \
        }                                                                                                              \
    } while (0)

/* Members that not every form of the structure has: zero, unless encoding, until a word sets them. */
#define CLEAR(member)                                                                                                  \
    do {                                                                                                               \
        if (op != UE_ENCODE) {                                                                                         \
            memset(&(member), 0, sizeof(member));                                                                      \
        }                                                                                                              \
    } while (0)

/* Fields that are present when the condition holds, and zero otherwise. */
#define UE_LAYOUT_IF(condition, fast, word, member, field)                                                             \
    do {                                                                                                               \
        bool present = (condition);                                                                                    \
        if (op == UE_DECODE_FAST) {                                                                                    \
            (member) = (__typeof__(member))(fast);                                                                     \
        } else if (present) {                                                                                          \
            word;                                                                                                      \
        } else {                                                                                                       \
            ABSENT(member, field, 0);                                                                                  \
        }                                                                                                              \
    } while (0)

#define FLAG_IF(condition, member, field)                                                                              \
    UE_LAYOUT_IF(condition, ue_cursor_fast_read_flag(c, present), FLAG(member, field), member, field)

#define UINT_IF(condition, member, field, bits)                                                                        \
    UE_LAYOUT_IF(condition, ue_cursor_fast_read_if(c, present, (bits)), UINT(member, field, bits), member, field)

#define BELOW_IF(condition, member, field, bound)                                                                      \
    UE_LAYOUT_IF(condition, ue_cursor_fast_read_below(c, present, bound), BELOW(member, field, bound), member, field)

#define PACKED_IF(condition, member, field)                                                                            \
    UE_LAYOUT_IF(condition, ue_cursor_fast_read_packed(c, present), PACKED(member, field), member, field)

/* A value of an enumeration with `count` values: a bounded integer. */
#define ENUM_IF(condition, member, field, count)                                                                       \
    UE_LAYOUT_IF(condition, (c->needs_slow_path |= present, 0), BELOW(member, field, ue_bound_of(count)), member, field)

#define UE_LAYOUT_PART_IF(condition, word, absent)                                                                     \
    do {                                                                                                               \
        bool present = (condition);                                                                                    \
        c->needs_slow_path |= op == UE_DECODE_FAST && present;                                                         \
        if (op != UE_DECODE_FAST && present) {                                                                         \
            word;                                                                                                      \
        } else {                                                                                                       \
            absent;                                                                                                    \
        }                                                                                                              \
    } while (0)

#define TEXT_IF(condition, member, field) UE_LAYOUT_PART_IF(condition, TEXT(member, field), ABSENT_TEXT(member, field))

#define BYTES_IF(condition, member, field)                                                                             \
    UE_LAYOUT_PART_IF(condition, BYTES(member, field), ABSENT_BYTES(member, field))

#define VIEW_IF(condition, member, field, length_bits)                                                                 \
    do {                                                                                                               \
        if (condition) {                                                                                               \
            VIEW(member, field, length_bits);                                                                          \
        } else {                                                                                                       \
            ABSENT_VIEW(member, field);                                                                                \
        }                                                                                                              \
    } while (0)

/* A condition that the structure fulfils; otherwise the fault is at bit `at`, or at the position of the cursor. */
#define REQUIRE_AT(condition, status, field, at)                                                                       \
    do {                                                                                                               \
        if (op == UE_DECODE_FAST) {                                                                                    \
            c->needs_slow_path |= !(condition);                                                                        \
        } else if (UE_UNLIKELY(!(condition))) {                                                                        \
            ue_layout_fault(op, c, (status), UE_F_##field, (at));                                                      \
        }                                                                                                              \
    } while (0)
#define REQUIRE(condition, status, field) REQUIRE_AT(condition, status, field, ue_cursor_pos(c))

/* A condition that every sender fulfils and no receiver checks: otherwise the input is not canonical. */
#define CANONICAL(condition) (c->canonical &= (condition))

/* The structure is complete: decoding finds no further bits. */
#define COMPLETE(field)                                                                                                \
    do {                                                                                                               \
        if (op == UE_DECODE || op == UE_TRACE) {                                                                       \
            REQUIRE(ue_cursor_left(c) == 0, UE_E_TRAILING, field);                                                     \
        }                                                                                                              \
    } while (0)

/* A structure with its own function, which works on a copy of the cursor, so that the cursor stays in registers. */
#define STRUCT(name, member)                                                                                           \
    do {                                                                                                               \
        if (op == UE_DECODE_FAST) {                                                                                    \
            c->needs_slow_path = true;                                                                                 \
        } else {                                                                                                       \
            struct ue_cursor copy = *c;                                                                                \
            name##_run(op, &copy, x, &(member));                                                                       \
            *c = copy;                                                                                                 \
        }                                                                                                              \
    } while (0)

/* Possibly a flag that is also the first bit of the structure that follows: decoding does not consume it. */
#define AHEAD_IF(condition, member, field)                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            ABSENT(member, field, false);                                                                              \
        } else if (op == UE_BUILD) {                                                                                   \
            FLAG(member, field);                                                                                       \
        } else if (op != UE_ENCODE) {                                                                                  \
            (member) = ue_layout_peek(c);                                                                              \
        }                                                                                                              \
    } while (0)

/* What follows ends at a terminator: the last set bit before at most `padding` zeros, which are `zeros` in canonical
   input. Decoding finds it from the end before it decodes what precedes it. */
#define UNTIL(at_bit, padding, zeros)                                                                                  \
    do {                                                                                                               \
        if (op == UE_DECODE_FAST) {                                                                                    \
            CANONICAL(ue_cursor_fast_find_terminator(c, (padding) == UE_PADDING_BYTE, &(at_bit)));                     \
        } else if (op != UE_ENCODE && op != UE_BUILD) {                                                                \
            size_t after = ue_layout_find_terminator(c, (padding), &(at_bit));                                         \
            CANONICAL((padding) != UE_PADDING_NONE || after == (zeros));                                               \
        }                                                                                                              \
    } while (0)

/* The terminator that UNTIL has found, and `zeros` zero bits. */
#define TERMINATOR(at_bit, zeros)                                                                                      \
    do {                                                                                                               \
        if (op == UE_ENCODE) {                                                                                         \
            ue_cursor_write_bits(c, 1, 1, UE_F_TERMINATOR);                                                            \
            ue_cursor_write_bits(c, 0, (unsigned)(zeros), UE_F_TERMINATOR);                                            \
        } else if (op == UE_TRACE && ue_cursor_ok(c)) {                                                                \
            c->end = (at_bit) + 1;                                                                                     \
            ue_cursor_seek(c, (at_bit) + 1);                                                                           \
            ue_cursor_report(c, UE_F_TERMINATOR, (at_bit), true, false);                                               \
        }                                                                                                              \
    } while (0)

/* A group of the trace; its end hands the decoded structure over. */
#define BEGIN(group)                                                                                                   \
    do {                                                                                                               \
        if (op == UE_TRACE) {                                                                                          \
            ue_cursor_begin_group(c, UE_GROUP_##group);                                                                \
        }                                                                                                              \
    } while (0)
#define END(group, structure)                                                                                          \
    do {                                                                                                               \
        if (op == UE_TRACE) {                                                                                          \
            ue_cursor_end_group(c, UE_GROUP_##group, (structure));                                                     \
        }                                                                                                              \
    } while (0)

/* A field that is derived from wire fields: reported to the trace, never read or written. */
#define GENERATED(field, from_bit, length_bits, value)                                                                 \
    do {                                                                                                               \
        if (op == UE_TRACE) {                                                                                          \
            ue_cursor_report_generated(c, UE_F_##field, (from_bit), (length_bits), (value));                           \
        }                                                                                                              \
    } while (0)

/* Reports fields that the call derives or finds in a view, unless decoding has failed. */
#define REPORT(trace)                                                                                                  \
    do {                                                                                                               \
        if (op == UE_TRACE && ue_cursor_ok(c)) {                                                                       \
            trace;                                                                                                     \
        }                                                                                                              \
    } while (0)

/* A derived text over the bits since `from_bit`: a static string, or one of the wire. NULL is not reported. */
#define GENERATED_NAME(field, from_bit, string, otherwise)                                                             \
    do {                                                                                                               \
        if (op == UE_TRACE) {                                                                                          \
            const char *generated = (string);                                                                          \
            const struct ue_text *text = (otherwise);                                                                  \
            if (generated != NULL) {                                                                                   \
                ue_cursor_report_string(c, UE_F_##field, (from_bit), ue_cursor_pos(c) - (from_bit), generated);        \
            } else if (text != NULL) {                                                                                 \
                ue_cursor_report_text_generated(c, UE_F_##field, (from_bit), *text);                                   \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

#endif
