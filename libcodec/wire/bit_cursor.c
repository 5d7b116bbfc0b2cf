/* SPDX-License-Identifier: MIT */
#include "libcodec/wire/bit_cursor_fast.h"

uint64_t ue_cursor_fast_load_tail(const uint8_t *in, size_t size_bytes, size_t bit) {
    uint64_t word = 0;
    for (size_t i = 0, byte = bit >> 3; i < 8 && byte + i < size_bytes; i++) {
        word |= (uint64_t)in[byte + i] << (8 * i);
    }
    return word >> (bit & 7);
}

void ue_bytes_store_tail(uint8_t *bytes, uint64_t word, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)(word >> (8 * i));
    }
}

static uint64_t word_at(const uint8_t *from, unsigned shift) {
    uint64_t word = ue_bytes_load64(from);
    return shift == 0 ? word : word >> shift | (uint64_t)from[8] << (64 - shift);
}

/* After the first word the output is byte-aligned, so that the rest can be copied. */
uint64_t ue_words_append(uint8_t *out, uint64_t word, unsigned fill, const uint8_t *from, unsigned shift,
                         size_t words) {
    uint64_t last = word_at(from + (words - 1) * 8, shift);
    ue_bytes_store64(out, word | word_at(from, shift) << fill);
    ue_bits_copy(out + 8, 0, from, shift + 64 - fill, (words - 1) * 64);
    return last >> 1 >> (63 - fill);
}

struct ue_bit_window ue_bit_window_load(const uint8_t *in, size_t size_bytes, size_t bit, size_t end) {
    size_t left = end - bit;
    unsigned shift = (unsigned)(bit & 7);
    size_t held = left < 64 - shift ? left : 64 - shift;
    if (UE_UNLIKELY((bit >> 3) + 8 > size_bytes)) {
        return (struct ue_bit_window){ue_bits_load_tail(in, bit, (unsigned)held), held};
    }
    return (struct ue_bit_window){ue_bytes_load64(in + (bit >> 3)) >> shift, held};
}

/* ---- packed integers (protocol.md 2.4) ---- */

struct ue_packed ue_packed_load(struct ue_view view, unsigned groups) {
    struct ue_packed packed = {0, 0, true};
    unsigned limit = groups == 5 ? 32 : 64;
    uint64_t group = 1;
    for (unsigned i = 0; i < groups && (group & 1) != 0; i++) {
        if (view.bits < packed.bits + 8) {
            return (struct ue_packed){0, 0, false};
        }
        group = ue_view_load(view, packed.bits, 8);
        packed.bits += 8;
        uint64_t part = group >> 1;
        unsigned shift = 7 * i;
        /* Senders never write a group that adds nothing, bits above the integer, or a continuation that is not read. */
        bool needless = i > 0 && part == 0 && (group & 1) == 0;
        bool excess = limit - shift < 7 && (part >> (limit - shift)) != 0;
        bool endless = i + 1 == groups && (group & 1) != 0;
        packed.canonical &= !(needless || excess || endless);
        packed.value |= part << shift;
    }
    packed.value &= ue_bits_mask(limit);
    return packed;
}

/* ---- texts (protocol.md 2.5) ---- */

static uint32_t text_unit(struct ue_text text, size_t index) {
    unsigned width = text.wide ? 16 : 8;
    return (uint32_t)ue_view_load(text.units, index * width, width);
}

/* Whether a sender writes this form: wide exactly when a unit is outside ASCII, no NUL inside, no unpaired surrogate.
 */
static bool text_is_canonical(struct ue_text text) {
    size_t count = text.units.bits / (text.wide ? 16 : 8);
    bool needs_wide = false;
    bool after_high_surrogate = false;
    for (size_t i = 0; i < count; i++) {
        uint32_t unit = text_unit(text, i);
        bool low = unit >= 0xdc00 && unit < 0xe000;
        if (unit == 0 || low != after_high_surrogate) {
            return false;
        }
        after_high_surrogate = unit >= 0xd800 && unit < 0xdc00;
        needs_wide |= unit >= 0x80;
    }
    return needs_wide == text.wide && !after_high_surrogate;
}

struct ue_text ue_cursor_read_text_slow(struct ue_cursor *c, enum ue_field field) {
    int32_t count = (int32_t)(uint32_t)ue_cursor_read_bits(c, 32, field);
    struct ue_text text = {{c->in, ue_cursor_pos(c), 0}, count < 0};
    uint64_t units = count < 0 ? -(uint64_t)count : (uint64_t)count;
    unsigned width = text.wide ? 16 : 8;
    if (units == 0) {
        return text;
    }
    text.units = ue_cursor_read_view(c, (size_t)units * width, field);
    if (!ue_cursor_ok(c)) {
        return (struct ue_text){{c->in, ue_cursor_pos(c), 0}, false};
    }
    bool terminated = text_unit(text, (size_t)units - 1) == 0;
    if (terminated) {
        text.units.bits -= width;
    }
    bool empty = text.units.bits == 0;
    if (!terminated || empty || !text_is_canonical(text)) {
        c->canonical = false;
    }
    text.wide &= !empty;
    return text;
}

void ue_cursor_write_text_slow(struct ue_cursor *c, struct ue_text text, enum ue_field field) {
    unsigned width = text.wide ? 16 : 8;
    size_t units = text.units.bits / width;
    bool whole = text.units.bits % width == 0 && !(text.wide && units == 0);
    if (!whole || units >= INT32_MAX) {
        ue_cursor_fault_encode(c, UE_E_RANGE, field);
        return;
    }
    if (units == 0) {
        ue_cursor_write_bits(c, 0, 32, field);
        return;
    }
    int32_t count = (int32_t)units + 1;
    ue_cursor_write_bits(c, (uint32_t)(text.wide ? -count : count), 32, field);
    ue_cursor_write_view(c, text.units, field);
    ue_cursor_write_bits(c, 0, width, field);
}
