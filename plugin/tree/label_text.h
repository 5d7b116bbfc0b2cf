/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A text of limited length. Formatting by hand costs a tenth of printf, and every field of a visible tree needs it. */
#ifndef UERUDP_PLUGIN_TREE_LABEL_TEXT_H
#define UERUDP_PLUGIN_TREE_LABEL_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define UERUDP_LABEL_TEXT_MAX 199
#define UERUDP_LABEL_TEXT_SHORT 32

/* Starts with length 0; what does not fit is left out. Behind the longest text there is room for a short one. */
struct uerudp_label_text {
    size_t length;
    char text[UERUDP_LABEL_TEXT_MAX + 1 + UERUDP_LABEL_TEXT_SHORT];
};

/* Inline, so that the length of a literal is known to the compiler. */
static inline void uerudp_label_text_add_bytes(struct uerudp_label_text *words, const char *text, size_t length) {
    if (length > UERUDP_LABEL_TEXT_MAX - words->length) {
        length = UERUDP_LABEL_TEXT_MAX - words->length;
    }
    memcpy(words->text + words->length, text, length);
    words->length += length;
    words->text[words->length] = '\0';
}

/* Adds the first characters of a buffer of UERUDP_LABEL_TEXT_SHORT, which is copied as a whole: that takes four instructions,
   where a call that finds out how many to copy takes thirty. */
static inline void uerudp_label_text_add_short(struct uerudp_label_text *words, const char *text, size_t length) {
    size_t room = UERUDP_LABEL_TEXT_MAX - words->length;
    memcpy(words->text + words->length, text, UERUDP_LABEL_TEXT_SHORT);
    words->length += length < room ? length : room;
    words->text[words->length] = '\0';
}

/* Adds other words; most are short. */
static inline void uerudp_label_text_join(struct uerudp_label_text *words, const struct uerudp_label_text *other) {
    if (other->length <= UERUDP_LABEL_TEXT_SHORT) {
        uerudp_label_text_add_short(words, other->text, other->length);
    } else {
        uerudp_label_text_add_bytes(words, other->text, other->length);
    }
}

static inline void uerudp_label_text_add(struct uerudp_label_text *words, const char *text) {
    uerudp_label_text_add_bytes(words, text, strlen(text));
}

/* A name from the wire, with a question mark for each byte that would begin another line or steer a terminal: control
   characters, and those behind ASCII (C2 80 to C2 9F). Gives the text. */
char *uerudp_label_text_mask_controls(char *text);

void uerudp_label_text_add_number(struct uerudp_label_text *words, uint64_t number);
void uerudp_label_text_add_hex(struct uerudp_label_text *words, uint32_t number); /* eight digits */

#endif
