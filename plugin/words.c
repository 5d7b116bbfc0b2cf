/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/words.h"

#include <stdbool.h>

#define DIGITS_MAX 20 /* of 64 bits */

static bool is_control(const unsigned char *c) {
    return *c < 0x20 || *c == 0x7F || (c[0] == 0xC2 && c[1] >= 0x80 && c[1] <= 0x9F);
}

char *ue_words_visible(char *text) {
    for (unsigned char *c = (unsigned char *)text; *c != '\0'; c++) {
        if (is_control(c)) {
            c[*c == 0xC2] = '?';
            *c = '?';
        }
    }
    return text;
}

void ue_words_number(struct ue_words *words, uint64_t number) {
    char digits[DIGITS_MAX + UE_WORDS_SHORT] = {0};
    size_t at = DIGITS_MAX;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    ue_words_add_short(words, digits + at, DIGITS_MAX - at);
}

void ue_words_hex(struct ue_words *words, uint32_t number) {
    char digits[8];
    for (size_t i = sizeof digits; i-- > 0; number >>= 4) {
        digits[i] = "0123456789abcdef"[number & 15];
    }
    ue_words_add(words, digits, sizeof digits);
}
