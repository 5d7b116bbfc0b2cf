/* SPDX-License-Identifier: MIT */
/* A tracker for each connection of a reading, by stream: a connection that moves to other addresses keeps its own. Side
   0 of a tracker is the client, 1 the server. A tracker is given up when its connection is over, because another begins
   on its addresses or nothing came for TRACKER_TABLE_SILENT_NS. When all together hold more than TRACKER_TABLE_BYTES_MAX, which
   only a flood of forged datagrams or thousands of connections bring, those that were silent the longest are given up
   too. What comes later of such a connection is followed anew. */
#ifndef UERUDP_TOOLS_OBSERVE_TRACKER_TABLE_H
#define UERUDP_TOOLS_OBSERVE_TRACKER_TABLE_H

#include <uerudp/packet_tracker.h>
#include "tools/input/capture_reader.h"
#include "tools/observe/message_assembler.h"

#define TRACKER_TABLE_BYTES_MAX (256u << 20)
/* Several times what any engine waits for its peer. */
#define TRACKER_TABLE_SILENT_NS INT64_C(600000000000)

struct tracker_table;

struct tracker_table *tracker_table_new(void);
void tracker_table_free(struct tracker_table *tracks);

/* Another bound than TRACKER_TABLE_BYTES_MAX; the tracker in use may exceed it alone. */
void tracker_table_set_limit(struct tracker_table *tracks, size_t bytes_max);

/* The messages of the seen connection, beside its tracker and bounded with it: to be fed with the tracker's events.
   They live until the next datagram is given to a tracker. */
struct message_assembler *tracker_table_messages(struct tracker_table *tracks, const struct input_datagram *seen);

/* Gives a datagram to the tracker of its connection; one that is foreign or cut is left out. Returns the tracker, or
   NULL. */
const struct ue_tracker *tracker_table_on_datagram(struct tracker_table *tracks, const struct input_datagram *seen,
                                      const struct ue_tracker_callbacks *sink);

#endif
