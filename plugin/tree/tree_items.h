/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tree items for the records of a trace. */
#ifndef UERUDP_PLUGIN_TREE_TREE_ITEMS_H
#define UERUDP_PLUGIN_TREE_TREE_ITEMS_H

#include "plugin/compat.h"

#include <epan/packet_info.h>
#include <epan/proto.h>

#include <uerudp/trace.h>
#include "plugin/fields.h"
#include "plugin/tree/item_label.h"

/* The bytes of a datagram, or of what was made of it, as far as they were captured. */
struct uerudp_captured_bytes {
    const uint8_t *base;
    size_t size;
    bool is_cut; /* there were more */
};

/* How many more items a packet may have, and how many it was refused since. */
struct uerudp_tree_item_limit {
    uint32_t left;
    uint32_t refused;
};

/* Takes one item; false: there is none left. */
bool uerudp_tree_item_reserve(struct uerudp_tree_item_limit *budget);

/* Says how many were refused, where any were. */
void uerudp_tree_item_report_limit(const struct uerudp_tree_item_limit *budget, packet_info *pinfo, proto_item *item);

/* What the bits of records count in. */
struct uerudp_tree_buffer {
    tvbuff_t *tvb;
    wmem_allocator_t *pool;        /* of the packet */
    const struct uerudp_captured_bytes *bytes;  /* behind tvb */
    struct uerudp_tree_item_limit *budget; /* NULL: unlimited */
    struct uerudp_item_label_allocator *labels;      /* of its items; NULL: none is added */
};

/* The bytes that a run of bits touches; never beyond what was captured. */
int uerudp_tree_item_first_byte(const struct uerudp_tree_buffer *ground, size_t bit);
int uerudp_tree_item_byte_count(const struct uerudp_tree_buffer *ground, size_t bit, size_t bits);

/* A copy of the bits in the packet's scope, aligned, the last byte padded with zeros. */
const uint8_t *uerudp_tree_item_copy_bits(const struct uerudp_tree_buffer *ground, struct ue_view view);

/* Adds the item of a record with its label; NULL when the budget is spent. aligned: the bits of a BYTES record, where
   the caller has made a copy already; else NULL. The tree must want the field. */
proto_item *uerudp_tree_item_add(const struct uerudp_tree_buffer *ground, proto_tree *tree, const struct ue_record *record,
                         const uint8_t *aligned);

/* Whether a tree wants a field; NULL wants none. Visible ones want all, and are asked most. */
static inline bool uerudp_tree_item_is_wanted(proto_tree *tree, enum ue_field field) {
    return tree != NULL && (PTREE_DATA(tree)->visible || proto_field_is_referenced(tree, uerudp_hf[field]));
}

#endif
