/* SPDX-License-Identifier: MIT */
/* Messages of the live programs on actor channels: a channel opens with an actor of the simulator, and each message is
   one call (RPC) of that actor, so that Wireshark and `decode --content` show actor content. */
#ifndef UERUDP_TOOLS_LIVE_ACTOR_MESSAGE_H
#define UERUDP_TOOLS_LIVE_ACTOR_MESSAGE_H

#include <uerudp/endpoint.h>

/* Most bytes that the content adds to the message. */
#define ACTOR_MESSAGE_BYTES 16

/* Server: opens a channel with its actor. wanted: the channel; negative: the lowest free one. */
bool actor_message_open(struct ue_conn *conn, uint64_t now_ns, int64_t wanted);

/* Writes the content block that carries a message into zeroed bytes with room for both; returns its bits. */
size_t actor_message_wrap(const struct ue_conn *conn, struct ue_view message, uint8_t *bytes);

/* The message in a bunch's data. Where the data is no such call, the data itself. */
struct ue_view actor_message_unwrap(const struct ue_conn *conn, struct ue_view data);

#endif
