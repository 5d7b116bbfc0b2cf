/* SPDX-License-Identifier: MIT */
/* A growing text that is written to a file, or kept to be inserted later. */
#ifndef UERUDP_TOOLS_PRINT_TEXT_BUFFER_H
#define UERUDP_TOOLS_PRINT_TEXT_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <uerudp/bits.h>
#include <uerudp/trace.h>

struct text_buffer {
    char *text;
    size_t length;
    size_t capacity;
    bool is_colored;  /* for a terminal: text_style_begin writes escape sequences */
    unsigned columns; /* of the terminal, for line_wrap; 0: lines are not broken */
};

/* A zeroed struct is an empty text. text_buffer_free frees it and leaves an empty text. */
void text_buffer_free(struct text_buffer *buffer);

/* Makes room for `count` more characters; aborts the program if memory allocation fails. */
void text_buffer_reserve(struct text_buffer *buffer, size_t count);

/* Returns where the next `count` characters go. */
static inline char *text_buffer_room(struct text_buffer *buffer, size_t count) {
    if (UE_UNLIKELY(buffer->capacity - buffer->length < count)) {
        text_buffer_reserve(buffer, count);
    }
    return buffer->text + buffer->length;
}

static inline void text_buffer_add_char(struct text_buffer *buffer, char character) {
    *text_buffer_room(buffer, 1) = character;
    buffer->length++;
}

static inline void text_buffer_add_bytes(struct text_buffer *buffer, const void *bytes, size_t count) {
    if (count != 0) {
        memcpy(text_buffer_room(buffer, count), bytes, count);
    }
    buffer->length += count;
}

static inline void text_buffer_add(struct text_buffer *buffer, const char *text) {
    text_buffer_add_bytes(buffer, text, strlen(text));
}

void text_buffer_add_format(struct text_buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

void text_buffer_add_arguments(struct text_buffer *buffer, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

void text_buffer_add_unsigned(struct text_buffer *buffer, uint64_t number);
void text_buffer_add_signed(struct text_buffer *buffer, int64_t number);

/* The view's bits as lower-case hex, aligned to bit 0 and padded with zero bits; at most limit_bytes. */
void text_buffer_add_hex_view(struct text_buffer *buffer, struct ue_view view, size_t limit_bytes);

/* The shortest decimal that reads back as the same double. */
void text_buffer_add_real(struct text_buffer *buffer, double value);

/* Writes the text to the file and empties it; false if writing fails. */
bool text_buffer_flush(struct text_buffer *buffer, FILE *file);

#endif
