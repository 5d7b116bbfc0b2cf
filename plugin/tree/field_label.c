/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/field_label.h"

#include <epan/wmem_scopes.h>

#include "plugin/tree/label_text.h"

/* Longest run of bits that is drawn: a packed integer of five bytes, in up to six bytes. */
#define PICTURE_BITS_MAX 40
#define PICTURE_BYTES_MAX 6
#define CHARS_PER_BYTE 11 /* "0000 0000" and two spaces */
#define EVERY_BYTE 0x01010101u

/* "Client id: ", the part before the value. */
struct label_name {
    uint8_t length;
    char text[UERUDP_LABEL_TEXT_SHORT];
};

static const struct label_name names[UE_FIELD_COUNT] = {
#define UE_FIELD(id, name, label, kind, values, description) {sizeof label ": " - 1, label ": "},
#include <uerudp/fields.def>
#undef UE_FIELD
};

/* One character (value 0 or 1) for each bit, the highest first. */
static uint32_t spread(unsigned nibble) {
#define BITS(n) {(n) >> 3 & 1, (n) >> 2 & 1, (n) >> 1 & 1, (n) & 1}
    static const char bits[][4] = {BITS(0), BITS(1), BITS(2),  BITS(3),  BITS(4),  BITS(5),  BITS(6),  BITS(7),
                                   BITS(8), BITS(9), BITS(10), BITS(11), BITS(12), BITS(13), BITS(14), BITS(15)};
#undef BITS
    uint32_t chars;
    memcpy(&chars, bits[nibble], sizeof chars);
    return chars;
}

/* Bits of the mask become digits, others dots; '0' is '.' + 2. */
static void draw_nibble(char *to, unsigned nibble, unsigned mask) {
    uint32_t chars = '.' * EVERY_BYTE + 2 * spread(mask) + spread(nibble & mask);
    memcpy(to, &chars, sizeof chars);
}

/* Draws "...1 0110  ". */
static char *draw_byte(char *to, unsigned byte, unsigned mask) {
    draw_nibble(to, byte >> 4, mask >> 4);
    to[4] = ' ';
    draw_nibble(to + 5, byte & 15, mask & 15);
    memset(to + 9, ' ', 2);
    return to + CHARS_PER_BYTE;
}

/* Draws the bytes that hold the bits, the last byte first, so that a value reads from left to right:
   "...1 0110  11.. .... = ". */
static char *draw_bits(char *to, const uint8_t *bytes, size_t bit, size_t bits) {
    uint64_t mask = ((UINT64_C(1) << bits) - 1) << bit % 8;
    size_t first = bit / 8;
    for (size_t i = ue_bits_bytes(bit % 8 + bits); i-- > 0;) {
        to = draw_byte(to, bytes[first + i], mask >> 8 * i & 0xff);
    }
    memcpy(to - 2, " = ", 3);
    return to + 1;
}

static void add_named(struct uerudp_label_text *out, enum ue_values values, uint64_t number) {
    const char *name = ue_values_name(values, number);
    uerudp_label_text_add(out, name != NULL ? name : "Unknown");
    uerudp_label_text_add(out, " (");
    uerudp_label_text_add_number(out, number);
    uerudp_label_text_add(out, ")");
}

/* Formats a value as Wireshark does. */
static void add_value(struct uerudp_label_text *out, const struct ue_field_row *row, uint64_t number) {
    int64_t value = (int32_t)(uint32_t)number;
    if (row->values != UE_VALUES_NONE) {
        add_named(out, row->values, number);
    } else if (row->kind == UE_KIND_BOOL) {
        uerudp_label_text_add(out, number != 0 ? "True" : "False");
    } else if (row->kind == UE_KIND_X32) {
        uerudp_label_text_add(out, "0x");
        uerudp_label_text_add_hex(out, (uint32_t)number);
    } else if (row->kind == UE_KIND_I32) {
        uerudp_label_text_add(out, value < 0 ? "-" : "");
        uerudp_label_text_add_number(out, (uint64_t)(value < 0 ? -value : value));
    } else {
        uerudp_label_text_add_number(out, number);
    }
}

/* A label text whose characters lie where Wireshark reads them. */
union uerudp_field_label {
    struct uerudp_label_text text;
    struct {
        size_t length;
        item_label_t label;
    } drawn;
};
G_STATIC_ASSERT(offsetof(union uerudp_field_label, text.text) ==
                offsetof(union uerudp_field_label, drawn.label.representation));
G_STATIC_ASSERT(UERUDP_LABEL_TEXT_MAX + 1 + UERUDP_LABEL_TEXT_SHORT <= ITEM_LABEL_LENGTH);

struct uerudp_label_text *uerudp_field_label_new(wmem_allocator_t *pool) {
    struct uerudp_label_text *out = &wmem_new(pool, union uerudp_field_label)->text;
    out->length = 0;
    return out;
}

/* Later series have more members after the text. */
static item_label_t *finish_label(struct uerudp_label_text *out) {
    item_label_t *label = &((union uerudp_field_label *)out)->drawn.label;
    memset((char *)label + ITEM_LABEL_LENGTH, 0, sizeof *label - ITEM_LABEL_LENGTH);
    return label;
}

void uerudp_field_label_set(proto_item *item, struct uerudp_label_text *out) {
    PITEM_FINFO(item)->rep = finish_label(out);
}

void uerudp_field_label_set_bits(proto_item *item, wmem_allocator_t *pool, const uint8_t *bytes,
                                 const struct ue_record *record) {
    G_STATIC_ASSERT(PICTURE_BYTES_MAX * CHARS_PER_BYTE < UERUDP_LABEL_TEXT_MAX);
    if (!uerudp_field_label_is_visible(item) || ue_field_row(record->field)->kind > UE_KIND_I32 || record->bits == 0 ||
        record->bits > PICTURE_BITS_MAX) {
        return;
    }
    const struct label_name *name = &names[record->field];
    struct uerudp_label_text *out = uerudp_field_label_new(pool);
    out->length = (size_t)(draw_bits(out->text, bytes, record->bit, record->bits) - out->text);
    uerudp_label_text_add_short(out, name->text, name->length);
    add_value(out, ue_field_row(record->field), record->number);
    uerudp_field_label_set(item, out);
    field_info *info = PITEM_FINFO(item);
    FI_SET_FLAG(info, FI_LITTLE_ENDIAN | FI_BITS_OFFSET(record->bit) | FI_BITS_SIZE(record->bits));
}
