/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Labels of tree items with their bits: "..01 1... = Client id: 3". */
#ifndef UERUDP_PLUGIN_TREE_FIELD_LABEL_H
#define UERUDP_PLUGIN_TREE_FIELD_LABEL_H

#include "plugin/compat.h"

#include <epan/proto.h>

#include <uerudp/trace.h>
#include "plugin/tree/label_text.h"

/* Whether the label of an item is visible. */
static inline bool uerudp_field_label_is_visible(const proto_item *item) {
    return item != NULL && PTREE_DATA(item)->visible;
}

/* Sets the bits of a number's item, and a label that draws them. Does nothing if the tree is not visible. */
void uerudp_field_label_set_bits(proto_item *item, wmem_allocator_t *pool, const uint8_t *bytes,
                                 const struct ue_record *record);

/* An empty label text, and the call that sets it as the label of an item. Wireshark's own calls format with printf and
   copy the result. */
struct uerudp_label_text *uerudp_field_label_new(wmem_allocator_t *pool);
void uerudp_field_label_set(proto_item *item, struct uerudp_label_text *out);

#endif
