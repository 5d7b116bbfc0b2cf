/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Payloads for other people's dissectors, in C or Lua: whole messages by the name of their channel (dissector table
   "uerudp.channel"), payloads of content blocks by a class path (table "uerudp.class"). */
#ifndef UERUDP_PLUGIN_TREE_SUBDISSECTORS_H
#define UERUDP_PLUGIN_TREE_SUBDISSECTORS_H

#include "plugin/compat.h"

#include <epan/packet_info.h>
#include <epan/proto.h>

#define UERUDP_SUBDISSECTOR_CHANNEL_TABLE "uerudp.channel"
#define UERUDP_SUBDISSECTOR_CLASS_TABLE "uerudp.class"

/* What a dissector of either table gets as its data; in the scope of the packet. Its buffer is aligned to bit 0, and
   the last byte is padded with zeros. */
struct uerudp_subdissector_data {
    uint32_t stream;
    uint8_t direction; /* enum ue_direction */
    uint32_t channel;
    size_t bits;
    const char *channel_name; /* NULL: not known */
    const char *class_path;   /* by which it was found; NULL: by the name of its channel */
    uint64_t guid;            /* of the object that a block is about; 0: not known */
    bool has_properties;      /* a block begins with properties (bOutHasRepLayout) */
};

/* Payloads of one datagram; NULL: nobody wants any. */
struct uerudp_subdissector_queue;

void uerudp_subdissectors_register(int proto);

/* Whether somebody registered before the first packet of this file. */
bool uerudp_subdissectors_exist(void);
bool uerudp_subdissectors_exist_for_classes(void);

/* tree: the whole one. */
struct uerudp_subdissector_queue *uerudp_subdissector_queue_new(packet_info *pinfo, proto_tree *tree);

/* Remembers a payload, where somebody has registered for it. Dissectors of messages add their items to the whole tree,
   behind ours; those of blocks to the tree of the block, where nobody looks at ours (NULL) to the whole one, too. */
void uerudp_subdissector_queue_add_message(struct uerudp_subdissector_queue *handoffs, tvbuff_t *tvb, const struct uerudp_subdissector_data *message);
void uerudp_subdissector_queue_add_block(struct uerudp_subdissector_queue *handoffs, tvbuff_t *tvb, proto_tree *tree,
                           const struct uerudp_subdissector_data *block);

/* Calls the dissectors; what they throw is shown where it happened. */
void uerudp_subdissector_queue_run(const struct uerudp_subdissector_queue *handoffs);

#endif
