/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tracks each stream on the first pass, in capture order, and stores analysis results. Connections that continue one
   another are one stream. Datagrams are queued until the generation of their connection is known; a second pass shows
   results for all of them. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_STREAM_TRACKERS_H
#define UERUDP_PLUGIN_FIRST_PASS_STREAM_TRACKERS_H

#include "plugin/compat.h"

#include <epan/packet_info.h>

#include <uerudp/packet_tracker.h>
#include <uerudp/profile_match.h>
#include "plugin/first_pass/known_objects.h"
#include "plugin/tree/field_items.h"

/* Limit in bytes of the trackers and reassemblies of all streams. Beyond it, those of the least recently used stream
   are freed; its later datagrams start a new tracker. */
#define UERUDP_STREAM_TRACKING_BYTES_MAX (256u << 20)

struct uerudp_connection;
struct uerudp_frame_state;

void uerudp_stream_trackers_register(void);

/* Observes a datagram; call it once for each. shape: of a handshake message, else NULL. */
void uerudp_stream_trackers_datagram(struct uerudp_frame_state *state, const packet_info *pinfo,
                                     const struct uerudp_captured_bytes *bytes, const struct ue_handshake_match *match);

/* Joins a connection to the earlier one that it continues on other addresses. */
void uerudp_stream_trackers_merge(struct uerudp_connection *connection, struct uerudp_connection *earlier);

/* The items of a datagram, if it is the one observed last; NULL: decode them again. */
const struct ue_tracker_items *uerudp_stream_trackers_latest_items(const struct uerudp_frame_state *state,
                                                                   const struct uerudp_captured_bytes *bytes);

/* What is known about the stream of a connection; all zeros: nothing. */
const struct uerudp_known_objects *uerudp_stream_trackers_known_objects(const struct uerudp_connection *connection);

/* Ends the first pass: observes the datagrams that are still queued. */
void uerudp_stream_trackers_finish(void);

#endif
