/* SPDX-License-Identifier: MIT */
/* The complete messages of one connection, from its tracker's events: reassembly, and the paths of network ids. */
#ifndef UERUDP_TOOLS_OBSERVE_MESSAGE_ASSEMBLER_H
#define UERUDP_TOOLS_OBSERVE_MESSAGE_ASSEMBLER_H

#include <uerudp/guid_map.h>
#include <uerudp/packet_tracker.h>
#include <uerudp/reassembly.h>

struct message_assembler;

/* Returns NULL if memory allocation fails. */
struct message_assembler *message_assembler_new(const struct ue_allocator *memory);
void message_assembler_free(struct message_assembler *messages);

/* Handles an event of the tracker. The sink gets complete messages after the map has learned their ids. */
void message_assembler_on_event(struct message_assembler *messages, const struct ue_context *context,
                                const struct ue_tracker_event *event, const struct ue_reassembly_callbacks *sink);

/* Call it after all events of a datagram. */
void message_assembler_end_datagram(struct message_assembler *messages, const struct ue_context *context,
                                    const struct ue_reassembly_callbacks *sink);

/* The names as known at this frame; valid until another frame is requested. */
struct ue_guid_names message_assembler_names(struct message_assembler *messages, uint64_t frame);

/* Memory in use. */
size_t message_assembler_memory_bytes(const struct message_assembler *messages);

/* GLib's heap as allocator of trackers, reassemblies and guid maps: the program aborts if memory allocation fails. */
extern const struct ue_allocator glib_memory;

#endif
