/* SPDX-License-Identifier: MIT */
#include "tools/observe/message_assembler.h"

struct ue_messages {
    struct ue_track_memory memory;
    struct ue_assembly *assembly;
    struct ue_package_map *map;
    uint64_t frame; /* names are as known then */
    char path[UE_PACKAGE_MAP_PATH_MAX + 1];
};

struct ue_messages *ue_messages_new(const struct ue_track_memory *memory) {
    struct ue_messages *messages = memory->resize(memory->user, NULL, sizeof *messages);
    if (messages == NULL) {
        return NULL;
    }
    *messages =
        (struct ue_messages){.memory = *memory, .assembly = ue_assembly_new(memory), .map = ue_package_map_new(memory)};
    if (messages->assembly == NULL || messages->map == NULL) {
        ue_messages_free(messages);
        return NULL;
    }
    return messages;
}

void ue_messages_free(struct ue_messages *messages) {
    ue_assembly_free(messages->assembly);
    ue_package_map_free(messages->map);
    messages->memory.resize(messages->memory.user, messages, 0);
}

/* What hears of the assembly's events. */
struct hearing {
    struct ue_messages *messages;
    const struct ue_context *context;
    const struct ue_assembly_sink *sink;
};

static void on_event(void *user, const struct ue_assembly_event *event) {
    const struct hearing *h = user;
    if (event->type == UE_ASSEMBLY_WHOLE) {
        ue_package_map_learn(h->messages->map, h->context, &event->content, event->frame);
    }
    h->sink->event(h->sink->user, event);
}

void ue_messages_feed(struct ue_messages *messages, const struct ue_context *context,
                      const struct ue_track_event *event, const struct ue_assembly_sink *sink) {
    struct hearing hearing = {messages, context, sink};
    const struct ue_assembly_sink own = {on_event, &hearing};
    ue_assembly_feed(messages->assembly, context, event, &own);
}

void ue_messages_end(struct ue_messages *messages, const struct ue_context *context,
                     const struct ue_assembly_sink *sink) {
    struct hearing hearing = {messages, context, sink};
    const struct ue_assembly_sink own = {on_event, &hearing};
    ue_assembly_end(messages->assembly, &own);
}

static const char *path_of(void *user, uint64_t guid) {
    struct ue_messages *messages = user;
    return ue_package_map_path(messages->map, guid, messages->frame, messages->path) != 0 ? messages->path : NULL;
}

struct ue_guid_names ue_messages_names(struct ue_messages *messages, uint64_t frame) {
    messages->frame = frame;
    return (struct ue_guid_names){path_of, messages};
}

size_t ue_messages_bytes(const struct ue_messages *messages) {
    return sizeof *messages + ue_assembly_bytes(messages->assembly) + ue_package_map_bytes(messages->map);
}
