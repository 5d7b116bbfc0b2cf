/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows the notes of a datagram: one subtree for it as a whole, items within the subtrees of its bunches, an expert
   item with a sentence for each flag, and short marks for the info column. */
#ifndef UERUDP_PLUGIN_TREE_ANALYSIS_TREE_H
#define UERUDP_PLUGIN_TREE_ANALYSIS_TREE_H

#include "plugin/compat.h"

#include <epan/packet_info.h>
#include <epan/proto.h>

#include <uerudp/profile.h>
#include "plugin/first_pass/analysis_results.h"
#include "plugin/tree/tree_items.h"

struct uerudp_analysis_tree {
    packet_info *pinfo;
    const struct uerudp_tree_buffer *ground; /* of the datagram */
    struct uerudp_analysis_results notes;
    struct uerudp_analysis_results first; /* of the first copy of the same packet, where this is another */
    uint32_t reliable_buffer;
    uint32_t missing, naks; /* packets */
    proto_tree *parent;     /* of the datagram; NULL: no item is wanted */
    proto_tree *tree;       /* the subtree, as soon as something is in it */
};

/* The ground must outlive it. */
void uerudp_analysis_tree_init(struct uerudp_analysis_tree *analysis, packet_info *pinfo, const struct uerudp_tree_buffer *ground,
                      const struct uerudp_frame_state *visit, const struct ue_context *context);

/* Shows what is known of a bunch within its subtree, which may be NULL. notes: those of the item. */
void uerudp_analysis_tree_add_bunch(struct uerudp_analysis_tree *analysis, proto_tree *bunch, const struct uerudp_analysis_results *notes,
                            uint32_t item, uint64_t channel);

/* Shows the rest within the tree of the datagram, which may be NULL; to be called behind the bunches. */
void uerudp_analysis_tree_add_datagram(struct uerudp_analysis_tree *analysis, proto_tree *datagram);

/* "[Lost 3] [Retransmission] " in front of the line; empty where there is nothing to say. */
const char *uerudp_analysis_tree_info_marks(const struct uerudp_analysis_tree *analysis);

#endif
