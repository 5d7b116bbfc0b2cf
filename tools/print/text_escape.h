/* SPDX-License-Identifier: MIT */
/* Text of any origin, so that it cannot break a line, control a terminal or hide what it says. */
#ifndef UERUDP_TOOLS_PRINT_TEXT_ESCAPE_H
#define UERUDP_TOOLS_PRINT_TEXT_ESCAPE_H

#include <uerudp/bunch.h>
#include "tools/print/text_buffer.h"

/* How characters that a terminal does not display literally are written, see text_escape_is_hidden. */
enum text_escape {
    TEXT_ESCAPE_JSON,
    TEXT_ESCAPE_PLAIN,  /* control characters as \xNN, tab and newline as \t and \n, others as \uNNNN or \UNNNNNNNN */
    TEXT_ESCAPE_MESSAGE /* like PLAIN, but a backslash in the text is not doubled */
};

/* Whether a character is a control character, a line end, or a format character that reorders or hides other text. */
bool text_escape_is_hidden(uint32_t character);

/* One Unicode character as UTF-8, escaped where needed. */
void text_escape_add_code_point(struct text_buffer *buffer, uint32_t character, enum text_escape escape);

/* A UTF-8 text, escaped where needed. An invalid byte becomes U+FFFD in JSON, else \xNN. */
void text_escape_add_utf8(struct text_buffer *buffer, const char *text, enum text_escape escape);

/* An engine text as UTF-8; an unpaired surrogate becomes U+FFFD. */
void text_escape_add_engine_text(struct text_buffer *buffer, struct ue_text text, enum text_escape escape);

/* A name with its suffix, as "Actor_4" (protocol.md 2.6), which is not hard-coded. */
void text_escape_add_engine_name(struct text_buffer *buffer, const struct ue_name *name, enum text_escape escape);

#endif
