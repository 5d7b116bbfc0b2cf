/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/label_text.h"

#include <epan/charsets.h>
#include <epan/proto.h>

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

/* Writes from the last digit to the first, two at a time. */
void uerudp_label_text_add_number(struct uerudp_label_text *out, uint64_t number) {
#define TEN(tens) tens "0" tens "1" tens "2" tens "3" tens "4" tens "5" tens "6" tens "7" tens "8" tens "9"
    static const char pairs[] =
        TEN("0") TEN("1") TEN("2") TEN("3") TEN("4") TEN("5") TEN("6") TEN("7") TEN("8") TEN("9");
#undef TEN
    size_t length = out->length + count_digits(number);
    char *to = out->text + length;
    for (; number >= 10; number /= 100) {
        to -= 2;
        memcpy(to, pairs + 2 * (number % 100), 2);
    }
    if (to > out->text + out->length) {
        to[-1] = (char)('0' + number);
    }
    out->length = length < UERUDP_LABEL_TEXT_MAX ? length : UERUDP_LABEL_TEXT_MAX;
    out->text[out->length] = '\0';
}

void uerudp_label_text_add_hex(struct uerudp_label_text *out, uint32_t number) {
    char digits[8];
    for (size_t i = sizeof digits; i-- > 0; number >>= 4) {
        digits[i] = "0123456789abcdef"[number & 15];
    }
    uerudp_label_text_add_bytes(out, digits, sizeof digits);
}

static char *decode_text(wmem_allocator_t *pool, const struct ue_record *record) {
    struct ue_view units = record->text.units;
    size_t size = ue_bits_bytes(units.bits);
    uint8_t *bytes = wmem_alloc(pool, size + 1);
    ue_view_copy(units, bytes);
    if (record->text.wide) {
        return (char *)get_utf_16_string(pool, bytes, (int)size, ENC_LITTLE_ENDIAN);
    }
    return (char *)get_8859_1_string(pool, bytes, (int)size);
}

const char *uerudp_label_text_of_record(wmem_allocator_t *pool, const struct ue_record *record) {
    return record->string != NULL ? record->string : decode_text(pool, record);
}

const char *uerudp_label_text_name_of_record(wmem_allocator_t *pool, const struct ue_record *record) {
    return record->string != NULL ? record->string : uerudp_label_text_mask_controls(decode_text(pool, record));
}
