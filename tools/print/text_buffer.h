/* SPDX-License-Identifier: MIT */
/* A growing text that is written to a file, or kept to be inserted later. */
#ifndef UERUDP_TOOLS_PRINT_TEXT_BUFFER_H
#define UERUDP_TOOLS_PRINT_TEXT_BUFFER_H

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
    bool is_colored;  /* for a terminal: text_buffer_begin_style writes escape sequences */
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

void text_buffer_add_unsigned(struct text_buffer *buffer, uint64_t number);
void text_buffer_add_signed(struct text_buffer *buffer, int64_t number);

/* The view's bits as lower-case hex, aligned to bit 0 and padded with zero bits; at most limit_bytes. */
void text_buffer_add_hex_view(struct text_buffer *buffer, struct ue_view view, size_t limit_bytes);

/* The shortest decimal that reads back as the same double. */
void text_buffer_add_real(struct text_buffer *buffer, double value);

enum text_style {
    TEXT_STYLE_PLAIN,
    TEXT_STYLE_TITLE,   /* of a connection, a datagram or a table */
    TEXT_STYLE_HEADING, /* of a part */
    TEXT_STYLE_ERROR,
    TEXT_STYLE_WARNING,
    TEXT_STYLE_NOTE,
    TEXT_STYLE_DERIVED /* not on the wire */
};

/* What is added between these calls has the style; they add nothing unless is_colored. Styles do not nest. */
void text_buffer_begin_style(struct text_buffer *buffer, enum text_style style);
void text_buffer_end_style(struct text_buffer *buffer, enum text_style style);

/* Adds a line in TEXT_STYLE_TITLE. */
void text_buffer_add_title(struct text_buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a text in a style. */
void text_buffer_add_styled(struct text_buffer *buffer, enum text_style style, const char *text);

/* Writes the text to the file and empties it; false if writing fails. */
bool text_buffer_flush(struct text_buffer *buffer, FILE *file);

#endif
