/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Payloads for other people's dissectors, in C or Lua: whole messages by the name of their channel (dissector table
   "uerudp.channel"), payloads of content blocks by a class path (table "uerudp.class"). */
#ifndef UERUDP_PLUGIN_TREE_SUBDISSECTORS_H
#define UERUDP_PLUGIN_TREE_SUBDISSECTORS_H

#include "plugin/compat.h"

#include <epan/packet_info.h>
#include <epan/proto.h>

#define UE_HANDOFF_CHANNEL_TABLE "uerudp.channel"
#define UE_HANDOFF_CLASS_TABLE "uerudp.class"

/* What a dissector of either table gets as its data; in the scope of the packet. Its buffer is aligned to bit 0, and
   the last byte is padded with zeros. */
struct ue_handoff {
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
struct ue_handoffs;

void ue_handoff_register(int proto);

/* Whether somebody registered before the first packet of this file. */
bool ue_handoff_is_wanted(void);
bool ue_handoff_wants_classes(void);

/* tree: the whole one. */
struct ue_handoffs *ue_handoffs_new(packet_info *pinfo, proto_tree *tree);

/* Remembers a payload, where somebody has registered for it. Dissectors of messages add their items to the whole tree,
   behind ours; those of blocks to the tree of the block, where nobody looks at ours (NULL) to the whole one, too. */
void ue_handoffs_add_message(struct ue_handoffs *handoffs, tvbuff_t *tvb, const struct ue_handoff *message);
void ue_handoffs_add_block(struct ue_handoffs *handoffs, tvbuff_t *tvb, proto_tree *tree,
                           const struct ue_handoff *block);

/* Calls the dissectors; what they throw is shown where it happened. */
void ue_handoffs_run(const struct ue_handoffs *handoffs);

#endif
