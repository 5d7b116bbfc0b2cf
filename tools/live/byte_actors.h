/* SPDX-License-Identifier: MIT */
/* Bytes on actor channels, as a game would send them: the server replicates an actor for each channel, and each message
   is one call (RPC) of that actor, whose parameters are the bytes. */
#ifndef UERUDP_TOOLS_LIVE_BYTE_ACTORS_H
#define UERUDP_TOOLS_LIVE_BYTE_ACTORS_H

#include "tools/endpoint/replication/replication.h"

/* Limit of what a call adds to the bytes. */
#define BYTE_CALL_BYTES 16

/* The actors of one connection of a server. */
struct byte_actors {
    struct ue_package_map map;
    struct ue_replicator replicator;
    struct ue_replicated_actor *actors;
    uint32_t count;
};

/* Adds actors on the lowest free channels; their channels open in the next tick. The connection must report packets.
   NULL: no memory, or no channel for one of them. */
struct byte_actors *byte_actors_new(struct ue_conn *conn, uint32_t count);
void byte_actors_free(struct byte_actors *b);
void byte_actors_event(struct byte_actors *b, const struct ue_event *event);
void byte_actors_tick(struct byte_actors *b, uint64_t now_ns);

/* Writes the content block of a call into zeroed bytes with room for the message and BYTE_CALL_BYTES. Returns its
   bits. */
size_t byte_call_write(const struct ue_conn *conn, struct ue_view message, uint8_t *bytes);
/* False: the data of the bunch is no such call, and *message stays as it is. */
bool byte_call_read(const struct ue_conn *conn, struct ue_view data, struct ue_view *message);

#endif
