/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows the analysis results of a datagram: one subtree for the datagram, fields in the subtrees of its bunches, and
   an expert item with a sentence for each finding. */
#ifndef UERUDP_PLUGIN_TREE_ANALYSIS_TREE_H
#define UERUDP_PLUGIN_TREE_ANALYSIS_TREE_H

#include "plugin/compat.h"

#include <epan/packet_info.h>
#include <epan/proto.h>

#include <uerudp/profile.h>
#include "plugin/first_pass/analysis_results.h"
#include "plugin/tree/field_items.h"

struct uerudp_analysis_tree {
    packet_info *pinfo;
    const struct uerudp_tree_buffer *buffer; /* of the datagram */
    struct uerudp_analysis_results results;
    struct uerudp_analysis_results first; /* if this is a duplicate packet: results of the first copy */
    uint32_t reliable_limit;              /* no sender has more bunches in flight */
    proto_tree *parent;                   /* the datagram's tree; NULL: no item is wanted */
    proto_tree *tree;                     /* the subtree "Analysis"; NULL: still empty */
};

/* The buffer must outlive the analysis tree. */
void uerudp_analysis_tree_init(struct uerudp_analysis_tree *analysis, packet_info *pinfo,
                               const struct uerudp_tree_buffer *buffer, const struct uerudp_frame_state *state,
                               const struct ue_context *context);

/* Adds the results of a bunch (`results`) to its subtree, which may be NULL. */
void uerudp_analysis_tree_add_bunch(struct uerudp_analysis_tree *analysis, proto_tree *bunch_tree,
                                    const struct uerudp_analysis_results *results, uint32_t item, uint64_t channel);

/* Adds the other results to the datagram's tree, which may be NULL. Call it after all bunches. */
void uerudp_analysis_tree_add_datagram(struct uerudp_analysis_tree *analysis, proto_tree *datagram);

#endif
