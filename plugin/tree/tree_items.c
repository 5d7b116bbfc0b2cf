/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/tree_items.h"

#include <epan/expert.h>

#include "plugin/tree/info_column.h"

int uerudp_tree_item_first_byte(const struct uerudp_tree_buffer *ground, size_t bit) {
    return (int)MIN(bit / 8, ground->bytes->size);
}

int uerudp_tree_item_byte_count(const struct uerudp_tree_buffer *ground, size_t bit, size_t bits) {
    size_t end = MIN(ue_bits_bytes(bit + bits), ground->bytes->size);
    return bits == 0 ? 0 : (int)(end - MIN(bit / 8, end));
}

const uint8_t *uerudp_tree_item_copy_bits(const struct uerudp_tree_buffer *ground, struct ue_view view) {
    uint8_t *bytes = wmem_alloc(ground->pool, ue_bits_bytes(view.bits) + 1);
    ue_view_copy(view, bytes);
    return bytes;
}

bool uerudp_tree_item_reserve(struct uerudp_tree_item_limit *budget) {
    bool has_one = budget == NULL || budget->left > 0;
    if (budget != NULL) {
        budget->left -= has_one;
        budget->refused += !has_one;
    }
    return has_one;
}

void uerudp_tree_item_report_limit(const struct uerudp_tree_item_limit *budget, packet_info *pinfo, proto_item *item) {
    if (budget->refused != 0) {
        expert_add_info_format(pinfo, item, &uerudp_experts.items,
                               "%u more items not shown: more than the preference uerudp.max_items allows",
                               budget->refused);
    }
}

static proto_item *add_bytes(const struct uerudp_tree_buffer *g, proto_tree *tree, int start, int length,
                             const struct ue_record *record, const uint8_t *aligned) {
    struct ue_view view = record->text.units;
    size_t size = ue_bits_bytes(view.bits);
    const uint8_t *bytes = aligned != NULL ? aligned : uerudp_tree_item_copy_bits(g, view);
    proto_item *item =
        proto_tree_add_bytes_with_length(tree, uerudp_hf[record->field], g->tvb, start, length, bytes, (int)size);
    uerudp_item_label_set_bytes(item, g->labels, record->field, bytes, size);
    return item;
}

static proto_item *add_value(const struct uerudp_tree_buffer *g, proto_tree *tree, const struct ue_record *record,
                             const uint8_t *aligned) {
    int hf = uerudp_hf[record->field];
    int start = uerudp_tree_item_first_byte(g, record->bit);
    int length = uerudp_tree_item_byte_count(g, record->bit, record->bits);
    uint32_t number = (uint32_t)record->number;
    switch (ue_field_row(record->field)->kind) {
    case UE_KIND_BOOL: return proto_tree_add_boolean(tree, hf, g->tvb, start, length, number);
    case UE_KIND_U8:
    case UE_KIND_U16:
    case UE_KIND_U32:
    case UE_KIND_X32: return proto_tree_add_uint(tree, hf, g->tvb, start, length, number);
    case UE_KIND_U64: return proto_tree_add_uint64(tree, hf, g->tvb, start, length, record->number);
    case UE_KIND_I32: return proto_tree_add_int(tree, hf, g->tvb, start, length, (int32_t)number);
    case UE_KIND_REAL: return proto_tree_add_double(tree, hf, g->tvb, start, length, ue_record_real(record));
    case UE_KIND_BYTES: return add_bytes(g, tree, start, length, record, aligned);
    case UE_KIND_TEXT:
    case UE_KIND_STRING:
        return proto_tree_add_string(tree, hf, g->tvb, start, length, uerudp_label_text_of_record(g->pool, record));
    case UE_KIND_FRAME:
    case UE_KIND_SPAN:
    case UE_KIND_FLAG:
    case UE_KIND_FINDING: break; /* of no record */
    }
    return NULL;
}

/* More than half of all items. */
static __attribute__((noinline)) proto_item *add_flag(const struct uerudp_tree_buffer *g, proto_tree *tree,
                                                      const struct ue_record *record) {
    size_t byte = record->bit / 8;
    bool has_byte = byte < g->bytes->size;
    proto_item *item =
        proto_tree_add_boolean(tree, uerudp_hf[record->field], g->tvb, has_byte ? (int)byte : (int)g->bytes->size, has_byte,
                               (uint32_t)record->number);
    uerudp_item_label_set_flag(item, g->bytes->base, record);
    return item;
}

static __attribute__((noinline)) proto_item *add_other(const struct uerudp_tree_buffer *g, proto_tree *tree,
                                                       const struct ue_record *record, const uint8_t *aligned) {
    proto_item *item = add_value(g, tree, record, aligned);
    if (record->generated) {
        proto_item_set_generated(item);
        uerudp_item_label_set_generated(item, g->labels, record->field, record->number, record->string);
    } else {
        uerudp_item_label_set_bits(item, g->labels, g->bytes->base, record);
    }
    return item;
}

static bool is_flag(const struct ue_record *record) {
    return record->bits == 1 && !record->coded && !record->generated &&
           ue_field_row(record->field)->kind == UE_KIND_BOOL;
}

proto_item *uerudp_tree_item_add(const struct uerudp_tree_buffer *ground, proto_tree *tree, const struct ue_record *record,
                         const uint8_t *aligned) {
    if (!uerudp_tree_item_reserve(ground->budget)) {
        return NULL;
    }
    return is_flag(record) ? add_flag(ground, tree, record) : add_other(ground, tree, record, aligned);
}
