/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/label_text.h"

#include <stdbool.h>

static bool is_control(const unsigned char *c) {
    return *c < 0x20 || *c == 0x7F || (c[0] == 0xC2 && c[1] >= 0x80 && c[1] <= 0x9F);
}

char *uerudp_label_text_mask_controls(char *text) {
    for (unsigned char *c = (unsigned char *)text; *c != '\0'; c++) {
        if (is_control(c)) {
            c[*c == 0xC2] = '?';
            *c = '?';
        }
    }
    return text;
}

static unsigned count_digits(uint64_t number) {
    unsigned count = 1;
    for (; number >= 10000; number /= 10000) {
        count += 4;
    }
    return count + (number >= 10) + (number >= 100) + (number >= 1000);
}

/* From the last digit on, two at a time. */
void uerudp_label_text_add_number(struct uerudp_label_text *words, uint64_t number) {
#define TEN(tens) tens "0" tens "1" tens "2" tens "3" tens "4" tens "5" tens "6" tens "7" tens "8" tens "9"
    static const char pairs[] =
        TEN("0") TEN("1") TEN("2") TEN("3") TEN("4") TEN("5") TEN("6") TEN("7") TEN("8") TEN("9");
#undef TEN
    size_t length = words->length + count_digits(number);
    char *to = words->text + length;
    for (; number >= 10; number /= 100) {
        to -= 2;
        memcpy(to, pairs + 2 * (number % 100), 2);
    }
    if (to > words->text + words->length) {
        to[-1] = (char)('0' + number);
    }
    words->length = length < UERUDP_LABEL_TEXT_MAX ? length : UERUDP_LABEL_TEXT_MAX;
    words->text[words->length] = '\0';
}

void uerudp_label_text_add_hex(struct uerudp_label_text *words, uint32_t number) {
    char digits[8];
    for (size_t i = sizeof digits; i-- > 0; number >>= 4) {
        digits[i] = "0123456789abcdef"[number & 15];
    }
    uerudp_label_text_add_bytes(words, digits, sizeof digits);
}
