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
struct ue_reassembled {
    packet_info *pinfo;
    tvbuff_t *tvb;
    proto_tree *tree; /* of the bunch; NULL: no item is wanted */
    const struct ue_visit *visit;
    const struct ue_notes *notes;   /* its own */
    const struct ue_inside *inside; /* where what is inside is shown, but for ground and tree */
    bool wants_inside;              /* items of it */
    uint32_t item;
    bool is_partial;
};

void ue_reassembled_show(const struct ue_reassembled *bunch);

#endif
