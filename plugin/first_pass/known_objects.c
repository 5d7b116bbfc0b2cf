/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/known_objects.h"

#include <epan/packet.h>

#include "plugin/tree/label_text.h"

/* The spawn of the actor of a channel. Until a fragmented message is complete, its actor is not known. */
struct channel_spawn {
    uint64_t frame;
    struct ue_actor_guids guids; /* guid 0: not known */
    const char *name;            /* of its class, or of an actor of the map; NULL: not known at the spawn */
};

struct pending_spawn {
    uint32_t channel;
    struct channel_spawn spawn;
};

/* Spawns are appended to the list; a query sorts them into the channels first. */
struct uerudp_known_objects_spawns {
    wmem_map_t *by_channel;
    wmem_array_t *pending; /* of struct pending_spawn; NULL: none */
};

static size_t bytes_in_use;
static size_t spawn_count;
static wmem_map_t *interned; /* of spawns, each once; in file scope; NULL: none */

static void reset(void) {
    bytes_in_use = 0;
    spawn_count = 0;
    interned = NULL;
}

void uerudp_known_objects_register(void) {
    register_init_routine(reset);
}

/* ---- first pass ---- */

static void *resize(void *user _U_, void *old, size_t size_bytes) {
    return wmem_realloc(wmem_file_scope(), old, size_bytes);
}

static const struct ue_allocator file_scope = {resize, NULL};

void uerudp_known_objects_init(struct uerudp_known_objects *objects, struct ue_observer *observer,
                               const struct ue_observed_connection *connection) {
    uint64_t *first_opaque = wmem_new(wmem_file_scope(), uint64_t);
    *first_opaque = UINT64_MAX;
    *objects =
        (struct uerudp_known_objects){.observer = observer, .connection = connection, .first_opaque = first_opaque};
}

static struct uerudp_known_objects_spawns *require_spawns(struct uerudp_known_objects *objects) {
    if (objects->spawns == NULL) {
        objects->spawns = wmem_new0(wmem_file_scope(), struct uerudp_known_objects_spawns);
    }
    return objects->spawns;
}

static void add_spawn(struct uerudp_known_objects *objects, uint32_t channel, const struct channel_spawn *spawn) {
    if (spawn_count == UERUDP_KNOWN_OBJECTS_SPAWNS_MAX) {
        return;
    }
    spawn_count++;
    struct uerudp_known_objects_spawns *spawns = require_spawns(objects);
    const struct pending_spawn pending = {channel, *spawn};
    if (spawns->pending == NULL) {
        spawns->pending = wmem_array_new(wmem_file_scope(), sizeof pending);
    }
    wmem_array_append_one(spawns->pending, pending);
}

/* One copy of each name, however many actors have it. */
static const char *intern(const char *name) {
    if (interned == NULL) {
        interned = wmem_map_new(wmem_file_scope(), wmem_str_hash, g_str_equal);
    }
    const char *known = wmem_map_lookup(interned, name);
    if (known == NULL && bytes_in_use <= UERUDP_KNOWN_OBJECTS_BYTES_MAX) {
        bytes_in_use += strlen(name) + 1;
        known = uerudp_label_text_mask_controls(wmem_strdup(wmem_file_scope(), name));
        wmem_map_insert(interned, wmem_strdup(wmem_file_scope(), name), (void *)known);
    }
    return known;
}

/* The path that names an actor; NULL: not known. */
static const char *path_of(const struct uerudp_known_objects *objects, const struct ue_actor_guids *guids,
                           uint64_t frame) {
    const struct ue_guid_names paths = ue_observer_names(objects->observer, objects->connection, frame);
    return paths.path(paths.user, guids->archetype != 0 ? guids->archetype : guids->guid);
}

static void add_channel(struct uerudp_known_objects *objects, const struct ue_content *content, uint32_t channel) {
    if (content->data.bits != 0 && !content->is_custom_exports && bytes_in_use <= UERUDP_KNOWN_OBJECTS_BYTES_MAX) {
        bytes_in_use += uerudp_channel_set_add(&objects->channels, &file_scope, channel);
    }
}

bool uerudp_known_objects_add_message(struct uerudp_known_objects *objects, const struct ue_context *context,
                                      const struct ue_observed_event *event) {
    struct channel_spawn spawn = {.frame = event->frame};
    add_channel(objects, &event->message.content, event->message.channel);
    if (!ue_actor_class_find(context, &event->message.content, &spawn.guids)) {
        return false;
    }
    const char *path = path_of(objects, &spawn.guids, event->frame);
    spawn.name = path != NULL ? intern(ue_actor_class_name(path)) : NULL;
    add_spawn(objects, event->message.channel, &spawn);
    return true;
}

void uerudp_known_objects_add_open(struct uerudp_known_objects *objects, uint32_t channel, uint64_t frame) {
    const struct channel_spawn unknown = {.frame = frame};
    add_spawn(objects, channel, &unknown);
}

/* ---- queries ---- */

static void sort_spawn(struct uerudp_known_objects_spawns *spawns, const struct pending_spawn *pending) {
    void *key = GUINT_TO_POINTER(pending->channel);
    wmem_array_t *of_channel = wmem_map_lookup(spawns->by_channel, key);
    if (of_channel == NULL) {
        of_channel = wmem_array_sized_new(wmem_file_scope(), sizeof pending->spawn, 1);
        wmem_map_insert(spawns->by_channel, key, of_channel);
    }
    wmem_array_append_one(of_channel, pending->spawn);
}

static void sort_pending(struct uerudp_known_objects_spawns *spawns) {
    if (spawns->pending == NULL) {
        return;
    }
    for (unsigned i = 0; i < wmem_array_get_count(spawns->pending); i++) {
        sort_spawn(spawns, wmem_array_index(spawns->pending, i));
    }
    wmem_destroy_array(spawns->pending);
    spawns->pending = NULL;
}

/* The spawns of a channel; NULL: none. */
static wmem_array_t *find_spawns(struct uerudp_known_objects_spawns *spawns, uint32_t channel) {
    if (spawns == NULL) {
        return NULL;
    }
    if (spawns->by_channel == NULL) {
        spawns->by_channel = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
    }
    sort_pending(spawns);
    return wmem_map_lookup(spawns->by_channel, GUINT_TO_POINTER(channel));
}

bool uerudp_known_objects_is_first_opaque(const struct uerudp_known_objects *objects, uint32_t frame, uint32_t item) {
    uint64_t position = (uint64_t)frame << 32 | item;
    if (objects->first_opaque != NULL && *objects->first_opaque == UINT64_MAX) {
        *objects->first_opaque = position;
    }
    return objects->first_opaque == NULL || *objects->first_opaque == position;
}

const char *uerudp_known_objects_find_path(const struct uerudp_known_objects *objects, wmem_allocator_t *pool,
                                           uint64_t guid, uint64_t frame) {
    if (objects->observer == NULL) {
        return NULL;
    }
    const struct ue_guid_names names = ue_observer_names(objects->observer, objects->connection, frame);
    const char *path = names.path(names.user, guid);
    return path != NULL ? uerudp_label_text_mask_controls(wmem_strdup(pool, path)) : NULL;
}

/* The last spawn up to a frame; the array is sorted by frame. */
static const struct channel_spawn *last_spawn(wmem_array_t *spawns, uint64_t frame) {
    unsigned low = 0;
    unsigned high = wmem_array_get_count(spawns);
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        const struct channel_spawn *spawn = wmem_array_index(spawns, middle);
        *(spawn->frame <= frame ? &low : &high) = spawn->frame <= frame ? middle + 1 : middle;
    }
    return low != 0 ? wmem_array_index(spawns, low - 1) : NULL;
}

/* The spawn in force on a channel at a frame, of an actor that is known; NULL: none. */
static const struct channel_spawn *find_spawn(const struct uerudp_known_objects *objects, uint32_t channel,
                                              uint64_t frame) {
    wmem_array_t *spawns = find_spawns(objects->spawns, channel);
    const struct channel_spawn *spawn = spawns != NULL ? last_spawn(spawns, frame) : NULL;
    return spawn != NULL && spawn->guids.guid != 0 ? spawn : NULL;
}

bool uerudp_known_objects_find_actor(const struct uerudp_known_objects *objects, wmem_allocator_t *pool,
                                     uint32_t channel, uint64_t frame, struct uerudp_known_objects_actor *actor) {
    const struct channel_spawn *spawn = find_spawn(objects, channel, frame);
    *actor = (struct uerudp_known_objects_actor){0};
    if (spawn == NULL) {
        return false;
    }
    *actor = (struct uerudp_known_objects_actor){spawn->guids, spawn->name};
    const char *path = spawn->name == NULL ? path_of(objects, &spawn->guids, frame) : NULL;
    if (path != NULL) {
        actor->name = uerudp_label_text_mask_controls(wmem_strdup(pool, ue_actor_class_name(path)));
    }
    return true;
}

const char *uerudp_known_objects_find_class_path(const struct uerudp_known_objects *objects, wmem_allocator_t *pool,
                                                 const struct ue_actor_guids *guids, uint64_t frame) {
    char class_path[UE_GUID_MAP_PATH_MAX + 1];
    bool has_class = guids->archetype != 0;
    const char *path = uerudp_known_objects_find_path(objects, pool, has_class ? guids->archetype : guids->guid, frame);
    if (path == NULL || !has_class) {
        return path;
    }
    ue_actor_class_path(path, class_path, sizeof class_path);
    return wmem_strdup(pool, class_path);
}
