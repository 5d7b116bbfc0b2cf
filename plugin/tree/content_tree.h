/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows the content of whole messages: tree items, and content blocks for subdissectors. */
#ifndef UERUDP_PLUGIN_TREE_CONTENT_TREE_H
#define UERUDP_PLUGIN_TREE_CONTENT_TREE_H

#include "plugin/first_pass/known_objects.h"
#include "plugin/tree/label_text.h"
#include "plugin/tree/subdissectors.h"
#include "plugin/tree/field_items.h"

/* Where and how a message is shown. */
struct uerudp_content_tree {
    struct uerudp_tree_buffer buffer; /* counts bits from content.data.base */
    bool is_bunch;                    /* the content is the data of a bunch, at its place in the datagram */
    packet_info *pinfo;
    uint32_t item;    /* of the bunch, among the items of the packet */
    proto_tree *tree; /* of the bunch or of the reassembled message; NULL: no items are wanted */
    const struct ue_context *context;
    const struct uerudp_known_objects *objects;        /* of its stream */
    struct uerudp_subdissector_queue *subdissectors;   /* NULL: no subdissector is registered for blocks */
    struct uerudp_subdissector_data subdissector_data; /* stream, direction, channel, channel_name */
};

/* Whether a tree wants any field or expert item of message content. */
bool uerudp_content_tree_is_wanted(proto_tree *tree);

/* Shows a message. Skips whole bunches of the control channel, which the trace of the datagram already shows. */
void uerudp_content_tree_add(const struct uerudp_content_tree *content_tree, const struct ue_content *content);

#endif
