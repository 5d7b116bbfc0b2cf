/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sink that turns the records of a trace into tree items, payload views and the info column. */
#ifndef UE_TREE_H
#define UE_TREE_H

#include "plugin/conversation.h"

#include <epan/packet.h>

/* A payload for somebody else's dissector. */
struct ue_payload {
    tvbuff_t *tvb;
    const char *channel_name;
};

/* Shows one datagram. tree: NULL when no item is wanted. payloads: NULL, or a list that takes every whole payload of a
   channel with a name. */
void ue_tree_show(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const struct ue_visit *visit,
                  const struct ue_bytes *bytes, wmem_list_t *payloads);

#endif
