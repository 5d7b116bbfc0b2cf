/* SPDX-License-Identifier: MIT */
#include "tools/print/text_buffer.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include <uerudp/text.h>

#define CAPACITY_MIN 4096

/* Every double keeps 15 digits; 17 distinguish any two. */
#define REAL_DIGITS_MIN 15
#define REAL_DIGITS_MAX 17

void text_buffer_free(struct text_buffer *buffer) {
    free(buffer->text);
    *buffer = (struct text_buffer){0};
}

/* The sixteen colours of every terminal, so that they fit dark and light backgrounds. */
void text_buffer_begin_style(struct text_buffer *buffer, enum text_style style) {
    static const char *const sequences[] = {
        [TEXT_STYLE_PLAIN] = "",           [TEXT_STYLE_TITLE] = "\033[1m",    [TEXT_STYLE_HEADING] = "\033[36m",
        [TEXT_STYLE_ERROR] = "\033[1;31m", [TEXT_STYLE_WARNING] = "\033[33m", [TEXT_STYLE_NOTE] = "\033[34m",
        [TEXT_STYLE_DERIVED] = "\033[2m",
    };
    if (buffer->is_colored) {
        text_buffer_add(buffer, sequences[style]);
    }
}

void text_buffer_end_style(struct text_buffer *buffer, enum text_style style) {
    if (buffer->is_colored && style != TEXT_STYLE_PLAIN) {
        text_buffer_add(buffer, "\033[0m");
    }
}

void text_buffer_add_styled(struct text_buffer *buffer, enum text_style style, const char *text) {
    text_buffer_begin_style(buffer, style);
    text_buffer_add(buffer, text);
    text_buffer_end_style(buffer, style);
}

/* ---- long lines ---- */

/* A narrower terminal breaks lines itself. */
#define WRAPPED_CHARS_MIN 20u

static bool is_continuation(char byte) {
    return ((unsigned char)byte & 0xc0) == 0x80;
}

static size_t count_blanks(const char *text, size_t length) {
    size_t count = 0;
    while (count < length && text[count] == ' ') {
        count++;
    }
    return count;
}

/* The bytes up to the next blank, and how many characters a terminal shows for them. */
static size_t next_word(const char *text, size_t length, unsigned *chars) {
    size_t at = 0;
    bool is_escape = false;
    *chars = 0;
    for (; at < length && text[at] != ' '; at++) {
        is_escape |= text[at] == '\033';
        *chars += !is_escape && !is_continuation(text[at]);
        is_escape = is_escape && text[at] != 'm';
    }
    return at;
}

void text_buffer_wrap(struct text_buffer *buffer, size_t begin, unsigned indent) {
    size_t length = buffer->length - begin;
    unsigned column = 0;
    if (buffer->columns < indent + WRAPPED_CHARS_MIN || length <= buffer->columns) {
        return;
    }
    char *line = malloc(length);
    if (line == NULL) {
        return;
    }
    memcpy(line, buffer->text + begin, length);
    buffer->length = begin;
    for (size_t at = 0; at < length;) {
        size_t blanks = count_blanks(line + at, length - at);
        unsigned chars;
        size_t word = next_word(line + at + blanks, length - at - blanks, &chars);
        bool is_break = column > indent && column + blanks + chars > buffer->columns;
        if (is_break) {
            text_buffer_add_format(buffer, "\n%*s", (int)indent, "");
        } else {
            text_buffer_add_bytes(buffer, line + at, blanks);
        }
        text_buffer_add_bytes(buffer, line + at + blanks, word);
        column = (is_break ? indent : column + (unsigned)blanks) + chars;
        at += blanks + word;
    }
    free(line);
}

/* ---- capacity ---- */

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

static void add_arguments(struct text_buffer *buffer, const char *format, va_list arguments) {
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
    add_arguments(buffer, format, arguments);
    va_end(arguments);
}

void text_buffer_add_title(struct text_buffer *buffer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_buffer_begin_style(buffer, TEXT_STYLE_TITLE);
    add_arguments(buffer, format, arguments);
    text_buffer_end_style(buffer, TEXT_STYLE_TITLE);
    text_buffer_add_char(buffer, '\n');
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

static const char hex_digits[] = "0123456789abcdef";

static void add_hex(struct text_buffer *buffer, uint64_t number, unsigned digits) {
    char *to = text_buffer_room(buffer, digits);
    for (unsigned i = digits; i-- > 0; number >>= 4) {
        to[i] = hex_digits[number & 15];
    }
    buffer->length += digits;
}

/* The eight hex digits of four bytes as a little-endian word, in byte order. */
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

static void put_utf8(struct text_buffer *buffer, uint32_t character) {
    if (character < 0x80) {
        text_buffer_add_char(buffer, (char)character);
        return;
    }
    char *to = text_buffer_room(buffer, 4);
    buffer->length += ue_utf8_write(character, to);
}

/* Format characters and fillers of Unicode that are invisible or change how other characters are shown. */
static const struct {
    uint32_t first, last;
} hidden[] = {
    {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},     {0x115f, 0x1160},   {0x180b, 0x180f},
    {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},   {0x3164, 0x3164},   {0xfeff, 0xfeff},
    {0xffa0, 0xffa0}, {0xfff9, 0xfffb}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

bool text_buffer_is_hidden(uint32_t character) {
    if (character < 0x7f) {
        return character < 0x20;
    }
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden && hidden[i].first <= character; i++) {
        if (character <= hidden[i].last) {
            return true;
        }
    }
    return false;
}

static void put_code(struct text_buffer *buffer, const char *prefix, uint32_t code, unsigned digits) {
    text_buffer_add(buffer, prefix);
    add_hex(buffer, code, digits);
}

static void put_hidden(struct text_buffer *buffer, uint32_t character, enum text_escape escape) {
    if (character > 0xffff && escape == TEXT_ESCAPE_JSON) {
        put_code(buffer, "\\u", 0xd800 + ((character - 0x10000) >> 10), 4);
        put_code(buffer, "\\u", 0xdc00 + (character & 0x3ff), 4);
    } else if (character > 0xffff) {
        put_code(buffer, "\\U", character, 8);
    } else if (character < 0xa0 && escape != TEXT_ESCAPE_JSON) {
        put_code(buffer, "\\x", character, 2);
    } else {
        put_code(buffer, "\\u", character, 4);
    }
}

void text_buffer_add_code_point(struct text_buffer *buffer, uint32_t character, enum text_escape escape) {
    bool quoted =
        (character == '\\' && escape != TEXT_ESCAPE_MESSAGE) || (character == '"' && escape == TEXT_ESCAPE_JSON);
    if (quoted || character == '\t' || character == '\n' || character == '\r') {
        text_buffer_add_char(buffer, '\\');
        text_buffer_add_char(buffer, quoted              ? (char)character
                                     : character == '\t' ? 't'
                                     : character == '\n' ? 'n'
                                                         : 'r');
    } else if (text_buffer_is_hidden(character)) {
        put_hidden(buffer, character, escape);
    } else {
        put_utf8(buffer, character);
    }
}

/* The size in bytes of a multi-byte UTF-8 character; 0: not valid. The text ends with NUL. */
static size_t decode_utf8(const uint8_t *at, uint32_t *character) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t count = at[0] >= 0xf0 && at[0] < 0xf8   ? 4
                   : at[0] >= 0xe0 && at[0] < 0xf0 ? 3
                   : at[0] >= 0xc0 && at[0] < 0xe0 ? 2
                                                   : 0;
    *character = count != 0 ? at[0] & (0x7fu >> count) : 0;
    for (size_t i = 1; i < count; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
        *character = *character << 6 | (at[i] & 0x3f);
    }
    bool is_surrogate = *character >= 0xd800 && *character < 0xe000;
    return *character < least[count] || is_surrogate || *character > 0x10ffff ? 0 : count;
}

static void put_stray_byte(struct text_buffer *buffer, uint8_t byte, enum text_escape escape) {
    if (escape == TEXT_ESCAPE_JSON) {
        put_utf8(buffer, 0xfffd);
    } else {
        put_code(buffer, "\\x", byte, 2);
    }
}

void text_buffer_add_utf8(struct text_buffer *buffer, const char *text, enum text_escape escape) {
    const uint8_t *at = (const uint8_t *)text;
    while (*at != 0) {
        uint32_t character = *at;
        size_t count = *at < 0x80 ? 1 : decode_utf8(at, &character);
        if (count != 0) {
            text_buffer_add_code_point(buffer, character, escape);
        } else {
            put_stray_byte(buffer, *at, escape);
        }
        at += count != 0 ? count : 1;
    }
}

void text_buffer_add_engine_text(struct text_buffer *buffer, struct ue_text text, enum text_escape escape) {
    for (size_t unit = 0; unit < ue_text_units(text);) {
        text_buffer_add_code_point(buffer, ue_text_read_character(text, &unit), escape);
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
