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

struct ue_out {
    char *text;
    size_t length;
    size_t capacity;
};

/* A zeroed struct is an empty text. Free releases it and makes it empty again. */
void ue_out_free(struct ue_out *out);

/* Makes room for at least this many further characters; ends the program without memory. */
void ue_out_grow(struct ue_out *out, size_t count);

/* Where the next characters go, of which there may be this many. */
static inline char *ue_out_room(struct ue_out *out, size_t count) {
    if (UE_UNLIKELY(out->capacity - out->length < count)) {
        ue_out_grow(out, count);
    }
    return out->text + out->length;
}

static inline void ue_out_char(struct ue_out *out, char character) {
    *ue_out_room(out, 1) = character;
    out->length++;
}

static inline void ue_out_bytes(struct ue_out *out, const void *bytes, size_t count) {
    if (count != 0) {
        memcpy(ue_out_room(out, count), bytes, count);
    }
    out->length += count;
}

static inline void ue_out_text(struct ue_out *out, const char *text) {
    ue_out_bytes(out, text, strlen(text));
}

void ue_out_format(struct ue_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

void ue_out_unsigned(struct ue_out *out, uint64_t number);
void ue_out_signed(struct ue_out *out, int64_t number);

/* Hexadecimal with exactly this many digits. */
void ue_out_hex(struct ue_out *out, uint64_t number, unsigned digits);

/* Lower-case hex of the view's bits, aligned to bit 0, the last byte padded with zeros; at most limit_bytes of it. */
void ue_out_hex_view(struct ue_out *out, struct ue_view view, size_t limit_bytes);

/* A number in the fewest digits that read back as the same double. */
void ue_out_real(struct ue_out *out, double value);

/* How characters that a terminal does not show as themselves are written, see ue_out_is_hidden. */
enum ue_escape {
    UE_ESCAPE_JSON,
    UE_ESCAPE_PLAIN,  /* control characters as \xNN, tab and newline as \t and \n, others as \uNNNN or \UNNNNNNNN */
    UE_ESCAPE_MESSAGE /* the same, but a backslash of the text itself is not doubled */
};

/* Control characters, ends of lines, and format characters that reorder or hide the text around them. */
bool ue_out_is_hidden(uint32_t character);

/* One Unicode character as UTF-8, escaped where needed. */
void ue_out_character(struct ue_out *out, uint32_t character, enum ue_escape escape);

/* A text in UTF-8, escaped where needed. A byte that is none becomes U+FFFD in JSON, else \xNN. */
void ue_out_utf8(struct ue_out *out, const char *text, enum ue_escape escape);

/* An engine text as UTF-8; halves of surrogate pairs that stand alone become U+FFFD. */
void ue_out_engine_text(struct ue_out *out, struct ue_text text, enum ue_escape escape);

/* Writes everything to the file and empties the text; false when writing failed. */
bool ue_out_flush(struct ue_out *out, FILE *file);

#endif
