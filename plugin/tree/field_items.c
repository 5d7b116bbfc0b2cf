/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/field_items.h"

#include "plugin/expert_items.h"

#include <epan/expert.h>

#include "plugin/tree/label_text.h"

int uerudp_field_item_first_byte(const struct uerudp_tree_buffer *b, size_t bit) {
    return (int)MIN(bit / 8, b->bytes->size);
}

int uerudp_field_item_byte_count(const struct uerudp_tree_buffer *b, size_t bit, size_t bits) {
    size_t end = MIN(ue_bits_bytes(bit + bits), b->bytes->size);
    return bits == 0 ? 0 : (int)(end - MIN(bit / 8, end));
}

const uint8_t *uerudp_field_item_copy_bits(const struct uerudp_tree_buffer *b, struct ue_view view) {
    uint8_t *bytes = wmem_alloc(b->pool, ue_bits_bytes(view.bits) + 1);
    ue_view_copy(view, bytes);
    return bytes;
}

bool uerudp_field_item_reserve(struct uerudp_field_item_limit *limit) {
    bool has_one = limit == NULL || limit->left > 0;
    if (limit != NULL) {
        limit->left -= has_one;
        limit->refused += !has_one;
    }
    return has_one;
}

void uerudp_field_item_report_limit(const struct uerudp_field_item_limit *limit, packet_info *pinfo, proto_item *item) {
    if (limit->refused != 0) {
        expert_add_info_format(
            pinfo, item, &uerudp_experts.items,
            "at least %u %s not shown: the datagram has more than the preference uerudp.max_items allows",
            limit->refused, limit->refused == 1 ? "item" : "items");
    }
}

static proto_item *add_bytes(const struct uerudp_tree_buffer *b, proto_tree *tree, int start, int length,
                             const struct ue_record *record, const uint8_t *copy) {
    struct ue_view view = record->text.units;
    size_t size = ue_bits_bytes(view.bits);
    const uint8_t *bytes = copy != NULL ? copy : uerudp_field_item_copy_bits(b, view);
    return proto_tree_add_bytes_with_length(tree, uerudp_hf[record->field], b->tvb, start, length, bytes, (int)size);
}

static proto_item *add_value(const struct uerudp_tree_buffer *b, proto_tree *tree, const struct ue_record *record,
                             const uint8_t *copy) {
    int hf = uerudp_hf[record->field];
    int start = uerudp_field_item_first_byte(b, record->bit);
    int length = uerudp_field_item_byte_count(b, record->bit, record->bits);
    uint32_t number = (uint32_t)record->number;
    switch (ue_field_row(record->field)->kind) {
    case UE_KIND_BOOL: return proto_tree_add_boolean(tree, hf, b->tvb, start, length, number);
    case UE_KIND_U8:
    case UE_KIND_U16:
    case UE_KIND_U32:
    case UE_KIND_X32: return proto_tree_add_uint(tree, hf, b->tvb, start, length, number);
    case UE_KIND_U64: return proto_tree_add_uint64(tree, hf, b->tvb, start, length, record->number);
    case UE_KIND_I32: return proto_tree_add_int(tree, hf, b->tvb, start, length, (int32_t)number);
    case UE_KIND_REAL: return proto_tree_add_double(tree, hf, b->tvb, start, length, ue_record_real(record));
    case UE_KIND_BYTES: return add_bytes(b, tree, start, length, record, copy);
    case UE_KIND_TEXT:
    case UE_KIND_STRING:
        return proto_tree_add_string(tree, hf, b->tvb, start, length, uerudp_label_text_of_record(b->pool, record));
    case UE_KIND_FRAME:
    case UE_KIND_SPAN:
    case UE_KIND_FLAG:
    case UE_KIND_FINDING: break; /* not a kind of a record */
    }
    return NULL;
}

proto_item *uerudp_field_item_add(const struct uerudp_tree_buffer *b, proto_tree *tree, const struct ue_record *record,
                                  const uint8_t *copy) {
    if (!uerudp_field_item_reserve(b->limit)) {
        return NULL;
    }
    proto_item *item = add_value(b, tree, record, copy);
    if (record->generated) {
        proto_item_set_generated(item);
    } else {
        uerudp_field_label_set_bits(item, b->pool, b->bytes->base, record);
    }
    return item;
}
