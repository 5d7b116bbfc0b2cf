/* SPDX-License-Identifier: MIT */
#include "tools/observe/message_assembler.h"

#include <glib.h>

struct message_assembler {
    struct ue_allocator memory;
    struct ue_reassembly *assembly;
    struct ue_guid_map *map;
    uint64_t frame; /* the frame for which names are valid */
    char path[UE_GUID_MAP_PATH_MAX + 1];
};

struct message_assembler *message_assembler_new(const struct ue_allocator *memory) {
    struct message_assembler *messages = memory->resize(memory->user, NULL, sizeof *messages);
    if (messages == NULL) {
        return NULL;
    }
    *messages = (struct message_assembler){
        .memory = *memory, .assembly = ue_reassembly_new(memory), .map = ue_guid_map_new(memory)};
    if (messages->assembly == NULL || messages->map == NULL) {
        message_assembler_free(messages);
        return NULL;
    }
    return messages;
}

void message_assembler_free(struct message_assembler *messages) {
    ue_reassembly_free(messages->assembly);
    ue_guid_map_free(messages->map);
    messages->memory.resize(messages->memory.user, messages, 0);
}

/* Passes the events of the reassembly on. */
struct message_forwarder {
    struct message_assembler *messages;
    const struct ue_context *context;
    const struct ue_reassembly_callbacks *sink;
};

static void on_event(void *user, const struct ue_reassembly_event *event) {
    const struct message_forwarder *h = user;
    if (event->type == UE_REASSEMBLY_COMPLETE) {
        ue_guid_map_learn(h->messages->map, h->context, &event->content, event->frame);
    }
    h->sink->event(h->sink->user, event);
}

void message_assembler_on_event(struct message_assembler *messages, const struct ue_context *context,
                                const struct ue_tracker_event *event, const struct ue_reassembly_callbacks *sink) {
    struct message_forwarder hearing = {messages, context, sink};
    const struct ue_reassembly_callbacks own = {on_event, &hearing};
    ue_reassembly_feed(messages->assembly, context, event, &own);
}

void message_assembler_end_datagram(struct message_assembler *messages, const struct ue_context *context,
                                    const struct ue_reassembly_callbacks *sink) {
    struct message_forwarder hearing = {messages, context, sink};
    const struct ue_reassembly_callbacks own = {on_event, &hearing};
    ue_reassembly_end_datagram(messages->assembly, &own);
}

static const char *path_of(void *user, uint64_t guid) {
    struct message_assembler *messages = user;
    return ue_guid_map_path(messages->map, guid, messages->frame, messages->path) != 0 ? messages->path : NULL;
}

struct ue_guid_names message_assembler_names(struct message_assembler *messages, uint64_t frame) {
    messages->frame = frame;
    return (struct ue_guid_names){path_of, messages};
}

size_t message_assembler_memory_bytes(const struct message_assembler *messages) {
    return sizeof *messages + ue_reassembly_bytes(messages->assembly) + ue_guid_map_bytes(messages->map);
}

static void *resize(void *user, void *old, size_t size_bytes) {
    (void)user;
    return g_realloc(old, size_bytes);
}

const struct ue_allocator glib_memory = {resize, NULL};
