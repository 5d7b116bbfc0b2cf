/* SPDX-License-Identifier: MIT */
#include "tools/print/out.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "libcodec/text.h"

#define CAPACITY_MIN 4096

/* So many digits every double has, and so many tell any two apart. */
#define REAL_DIGITS_MIN 15
#define REAL_DIGITS_MAX 17

void ue_out_free(struct ue_out *out) {
    free(out->text);
    *out = (struct ue_out){0};
}

void ue_out_grow(struct ue_out *out, size_t count) {
    size_t capacity = out->capacity < CAPACITY_MIN ? CAPACITY_MIN : out->capacity;
    while (capacity - out->length < count) {
        capacity *= 2;
    }
    char *text = realloc(out->text, capacity);
    if (text == NULL) {
        fputs("uerudp: out of memory\n", stderr);
        abort();
    }
    out->text = text;
    out->capacity = capacity;
}

void ue_out_format(struct ue_out *out, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int count = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *room = ue_out_room(out, (size_t)count + 1);
    va_start(arguments, format);
    vsnprintf(room, (size_t)count + 1, format, arguments);
    va_end(arguments);
    out->length += (size_t)count;
}

void ue_out_unsigned(struct ue_out *out, uint64_t number) {
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    ue_out_bytes(out, digits + at, sizeof digits - at);
}

void ue_out_signed(struct ue_out *out, int64_t number) {
    if (number < 0) {
        ue_out_char(out, '-');
    }
    ue_out_unsigned(out, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

static const char hex_digits[] = "0123456789abcdef";

void ue_out_hex(struct ue_out *out, uint64_t number, unsigned digits) {
    char *to = ue_out_room(out, digits);
    for (unsigned i = digits; i-- > 0; number >>= 4) {
        to[i] = hex_digits[number & 15];
    }
    out->length += digits;
}

/* The eight digits of four bytes, first byte and high half first, as the bytes of a little-endian word. */
static uint64_t eight_digits(uint32_t word) {
    uint64_t x = word;
    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x >> 4 & UINT64_C(0x000f000f000f000f)) | (x & UINT64_C(0x000f000f000f000f)) << 8;
    uint64_t letters = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    return x + UINT64_C(0x3030303030303030) + letters * ('a' - '9' - 1);
}

void ue_out_hex_view(struct ue_out *out, struct ue_view view, size_t limit_bytes) {
    size_t size = ue_bits_bytes(view.bit + view.bits);
    size_t bytes = ue_bits_bytes(view.bits);
    bytes = bytes < limit_bytes ? bytes : limit_bytes;
    char *to = ue_out_room(out, bytes * 2 + 16); /* the last digits may be written with others behind them */
    for (size_t done = 0; done < bytes; done += 8, to += 16) {
        size_t left = view.bits - done * 8;
        uint64_t word = ue_bits_load(view.base, size, view.bit + done * 8, left < 64 ? (unsigned)left : 64);
        ue_bytes_store64((uint8_t *)to, eight_digits((uint32_t)word));
        ue_bytes_store64((uint8_t *)to + 8, eight_digits((uint32_t)(word >> 32)));
    }
    out->length += bytes * 2;
}

void ue_out_real(struct ue_out *out, double value) {
    char text[40];
    int digits = REAL_DIGITS_MIN;
    do {
        snprintf(text, sizeof text, "%.*g", digits, value);
    } while (strtod(text, NULL) != value && digits++ < REAL_DIGITS_MAX);
    ue_out_text(out, text);
    if (strpbrk(text, ".en") == NULL) {
        ue_out_text(out, ".0"); /* a reader that tells integers from numbers sees a number */
    }
}

static void put_utf8(struct ue_out *out, uint32_t character) {
    if (character < 0x80) {
        ue_out_char(out, (char)character);
        return;
    }
    char *to = ue_out_room(out, 4);
    out->length += ue_utf8_put(character, to);
}

void ue_out_character(struct ue_out *out, uint32_t character, enum ue_escape escape) {
    bool control = character < 0x20 || (character >= 0x7f && character < 0xa0);
    bool quoted = character == '\\' || (character == '"' && escape == UE_ESCAPE_JSON);
    if (!control && !quoted) {
        put_utf8(out, character);
    } else if (quoted || character == '\t' || character == '\n' || character == '\r') {
        ue_out_char(out, '\\');
        ue_out_char(out, quoted ? (char)character : character == '\t' ? 't' : character == '\n' ? 'n' : 'r');
    } else {
        ue_out_text(out, escape == UE_ESCAPE_JSON ? "\\u00" : "\\x");
        ue_out_hex(out, character, 2);
    }
}

/* Only ASCII, and the control characters behind it (C2 80 to C2 9F), need care. */
void ue_out_utf8(struct ue_out *out, const char *text, enum ue_escape escape) {
    const uint8_t *at = (const uint8_t *)text;
    for (; *at != 0; at++) {
        bool is_control = at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0;
        at += is_control;
        if (*at < 0x80 || is_control) {
            ue_out_character(out, *at, escape);
        } else {
            ue_out_char(out, (char)*at);
        }
    }
}

void ue_out_engine_text(struct ue_out *out, struct ue_text text, enum ue_escape escape) {
    for (size_t unit = 0; unit < ue_text_units(text);) {
        ue_out_character(out, ue_text_take(text, &unit), escape);
    }
}

bool ue_out_flush(struct ue_out *out, FILE *file) {
    if (out->length == 0) {
        return true;
    }
    bool written = fwrite(out->text, 1, out->length, file) == out->length && fflush(file) == 0;
    out->length = 0;
    return written;
}
