/* SPDX-License-Identifier: MIT */
/* The whole messages of one connection, on its tracker's events: reassembly, and the paths of network ids. */
#ifndef UERUDP_TOOLS_OBSERVE_MESSAGE_ASSEMBLER_H
#define UERUDP_TOOLS_OBSERVE_MESSAGE_ASSEMBLER_H

#include <uerudp/guid_map.h>
#include <uerudp/reassembly.h>

struct ue_messages;

/* NULL: no memory. */
struct ue_messages *ue_messages_new(const struct ue_track_memory *memory);
void ue_messages_free(struct ue_messages *messages);

/* Takes an event of the tracker. The sink hears of whole messages when the map has learned what they tell. */
void ue_messages_feed(struct ue_messages *messages, const struct ue_context *context,
                      const struct ue_track_event *event, const struct ue_assembly_sink *sink);

/* To be called when the tracker has told all events of a datagram. */
void ue_messages_end(struct ue_messages *messages, const struct ue_context *context,
                     const struct ue_assembly_sink *sink);

/* Names as known at this frame; they hold until another frame is asked for. */
struct ue_guid_names ue_messages_names(struct ue_messages *messages, uint64_t frame);

/* What it holds now. */
size_t ue_messages_bytes(const struct ue_messages *messages);

#endif
