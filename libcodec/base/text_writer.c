/* SPDX-License-Identifier: MIT */
#include "libcodec/base/text_writer.h"

#include <string.h>

/* Decimal digits of a 64-bit number. */
#define DIGITS_MAX 20
#define HEX_DIGITS 8

static bool is_continuation(char byte) {
    return ((uint8_t)byte & 0xc0) == 0x80;
}

void ue_text_writer_add_bytes(struct ue_text_writer *out, const char *bytes, size_t count) {
    for (size_t i = 0; i < count && !out->is_full; i++) {
        out->is_full = out->length + 1 >= out->size_bytes;
        if (out->is_full) {
            out->is_cut = is_continuation(bytes[i]);
        } else {
            out->text[out->length++] = bytes[i];
        }
    }
}

void ue_text_writer_add(struct ue_text_writer *out, const char *text) {
    ue_text_writer_add_bytes(out, text, strlen(text));
}

void ue_text_writer_add_unsigned(struct ue_text_writer *out, uint64_t number) {
    char digits[DIGITS_MAX];
    size_t first = DIGITS_MAX;
    do {
        digits[--first] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    ue_text_writer_add_bytes(out, digits + first, DIGITS_MAX - first);
}

void ue_text_writer_add_signed(struct ue_text_writer *out, int64_t number) {
    ue_text_writer_add(out, number < 0 ? "-" : "");
    ue_text_writer_add_unsigned(out, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void ue_text_writer_add_hex(struct ue_text_writer *out, uint32_t number) {
    ue_text_writer_add(out, "0x");
    for (unsigned i = HEX_DIGITS; i-- > 0;) {
        ue_text_writer_add_bytes(out, &"0123456789abcdef"[number >> 4 * i & 0xf], 1);
    }
}

size_t ue_text_writer_finish(struct ue_text_writer *out) {
    while (out->is_cut && out->length != 0) {
        out->is_cut = is_continuation(out->text[--out->length]);
    }
    out->text[out->length] = '\0';
    return out->length;
}
