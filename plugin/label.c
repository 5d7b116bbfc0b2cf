/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/label.h"

#include "plugin/words.h"

/* The longest run of bits whose picture fits a line: a packed integer of five bytes, over six. */
#define PICTURE_BITS_MAX 40
#define PICTURE_BYTES_MAX 6
#define CHARS_PER_BYTE 11 /* "0000 0000" and two blanks */

/* The bytes that hold the bits, the last one first, so that a value reads from left to right: "...1 0110  11.. ....".
 */
static void draw_bits(struct ue_words *words, const uint8_t *bytes, size_t bit, size_t bits) {
    char picture[PICTURE_BYTES_MAX * CHARS_PER_BYTE + 1];
    char *to = picture;
    for (size_t byte = ue_bits_bytes(bit + bits); byte-- > bit / 8;) {
        for (unsigned i = 8; i-- > 0;) {
            size_t at = byte * 8 + i - bit; /* wraps below the first bit */
            *to++ = at >= bits ? '.' : (char)('0' + (bytes[byte] >> i & 1));
            if (i == 4) {
                *to++ = ' ';
            }
        }
        *to++ = ' ';
        *to++ = ' ';
    }
    to[-2] = '\0';
    ue_words_text(words, picture);
}

static void add_named(struct ue_words *words, enum ue_values values, uint64_t number) {
    const char *name = ue_values_name(values, number);
    ue_words_text(words, name != NULL ? name : "Unknown");
    ue_words_text(words, " (");
    ue_words_number(words, number);
    ue_words_text(words, ")");
}

/* As Wireshark writes the value of such a field. */
static void add_value(struct ue_words *words, const struct ue_field_row *row, uint64_t number) {
    int64_t value = (int32_t)(uint32_t)number;
    if (row->values != UE_VALUES_NONE) {
        add_named(words, row->values, number);
    } else if (row->kind == UE_KIND_BOOL) {
        ue_words_text(words, number != 0 ? "True" : "False");
    } else if (row->kind == UE_KIND_X32) {
        ue_words_text(words, "0x");
        ue_words_hex(words, (uint32_t)number);
    } else if (row->kind == UE_KIND_I32) {
        ue_words_text(words, value < 0 ? "-" : "");
        ue_words_number(words, (uint64_t)(value < 0 ? -value : value));
    } else {
        ue_words_number(words, number);
    }
}

/* Wireshark's own calls would format the label it would have had, format ours, and copy both. */
static void replace_label(field_info *info, wmem_allocator_t *pool, const struct ue_words *words) {
    G_STATIC_ASSERT(UE_WORDS_MAX < ITEM_LABEL_LENGTH);
    info->rep = wmem_new0(pool, item_label_t);
    memcpy(info->rep->representation, words->text, words->length + 1);
}

void ue_label_bits(proto_item *item, wmem_allocator_t *pool, const uint8_t *bytes, const struct ue_record *record) {
    const struct ue_field_row *row = ue_field_row(record->field);
    bool is_number = row->kind <= UE_KIND_I32;
    if (item == NULL || !PTREE_DATA(item)->visible || !is_number || record->bits == 0 ||
        record->bits > PICTURE_BITS_MAX) {
        return;
    }
    field_info *info = PITEM_FINFO(item);
    struct ue_words words = {.length = 0};
    FI_SET_FLAG(info, FI_LITTLE_ENDIAN | FI_BITS_OFFSET(record->bit) | FI_BITS_SIZE(record->bits));
    draw_bits(&words, bytes, record->bit, record->bits);
    ue_words_text(&words, " = ");
    ue_words_text(&words, row->label);
    ue_words_text(&words, ": ");
    add_value(&words, row, record->number);
    replace_label(info, pool, &words);
}
