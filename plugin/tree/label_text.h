/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A text of limited length. Formatting by hand costs a tenth of printf, and every field of a visible tree needs it. */
#ifndef UERUDP_PLUGIN_TREE_LABEL_TEXT_H
#define UERUDP_PLUGIN_TREE_LABEL_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define UE_WORDS_MAX 199
#define UE_WORDS_SHORT 32

/* Starts with length 0; what does not fit is left out. Behind the longest text there is room for a short one. */
struct ue_words {
    size_t length;
    char text[UE_WORDS_MAX + 1 + UE_WORDS_SHORT];
};

/* Inline, so that the length of a literal is known to the compiler. */
static inline void ue_words_add(struct ue_words *words, const char *text, size_t length) {
    if (length > UE_WORDS_MAX - words->length) {
        length = UE_WORDS_MAX - words->length;
    }
    memcpy(words->text + words->length, text, length);
    words->length += length;
    words->text[words->length] = '\0';
}

/* Adds the first characters of a buffer of UE_WORDS_SHORT, which is copied as a whole: that takes four instructions,
   where a call that finds out how many to copy takes thirty. */
static inline void ue_words_add_short(struct ue_words *words, const char *text, size_t length) {
    size_t room = UE_WORDS_MAX - words->length;
    memcpy(words->text + words->length, text, UE_WORDS_SHORT);
    words->length += length < room ? length : room;
    words->text[words->length] = '\0';
}

/* Adds other words; most are short. */
static inline void ue_words_join(struct ue_words *words, const struct ue_words *other) {
    if (other->length <= UE_WORDS_SHORT) {
        ue_words_add_short(words, other->text, other->length);
    } else {
        ue_words_add(words, other->text, other->length);
    }
}

static inline void ue_words_text(struct ue_words *words, const char *text) {
    ue_words_add(words, text, strlen(text));
}

/* A name from the wire, with a question mark for each byte that would begin another line or steer a terminal: control
   characters, and those behind ASCII (C2 80 to C2 9F). Gives the text. */
char *ue_words_visible(char *text);

void ue_words_number(struct ue_words *words, uint64_t number);
void ue_words_hex(struct ue_words *words, uint32_t number); /* eight digits */

#endif
