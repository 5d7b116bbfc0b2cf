/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds tree items for the records of a trace. */
#ifndef UERUDP_PLUGIN_TREE_FIELD_ITEMS_H
#define UERUDP_PLUGIN_TREE_FIELD_ITEMS_H

#include "plugin/compat.h"

#include <epan/packet_info.h>
#include <epan/proto.h>

#include <uerudp/trace.h>
#include "plugin/fields.h"
#include "plugin/tree/field_label.h"

/* The captured bytes of a datagram, or bytes that were decrypted or reassembled from it. */
struct uerudp_captured_bytes {
    const uint8_t *base;
    size_t size;
    size_t length; /* of a datagram on the wire */
    bool is_cut;   /* more bytes were on the wire */
};

/* How many more items a datagram may have, and how many were refused. */
struct uerudp_field_item_limit {
    uint32_t left;
    uint32_t refused;
};

/* Reserves one item; false: the limit is reached. */
bool uerudp_field_item_reserve(struct uerudp_field_item_limit *limit);

/* Adds an expert item with the number of refused items, if there are any. */
void uerudp_field_item_report_limit(const struct uerudp_field_item_limit *limit, packet_info *pinfo, proto_item *item);

/* The bytes in which records count their bits. */
struct uerudp_tree_buffer {
    tvbuff_t *tvb;
    wmem_allocator_t *pool;                    /* of the packet */
    const struct uerudp_captured_bytes *bytes; /* of tvb */
    struct uerudp_field_item_limit *limit;     /* NULL: unlimited */
};

/* The bytes that a run of bits touches, limited to the captured bytes. */
int uerudp_field_item_first_byte(const struct uerudp_tree_buffer *buffer, size_t bit);
int uerudp_field_item_byte_count(const struct uerudp_tree_buffer *buffer, size_t bit, size_t bits);

/* A copy of the bits in packet scope, aligned to bit 0, the last byte padded with zero bits. */
const uint8_t *uerudp_field_item_copy_bits(const struct uerudp_tree_buffer *buffer, struct ue_view view);

/* Adds the item of a record, with its label; NULL: the limit is reached. copy: the bits of a BYTES record, if the
   caller has copied them, else NULL. Call it only for a field that the tree wants. */
proto_item *uerudp_field_item_add(const struct uerudp_tree_buffer *buffer, proto_tree *tree,
                                  const struct ue_record *record, const uint8_t *copy);

/* Whether a tree wants a field. A visible tree wants every field and is the most frequent case. */
static inline bool uerudp_field_item_is_wanted(proto_tree *tree, enum ue_field field) {
    return tree != NULL && (PTREE_DATA(tree)->visible || proto_field_is_referenced(tree, uerudp_hf[field]));
}

#endif
