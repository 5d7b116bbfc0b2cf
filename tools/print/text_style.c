/* SPDX-License-Identifier: MIT */
#include "tools/print/text_style.h"

#include <stdarg.h>

/* The sixteen colours of every terminal, so that they fit dark and light backgrounds. */
void text_style_begin(struct text_buffer *buffer, enum text_style style) {
    static const char *const sequences[] = {
        [TEXT_STYLE_PLAIN] = "",           [TEXT_STYLE_TITLE] = "\033[1m",    [TEXT_STYLE_HEADING] = "\033[36m",
        [TEXT_STYLE_ERROR] = "\033[1;31m", [TEXT_STYLE_WARNING] = "\033[33m", [TEXT_STYLE_NOTE] = "\033[34m",
        [TEXT_STYLE_DERIVED] = "\033[2m",
    };
    if (buffer->is_colored) {
        text_buffer_add(buffer, sequences[style]);
    }
}

void text_style_end(struct text_buffer *buffer, enum text_style style) {
    if (buffer->is_colored && style != TEXT_STYLE_PLAIN) {
        text_buffer_add(buffer, "\033[0m");
    }
}

void text_style_add(struct text_buffer *buffer, enum text_style style, const char *text) {
    text_style_begin(buffer, style);
    text_buffer_add(buffer, text);
    text_style_end(buffer, style);
}

void text_style_add_title(struct text_buffer *buffer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_style_begin(buffer, TEXT_STYLE_TITLE);
    text_buffer_add_arguments(buffer, format, arguments);
    text_style_end(buffer, TEXT_STYLE_TITLE);
    text_buffer_add_char(buffer, '\n');
    va_end(arguments);
}
