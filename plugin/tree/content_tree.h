/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is inside a whole message: tree items, a few words for the info column, and blocks for other dissectors. */
#ifndef UERUDP_PLUGIN_TREE_CONTENT_TREE_H
#define UERUDP_PLUGIN_TREE_CONTENT_TREE_H

#include "plugin/first_pass/knowledge.h"
#include "plugin/tree/label_text.h"
#include "plugin/tree/subdissectors.h"
#include "plugin/tree/tree_items.h"

/* Where a message is shown. */
struct ue_inside {
    struct ue_ground ground; /* what the bits of its records count in: behind content.data.base */
    packet_info *pinfo;
    proto_tree *tree; /* of the bunch, or of the message that was put together; NULL: no items are wanted */
    const struct ue_context *context;
    const struct ue_knowledge *knowledge; /* of its stream */
    struct ue_handoffs *handoffs;         /* NULL: nobody wants blocks */
    struct ue_handoff handoff;            /* stream, direction, channel, channel_name */
};

/* Whether some item of some message may be wanted in this tree. */
bool ue_inside_is_wanted(proto_tree *tree);

/* Shows all of it. Whole bunches of the control channel are left out: the trace of the datagram has them. */
void ue_inside_show(const struct ue_inside *inside, const struct ue_content *content);

/* The name of the class of the actor on the channel, or of an actor of the map; opens: only where this frame opens the
   channel. NULL: not known. In the pool. */
const char *ue_inside_actor(const struct ue_inside *inside, bool opens);

#endif
