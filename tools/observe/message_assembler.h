/* SPDX-License-Identifier: MIT */
/* The whole messages of one connection, on its tracker's events: reassembly, and the paths of network ids. */
#ifndef UERUDP_TOOLS_OBSERVE_MESSAGE_ASSEMBLER_H
#define UERUDP_TOOLS_OBSERVE_MESSAGE_ASSEMBLER_H

#include <uerudp/guid_map.h>
#include <uerudp/reassembly.h>

struct message_assembler;

/* NULL: no memory. */
struct message_assembler *message_assembler_new(const struct ue_allocator *memory);
void message_assembler_free(struct message_assembler *messages);

/* Takes an event of the tracker. The sink hears of whole messages when the map has learned what they tell. */
void message_assembler_on_event(struct message_assembler *messages, const struct ue_context *context,
                      const struct ue_tracker_event *event, const struct ue_reassembly_callbacks *sink);

/* To be called when the tracker has told all events of a datagram. */
void message_assembler_end_datagram(struct message_assembler *messages, const struct ue_context *context,
                     const struct ue_reassembly_callbacks *sink);

/* Names as known at this frame; they hold until another frame is asked for. */
struct ue_guid_names message_assembler_names(struct message_assembler *messages, uint64_t frame);

/* What it holds now. */
size_t message_assembler_memory_bytes(const struct message_assembler *messages);

#endif
