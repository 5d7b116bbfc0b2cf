/* SPDX-License-Identifier: MIT */
#include "tools/print/line_wrap.h"

#include <stdlib.h>

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

void line_wrap(struct text_buffer *buffer, size_t begin, unsigned indent) {
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
