/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows the reassembly of fragments: at each fragment a link to the frame that completes the message; in that frame the
   message as a data source, with links to its fragments; and a sentence for fragments that never became a message. */
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
    const struct uerudp_frame_state *state;
    const struct uerudp_analysis_results *results;  /* of this bunch */
    const struct uerudp_content_tree *content_tree; /* where the content is shown; buffer and tree are replaced */
    bool wants_content;                             /* items of the content */
    uint32_t item;
    bool is_awaited; /* a fragment whose message must be in the capture, unless other fragments are not */
};

void uerudp_reassembly_tree_add(const struct uerudp_reassembly_tree *bunch);

#endif
