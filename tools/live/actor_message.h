/* SPDX-License-Identifier: MIT */
/* What programs say on actor channels: a channel opens with an actor of the simulator's world, and each message is one
   call of that actor, so that Wireshark and `decode --content` read actors' content. */
#ifndef UERUDP_TOOLS_LIVE_ACTOR_MESSAGE_H
#define UERUDP_TOOLS_LIVE_ACTOR_MESSAGE_H

#include <uerudp/endpoint.h>

/* By how much the content is longer than the message. */
#define ACTOR_MESSAGE_BYTES 16

/* Server: opens a channel, the lowest free one where `wanted` is negative, with the actor that stands there. */
bool actor_message_open(struct ue_conn *conn, uint64_t now_ns, int64_t wanted);

/* Writes the content that carries a message into zeroed bytes with room for both; returns its bits. */
size_t actor_message_wrap(const struct ue_conn *conn, struct ue_view message, uint8_t *bytes);

/* The message in a bunch's data; of content that is no such call, from other programs, the data as they are. */
struct ue_view actor_message_unwrap(const struct ue_conn *conn, struct ue_view data);

#endif
