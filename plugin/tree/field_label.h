/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Labels of tree items with their bits: "..01 1... = Client id: 3". */
#ifndef UERUDP_PLUGIN_TREE_FIELD_LABEL_H
#define UERUDP_PLUGIN_TREE_FIELD_LABEL_H

#include "plugin/compat.h"

#include <epan/proto.h>

#include <uerudp/trace.h>
#include "plugin/tree/label_text.h"

/* Allocates the labels of a packet in arrays: one wmem allocation for each takes a third of the time of a label.
   Initialised with the pool only. */
struct uerudp_field_label_allocator {
    wmem_allocator_t *pool; /* of the packet */
    union uerudp_field_label *next, *end;
};

/* Whether the label of an item is visible. */
static inline bool uerudp_field_label_is_visible(const proto_item *item) {
    return item != NULL && PTREE_DATA(item)->visible;
}

/* Sets the bits of a number's item, and a label that draws them. Does nothing if the tree is not visible. */
void uerudp_field_label_set_bits(proto_item *item, struct uerudp_field_label_allocator *allocator, const uint8_t *bytes,
                                 const struct ue_record *record);

/* The same for a flag: one bit that is the value. */
void uerudp_field_label_set_flag(proto_item *item, const uint8_t *bytes, const struct ue_record *record);

/* An empty label text, and the call that sets it as the label of an item. Wireshark's own calls format with printf and
   copy the result. */
struct uerudp_label_text *uerudp_field_label_new(struct uerudp_field_label_allocator *allocator);
void uerudp_field_label_set(proto_item *item, struct uerudp_label_text *out);

#endif
