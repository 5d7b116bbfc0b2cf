/* SPDX-License-Identifier: MIT */
#include "tools/print/text_escape.h"

#include <inttypes.h>

#include <uerudp/text.h>

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

bool text_escape_is_hidden(uint32_t character) {
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
    text_buffer_add_format(buffer, "%s%0*" PRIx32, prefix, (int)digits, code);
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

void text_escape_add_code_point(struct text_buffer *buffer, uint32_t character, enum text_escape escape) {
    bool quoted =
        (character == '\\' && escape != TEXT_ESCAPE_MESSAGE) || (character == '"' && escape == TEXT_ESCAPE_JSON);
    if (quoted || character == '\t' || character == '\n' || character == '\r') {
        text_buffer_add_char(buffer, '\\');
        text_buffer_add_char(buffer, quoted              ? (char)character
                                     : character == '\t' ? 't'
                                     : character == '\n' ? 'n'
                                                         : 'r');
    } else if (text_escape_is_hidden(character)) {
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

void text_escape_add_utf8(struct text_buffer *buffer, const char *text, enum text_escape escape) {
    const uint8_t *at = (const uint8_t *)text;
    while (*at != 0) {
        uint32_t character = *at;
        size_t count = *at < 0x80 ? 1 : decode_utf8(at, &character);
        if (count != 0) {
            text_escape_add_code_point(buffer, character, escape);
        } else {
            put_stray_byte(buffer, *at, escape);
        }
        at += count != 0 ? count : 1;
    }
}

void text_escape_add_engine_text(struct text_buffer *buffer, struct ue_text text, enum text_escape escape) {
    for (size_t unit = 0; unit < ue_text_units(text);) {
        text_escape_add_code_point(buffer, ue_text_read_character(text, &unit), escape);
    }
}

void text_escape_add_engine_name(struct text_buffer *buffer, const struct ue_name *name, enum text_escape escape) {
    text_escape_add_engine_text(buffer, name->text, escape);
    if (name->number != 0) {
        text_buffer_add_format(buffer, "_%" PRIu32, name->number - 1);
    }
}
