/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A text of limited length. Formatting by hand costs a tenth of printf, and every field of a visible tree needs it. */
#ifndef UE_WORDS_H
#define UE_WORDS_H

#include <stddef.h>
#include <stdint.h>

#define UE_WORDS_MAX 199

/* Starts as {.length = 0}; what does not fit is left out. */
struct ue_words {
    size_t length;
    char text[UE_WORDS_MAX + 1];
};

void ue_words_text(struct ue_words *words, const char *text);
void ue_words_number(struct ue_words *words, uint64_t number);
void ue_words_hex(struct ue_words *words, uint32_t number); /* eight digits */

#endif
