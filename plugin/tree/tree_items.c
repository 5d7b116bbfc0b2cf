/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/tree_items.h"

#include <epan/expert.h>

#include "plugin/tree/info_column.h"

int ue_items_first_byte(const struct ue_ground *ground, size_t bit) {
    return (int)MIN(bit / 8, ground->bytes->size);
}

int ue_items_byte_count(const struct ue_ground *ground, size_t bit, size_t bits) {
    size_t end = MIN(ue_bits_bytes(bit + bits), ground->bytes->size);
    return bits == 0 ? 0 : (int)(end - MIN(bit / 8, end));
}

const uint8_t *ue_items_aligned(const struct ue_ground *ground, struct ue_view view) {
    uint8_t *bytes = wmem_alloc(ground->pool, ue_bits_bytes(view.bits) + 1);
    ue_view_copy(view, bytes);
    return bytes;
}

bool ue_items_take(struct ue_item_budget *budget) {
    bool has_one = budget == NULL || budget->left > 0;
    if (budget != NULL) {
        budget->left -= has_one;
        budget->refused += !has_one;
    }
    return has_one;
}

void ue_items_report(const struct ue_item_budget *budget, packet_info *pinfo, proto_item *item) {
    if (budget->refused != 0) {
        expert_add_info_format(pinfo, item, &ue_experts.items,
                               "%u more items not shown: more than the preference uerudp.max_items allows",
                               budget->refused);
    }
}

static proto_item *add_bytes(const struct ue_ground *g, proto_tree *tree, int start, int length,
                             const struct ue_record *record, const uint8_t *aligned) {
    struct ue_view view = record->text.units;
    size_t size = ue_bits_bytes(view.bits);
    const uint8_t *bytes = aligned != NULL ? aligned : ue_items_aligned(g, view);
    proto_item *item =
        proto_tree_add_bytes_with_length(tree, ue_hf[record->field], g->tvb, start, length, bytes, (int)size);
    ue_label_bytes(item, g->labels, record->field, bytes, size);
    return item;
}

static proto_item *add_value(const struct ue_ground *g, proto_tree *tree, const struct ue_record *record,
                             const uint8_t *aligned) {
    int hf = ue_hf[record->field];
    int start = ue_items_first_byte(g, record->bit);
    int length = ue_items_byte_count(g, record->bit, record->bits);
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
        return proto_tree_add_string(tree, hf, g->tvb, start, length, ue_record_string(g->pool, record));
    case UE_KIND_FRAME:
    case UE_KIND_SPAN:
    case UE_KIND_FLAG:
    case UE_KIND_FINDING: break; /* of no record */
    }
    return NULL;
}

/* More than half of all items. */
static __attribute__((noinline)) proto_item *add_flag(const struct ue_ground *g, proto_tree *tree,
                                                      const struct ue_record *record) {
    size_t byte = record->bit / 8;
    bool has_byte = byte < g->bytes->size;
    proto_item *item =
        proto_tree_add_boolean(tree, ue_hf[record->field], g->tvb, has_byte ? (int)byte : (int)g->bytes->size, has_byte,
                               (uint32_t)record->number);
    ue_label_flag(item, g->bytes->base, record);
    return item;
}

static __attribute__((noinline)) proto_item *add_other(const struct ue_ground *g, proto_tree *tree,
                                                       const struct ue_record *record, const uint8_t *aligned) {
    proto_item *item = add_value(g, tree, record, aligned);
    if (record->generated) {
        proto_item_set_generated(item);
        ue_label_generated(item, g->labels, record->field, record->number, record->string);
    } else {
        ue_label_bits(item, g->labels, g->bytes->base, record);
    }
    return item;
}

static bool is_flag(const struct ue_record *record) {
    return record->bits == 1 && !record->coded && !record->generated &&
           ue_field_row(record->field)->kind == UE_KIND_BOOL;
}

proto_item *ue_items_add(const struct ue_ground *ground, proto_tree *tree, const struct ue_record *record,
                         const uint8_t *aligned) {
    if (!ue_items_take(ground->budget)) {
        return NULL;
    }
    return is_flag(record) ? add_flag(ground, tree, record) : add_other(ground, tree, record, aligned);
}
