/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is inside a whole message: tree items, a few words for the info column, and blocks for other dissectors. */
#ifndef UERUDP_PLUGIN_TREE_CONTENT_TREE_H
#define UERUDP_PLUGIN_TREE_CONTENT_TREE_H

#include "plugin/first_pass/knowledge.h"
#include "plugin/tree/label_text.h"
#include "plugin/tree/subdissectors.h"
#include "plugin/tree/tree_items.h"

/* Where a message is shown. */
struct uerudp_content_tree {
    struct uerudp_tree_buffer ground; /* what the bits of its records count in: behind content.data.base */
    packet_info *pinfo;
    proto_tree *tree; /* of the bunch, or of the message that was put together; NULL: no items are wanted */
    const struct ue_context *context;
    const struct uerudp_knowledge *knowledge; /* of its stream */
    struct uerudp_subdissector_queue *handoffs;         /* NULL: nobody wants blocks */
    struct uerudp_subdissector_data handoff;            /* stream, direction, channel, channel_name */
};

/* Whether some item of some message may be wanted in this tree. */
bool uerudp_content_tree_is_wanted(proto_tree *tree);

/* Shows all of it. Whole bunches of the control channel are left out: the trace of the datagram has them. */
void uerudp_content_tree_add(const struct uerudp_content_tree *inside, const struct ue_content *content);

/* The name of the class of the actor on the channel, or of an actor of the map; opens: only where this frame opens the
   channel. NULL: not known. In the pool. */
const char *uerudp_content_tree_actor_name(const struct uerudp_content_tree *inside, bool opens);

#endif
