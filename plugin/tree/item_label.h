/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Labels with bit pictures: "..01 1... = Client id: 3". */
#ifndef UERUDP_PLUGIN_TREE_ITEM_LABEL_H
#define UERUDP_PLUGIN_TREE_ITEM_LABEL_H

#include "plugin/compat.h"

#include <epan/proto.h>

#include <uerudp/trace.h>
#include "plugin/tree/label_text.h"

/* Where the labels of a packet are made, many at once: one by one, the allocator would take a third of all that is to
   be done about a label. Starts with only the pool. */
struct uerudp_item_label_allocator {
    wmem_allocator_t *pool; /* of the packet */
    union uerudp_item_label *spare, *spares_end;
};

/* Whether somebody sees the label of an item. */
static inline bool uerudp_item_label_is_visible(const proto_item *item) {
    return item != NULL && PTREE_DATA(item)->visible;
}

/* Tells Wireshark which bits the item of a number stands for, and draws them in its label. Costs nothing where nobody
   sees the tree. */
void uerudp_item_label_set_bits(proto_item *item, struct uerudp_item_label_allocator *labels, const uint8_t *bytes, const struct ue_record *record);

/* The same for one bit that is its value. */
void uerudp_item_label_set_flag(proto_item *item, const uint8_t *bytes, const struct ue_record *record);

/* The label of what is on no wire, "Stream: 29": of a number, or of a string where that is not NULL. Labels that it
   does not draw, Wireshark draws alike. Costs nothing where nobody sees the tree. */
void uerudp_item_label_set_generated(proto_item *item, struct uerudp_item_label_allocator *labels, enum ue_field field, uint64_t number,
                        const char *string);

/* The label of bytes, "Data: 4314…". What is to look otherwise, by the user's preference or in later series, Wireshark
   draws. Costs nothing where nobody sees the tree. */
void uerudp_item_label_set_bytes(proto_item *item, struct uerudp_item_label_allocator *labels, enum ue_field field, const uint8_t *bytes, size_t size);

/* The label of a time, "Jitter: 0.041 seconds", likewise. span_ns: not negative. */
void uerudp_item_label_set_time(proto_item *item, struct uerudp_item_label_allocator *labels, enum ue_field field, int64_t span_ns);

/* Empty words that are to be the label of one item; and gives them to it. Wireshark's own calls would format them with
   printf, and copy them. */
struct uerudp_label_text *uerudp_item_label_new(struct uerudp_item_label_allocator *labels);
void uerudp_item_label_set(proto_item *item, struct uerudp_label_text *words);

#endif
