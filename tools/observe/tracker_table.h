/* SPDX-License-Identifier: MIT */
/* A tracker for each connection of a capture, by stream; a connection that moves to other addresses keeps its
   tracker. Side 0 is the client, side 1 the server. A tracker is freed when its connection is over: another begins
   on its addresses, or it is silent for TRACKER_TABLE_SILENT_NS. When all trackers exceed TRACKER_TABLE_BYTES_MAX,
   which takes a flood of forged datagrams or thousands of connections, those that were silent the longest are freed
   too. Later datagrams of such a connection get a new tracker. */
#ifndef UERUDP_TOOLS_OBSERVE_TRACKER_TABLE_H
#define UERUDP_TOOLS_OBSERVE_TRACKER_TABLE_H

#include <uerudp/packet_tracker.h>
#include "tools/input/capture_reader.h"
#include "tools/observe/message_assembler.h"

#define TRACKER_TABLE_BYTES_MAX (256u << 20)
/* Several times the timeout of any engine. */
#define TRACKER_TABLE_SILENT_NS INT64_C(600000000000)

struct tracker_table;

struct tracker_table *tracker_table_new(void);
void tracker_table_free(struct tracker_table *tracks);

/* Sets another limit than TRACKER_TABLE_BYTES_MAX; the tracker in use alone may exceed it. */
void tracker_table_set_limit(struct tracker_table *tracks, size_t bytes_max);

/* Returns the message assembler of the datagram's connection, to be fed with the tracker's events and counted with
   its tracker; valid until the next datagram. */
struct message_assembler *tracker_table_messages(struct tracker_table *tracks, const struct input_datagram *captured);

/* Passes a datagram to the tracker of its connection, unless it is foreign or cut. Returns the tracker, or NULL. */
const struct ue_tracker *tracker_table_on_datagram(struct tracker_table *tracks, const struct input_datagram *captured,
                                                   const struct ue_tracker_callbacks *sink);

#endif
