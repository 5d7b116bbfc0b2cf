/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows a datagram: turns its trace into tree items, data sources and the info column. */
#ifndef UERUDP_PLUGIN_TREE_DATAGRAM_TREE_H
#define UERUDP_PLUGIN_TREE_DATAGRAM_TREE_H

#include "plugin/first_pass/observer.h"
#include "plugin/tree/subdissectors.h"

#include <epan/packet.h>

/* tree: NULL: no item is wanted. subdissectors: NULL: none is registered. */
void uerudp_datagram_tree_add(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree,
                              const struct uerudp_frame_state *state, const struct uerudp_captured_bytes *bytes,
                              struct uerudp_subdissector_queue *subdissectors);

/* Shows a datagram that no generation fits because of a magic header that the settings lack. */
void uerudp_datagram_tree_add_undecoded(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, unsigned magic_bits,
                                        uint32_t magic);

#endif
