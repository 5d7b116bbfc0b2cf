/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows connections on the first pass, in capture order, and writes down what it finds as notes. What is followed
   is a stream: connections that continue one another share their observer. Datagrams of a connection whose generation
   is not decided are kept until it is; on a second pass nothing is missing. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_OBSERVE_H
#define UERUDP_PLUGIN_FIRST_PASS_OBSERVE_H

#include "plugin/compat.h"

#include <epan/packet_info.h>

#include <uerudp/packet_tracker.h>
#include <uerudp/profile_match.h>
#include "plugin/first_pass/knowledge.h"
#include "plugin/tree/tree_items.h"

/* What the trackers and reassemblies of all streams hold at most together: bytes. Those that were silent the longest
   are given up; what comes later of such a stream is followed anew. */
#define UERUDP_OBSERVE_BYTES_MAX (256u << 20)

struct uerudp_connection;
struct uerudp_frame_state;

void uerudp_observe_register(void);

/* Takes a datagram, once. shape: of a handshake, else NULL. */
void uerudp_observe_datagram(struct uerudp_frame_state *visit, const packet_info *pinfo, const struct uerudp_captured_bytes *bytes,
                const struct ue_handshake_match *shape);

/* The connection turned out to continue the earlier one on other addresses. */
void uerudp_observe_merge(struct uerudp_connection *connection, struct uerudp_connection *earlier);

/* The items of a datagram, where it is the one that was just taken; NULL: they are to be read again, as on later
   passes. */
const struct ue_tracker_items *uerudp_observe_latest_items(const struct uerudp_frame_state *visit, const struct uerudp_captured_bytes *bytes);

/* What is known of the stream of a connection; all zeros where nothing was learned. */
const struct uerudp_knowledge *uerudp_observe_knowledge(const struct uerudp_connection *connection);

/* The first pass is over: takes what was kept. */
void uerudp_observe_finish(void);

#endif
