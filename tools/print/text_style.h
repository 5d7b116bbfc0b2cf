/* SPDX-License-Identifier: MIT */
/* Bold and coloured text for a terminal. */
#ifndef UERUDP_TOOLS_PRINT_TEXT_STYLE_H
#define UERUDP_TOOLS_PRINT_TEXT_STYLE_H

#include "tools/print/text_buffer.h"

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
void text_style_begin(struct text_buffer *buffer, enum text_style style);
void text_style_end(struct text_buffer *buffer, enum text_style style);

/* Adds a line in TEXT_STYLE_TITLE. */
void text_style_add_title(struct text_buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a text in a style. */
void text_style_add(struct text_buffer *buffer, enum text_style style, const char *text);

#endif
