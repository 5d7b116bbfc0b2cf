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
struct ue_bytes {
    const uint8_t *base;
    size_t size;
    bool is_cut; /* there were more */
};

/* How many more items a packet may have, and how many it was refused since. */
struct ue_item_budget {
    uint32_t left;
    uint32_t refused;
};

/* Takes one item; false: there is none left. */
bool ue_items_take(struct ue_item_budget *budget);

/* Says how many were refused, where any were. */
void ue_items_report(const struct ue_item_budget *budget, packet_info *pinfo, proto_item *item);

/* What the bits of records count in. */
struct ue_ground {
    tvbuff_t *tvb;
    wmem_allocator_t *pool;        /* of the packet */
    const struct ue_bytes *bytes;  /* behind tvb */
    struct ue_item_budget *budget; /* NULL: unlimited */
    struct ue_labels *labels;      /* of its items; NULL: none is added */
};

/* The bytes that a run of bits touches; never beyond what was captured. */
int ue_items_first_byte(const struct ue_ground *ground, size_t bit);
int ue_items_byte_count(const struct ue_ground *ground, size_t bit, size_t bits);

/* A copy of the bits in the packet's scope, aligned, the last byte padded with zeros. */
const uint8_t *ue_items_aligned(const struct ue_ground *ground, struct ue_view view);

/* Adds the item of a record with its label; NULL when the budget is spent. aligned: the bits of a BYTES record, where
   the caller has made a copy already; else NULL. The tree must want the field. */
proto_item *ue_items_add(const struct ue_ground *ground, proto_tree *tree, const struct ue_record *record,
                         const uint8_t *aligned);

/* Whether a tree wants a field; NULL wants none. Visible ones want all, and are asked most. */
static inline bool ue_items_is_wanted(proto_tree *tree, enum ue_field field) {
    return tree != NULL && (PTREE_DATA(tree)->visible || proto_field_is_referenced(tree, ue_hf[field]));
}

#endif
