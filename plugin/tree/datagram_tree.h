/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sink that turns the records of a trace into tree items, payload views and the info column. */
#ifndef UERUDP_PLUGIN_TREE_DATAGRAM_TREE_H
#define UERUDP_PLUGIN_TREE_DATAGRAM_TREE_H

#include "plugin/first_pass/conversation.h"
#include "plugin/tree/subdissectors.h"

#include <epan/packet.h>

/* Shows one datagram. tree: NULL when no item is wanted. handoffs: NULL, or what takes payloads for others. */
void uerudp_datagram_tree_add(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const struct uerudp_frame_state *visit,
                  const struct uerudp_captured_bytes *bytes, struct uerudp_subdissector_queue *handoffs);

#endif
