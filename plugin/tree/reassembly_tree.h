/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows what became of fragments: links to the frame that completes their message, there the message itself with a tab
   of its own and links back, and a sentence where no message came of them. */
#ifndef UERUDP_PLUGIN_TREE_REASSEMBLY_TREE_H
#define UERUDP_PLUGIN_TREE_REASSEMBLY_TREE_H

#include "plugin/compat.h"

#include <epan/packet_info.h>
#include <epan/proto.h>

#include "plugin/first_pass/analysis_results.h"
#include "plugin/tree/content_tree.h"

/* A bunch of a datagram. */
struct uerudp_reassembly_tree {
    packet_info *pinfo;
    tvbuff_t *tvb;
    proto_tree *tree; /* of the bunch; NULL: no item is wanted */
    const struct uerudp_frame_state *visit;
    const struct uerudp_analysis_results *notes;   /* its own */
    const struct uerudp_content_tree *inside; /* where what is inside is shown, but for ground and tree */
    bool wants_inside;              /* items of it */
    uint32_t item;
    bool is_partial;
};

void uerudp_reassembly_tree_add(const struct uerudp_reassembly_tree *bunch);

#endif
