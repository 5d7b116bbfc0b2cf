/* SPDX-License-Identifier: MIT */
/* Text being assembled: a growing buffer that is written to a file, or kept aside to be placed later. */
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
};

/* A zeroed struct is an empty text. Free releases it and makes it empty again. */
void text_buffer_free(struct text_buffer *out);

/* Makes room for at least this many further characters; ends the program without memory. */
void text_buffer_reserve(struct text_buffer *out, size_t count);

/* Where the next characters go, of which there may be this many. */
static inline char *text_buffer_room(struct text_buffer *out, size_t count) {
    if (UE_UNLIKELY(out->capacity - out->length < count)) {
        text_buffer_reserve(out, count);
    }
    return out->text + out->length;
}

static inline void text_buffer_add_char(struct text_buffer *out, char character) {
    *text_buffer_room(out, 1) = character;
    out->length++;
}

static inline void text_buffer_add_bytes(struct text_buffer *out, const void *bytes, size_t count) {
    if (count != 0) {
        memcpy(text_buffer_room(out, count), bytes, count);
    }
    out->length += count;
}

static inline void text_buffer_add(struct text_buffer *out, const char *text) {
    text_buffer_add_bytes(out, text, strlen(text));
}

void text_buffer_add_format(struct text_buffer *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

void text_buffer_add_unsigned(struct text_buffer *out, uint64_t number);
void text_buffer_add_signed(struct text_buffer *out, int64_t number);

/* Hexadecimal with exactly this many digits. */
void text_buffer_add_hex(struct text_buffer *out, uint64_t number, unsigned digits);

/* Lower-case hex of the view's bits, aligned to bit 0, the last byte padded with zeros; at most limit_bytes of it. */
void text_buffer_add_hex_view(struct text_buffer *out, struct ue_view view, size_t limit_bytes);

/* A number in the fewest digits that read back as the same double. */
void text_buffer_add_real(struct text_buffer *out, double value);

/* How characters that a terminal does not show as themselves are written, see text_buffer_is_hidden. */
enum text_escape {
    TEXT_ESCAPE_JSON,
    TEXT_ESCAPE_PLAIN,  /* control characters as \xNN, tab and newline as \t and \n, others as \uNNNN or \UNNNNNNNN */
    TEXT_ESCAPE_MESSAGE /* the same, but a backslash of the text itself is not doubled */
};

/* Control characters, ends of lines, and format characters that reorder or hide the text around them. */
bool text_buffer_is_hidden(uint32_t character);

/* One Unicode character as UTF-8, escaped where needed. */
void text_buffer_add_code_point(struct text_buffer *out, uint32_t character, enum text_escape escape);

/* A text in UTF-8, escaped where needed. A byte that is none becomes U+FFFD in JSON, else \xNN. */
void text_buffer_add_utf8(struct text_buffer *out, const char *text, enum text_escape escape);

/* An engine text as UTF-8; halves of surrogate pairs that stand alone become U+FFFD. */
void text_buffer_add_engine_text(struct text_buffer *out, struct ue_text text, enum text_escape escape);

/* Writes everything to the file and empties the text; false when writing failed. */
bool text_buffer_flush(struct text_buffer *out, FILE *file);

#endif
