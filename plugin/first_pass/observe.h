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
#define UE_OBSERVE_BYTES_MAX (256u << 20)

struct ue_connection;
struct ue_visit;

void ue_observe_register(void);

/* Takes a datagram, once. shape: of a handshake, else NULL. */
void ue_observe(struct ue_visit *visit, const packet_info *pinfo, const struct ue_bytes *bytes,
                const struct ue_shape *shape);

/* The connection turned out to continue the earlier one on other addresses. */
void ue_observe_move(struct ue_connection *connection, struct ue_connection *earlier);

/* The items of a datagram, where it is the one that was just taken; NULL: they are to be read again, as on later
   passes. */
const struct ue_track_reading *ue_observe_reading(const struct ue_visit *visit, const struct ue_bytes *bytes);

/* What is known of the stream of a connection; all zeros where nothing was learned. */
const struct ue_knowledge *ue_observe_knowledge(const struct ue_connection *connection);

/* The first pass is over: takes what was kept. */
void ue_observe_rest(void);

#endif
