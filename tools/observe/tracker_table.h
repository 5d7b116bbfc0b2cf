/* SPDX-License-Identifier: MIT */
/* A tracker for each connection of a reading, by stream: a connection that moves to other addresses keeps its own. Side
   0 of a tracker is the client, 1 the server. A tracker is given up when its connection is over, because another begins
   on its addresses or nothing came for UE_TRACKS_SILENT_NS. When all together hold more than UE_TRACKS_BYTES_MAX, which
   only a flood of forged datagrams or thousands of connections bring, those that were silent the longest are given up
   too. What comes later of such a connection is followed anew. */
#ifndef UERUDP_TOOLS_OBSERVE_TRACKER_TABLE_H
#define UERUDP_TOOLS_OBSERVE_TRACKER_TABLE_H

#include <uerudp/packet_tracker.h>
#include "tools/input/capture_reader.h"
#include "tools/observe/message_assembler.h"

#define UE_TRACKS_BYTES_MAX (256u << 20)
/* Several times what any engine waits for its peer. */
#define UE_TRACKS_SILENT_NS INT64_C(600000000000)

struct ue_tracks;

struct ue_tracks *ue_tracks_new(void);
void ue_tracks_free(struct ue_tracks *tracks);

/* Another bound than UE_TRACKS_BYTES_MAX; the tracker in use may exceed it alone. */
void ue_tracks_bound(struct ue_tracks *tracks, size_t bytes_max);

/* The messages of the seen connection, beside its tracker and bounded with it: to be fed with the tracker's events.
   They live until the next datagram is given to a tracker. */
struct ue_messages *ue_tracks_messages(struct ue_tracks *tracks, const struct ue_seen *seen);

/* Gives a datagram to the tracker of its connection; one that is foreign or cut is left out. Returns the tracker, or
   NULL. */
const struct ue_track *ue_tracks_feed(struct ue_tracks *tracks, const struct ue_seen *seen,
                                      const struct ue_track_sink *sink);

#endif
