/* SPDX-License-Identifier: MIT */
#include "tools/print/text_buffer.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#define CAPACITY_MIN 4096

/* Every double keeps 15 digits; 17 distinguish any two. */
#define REAL_DIGITS_MIN 15
#define REAL_DIGITS_MAX 17

void text_buffer_free(struct text_buffer *buffer) {
    free(buffer->text);
    *buffer = (struct text_buffer){0};
}

void text_buffer_reserve(struct text_buffer *buffer, size_t count) {
    size_t capacity = buffer->capacity < CAPACITY_MIN ? CAPACITY_MIN : buffer->capacity;
    while (capacity - buffer->length < count) {
        capacity *= 2;
    }
    char *text = realloc(buffer->text, capacity);
    if (text == NULL) {
        fputs("uerudp: out of memory\n", stderr);
        abort();
    }
    buffer->text = text;
    buffer->capacity = capacity;
}

void text_buffer_add_arguments(struct text_buffer *buffer, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int count = vsnprintf(NULL, 0, format, arguments);
    vsnprintf(text_buffer_room(buffer, (size_t)count + 1), (size_t)count + 1, format, again);
    va_end(again);
    buffer->length += (size_t)count;
}

void text_buffer_add_format(struct text_buffer *buffer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_buffer_add_arguments(buffer, format, arguments);
    va_end(arguments);
}

void text_buffer_add_unsigned(struct text_buffer *buffer, uint64_t number) {
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    text_buffer_add_bytes(buffer, digits + at, sizeof digits - at);
}

void text_buffer_add_signed(struct text_buffer *buffer, int64_t number) {
    if (number < 0) {
        text_buffer_add_char(buffer, '-');
    }
    text_buffer_add_unsigned(buffer, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

static uint64_t eight_digits(uint32_t word) {
    uint64_t x = word;
    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x >> 4 & UINT64_C(0x000f000f000f000f)) | (x & UINT64_C(0x000f000f000f000f)) << 8;
    uint64_t letters = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    return x + UINT64_C(0x3030303030303030) + letters * ('a' - '9' - 1);
}

void text_buffer_add_hex_view(struct text_buffer *buffer, struct ue_view view, size_t limit_bytes) {
    size_t size = ue_bits_bytes(view.bit + view.bits);
    size_t bytes = ue_bits_bytes(view.bits);
    bytes = bytes < limit_bytes ? bytes : limit_bytes;
    char *to = text_buffer_room(buffer, bytes * 2 + 16); /* may write past the last digits */
    for (size_t done = 0; done < bytes; done += 8, to += 16) {
        size_t left = view.bits - done * 8;
        uint64_t word = ue_bits_load(view.base, size, view.bit + done * 8, left < 64 ? (unsigned)left : 64);
        ue_bytes_store64((uint8_t *)to, eight_digits((uint32_t)word));
        ue_bytes_store64((uint8_t *)to + 8, eight_digits((uint32_t)(word >> 32)));
    }
    buffer->length += bytes * 2;
}

void text_buffer_add_real(struct text_buffer *buffer, double value) {
    char text[40];
    int digits = REAL_DIGITS_MIN;
    do {
        snprintf(text, sizeof text, "%.*g", digits, value);
    } while (strtod(text, NULL) != value && digits++ < REAL_DIGITS_MAX);
    text_buffer_add(buffer, text);
    if (strpbrk(text, ".en") == NULL) {
        text_buffer_add(buffer, ".0"); /* marks a real number for readers that distinguish integers */
    }
}

bool text_buffer_flush(struct text_buffer *buffer, FILE *file) {
    if (buffer->length == 0) {
        return true;
    }
    bool written = fwrite(buffer->text, 1, buffer->length, file) == buffer->length && fflush(file) == 0;
    buffer->length = 0;
    return written;
}
