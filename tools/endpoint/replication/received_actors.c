/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/replication/received_actors.h"

#include <string.h>

#include <uerudp/actor_class.h>
#include <uerudp/block.h>
#include <uerudp/exports.h>
#include "tools/endpoint/replication/replication.h"
#include "tools/endpoint/replication/replication_content.h"

bool ue_received_actors_init(struct ue_received_actors *m, struct ue_conn *conn, const struct ue_allocator *allocator,
                             ue_class_finder *find_class, const struct ue_call_handler *calls) {
    *m = (struct ue_received_actors){
        .conn = conn, .incoming = *ue_conn_context(conn), .find_class = find_class, .calls = *calls};
    m->incoming.direction = ue_direction_reverse(m->incoming.direction);
    ue_share_init(&m->share, allocator, SIZE_MAX);
    m->names = ue_guid_map_new(&m->share.allocator);
    return m->names != NULL;
}

enum ue_status ue_received_actors_learn(struct ue_received_actors *m, const struct ue_package_map *map) {
    struct ue_content_writer w;
    ue_content_writer_init(&w, &m->share, &m->incoming);
    ue_content_write_export_head(&w, map->count);
    for (uint32_t i = 0; i < map->count; i++) {
        ue_content_write_export(&w, map, i);
    }
    if (w.status == UE_OK) {
        const struct ue_content content = {
            .kind = UE_CONTENT_ACTOR, .has_exports = true, .data = ue_content_writer_view(&w)};
        ue_guid_map_learn(m->names, &m->incoming, &content, 0);
    }
    ue_content_writer_free(&w);
    return w.status;
}

/* ---- actors ---- */

static void free_object(struct ue_received_actors *m, struct ue_received_object *o) {
    for (uint32_t i = 0; i < o->value_count; i++) {
        ue_share_free_block(&m->share, o->values[i].bytes);
    }
    ue_share_free_block(&m->share, o);
}

static void free_actor(struct ue_received_actors *m, struct ue_received_actor *actor) {
    while (actor->objects != NULL) {
        struct ue_received_object *next = actor->objects->next;
        free_object(m, actor->objects);
        actor->objects = next;
    }
    ue_share_free_block(&m->share, actor->spawn);
    ue_share_free_block(&m->share, actor);
}

void ue_received_actors_free(struct ue_received_actors *m) {
    while (m->actors != NULL) {
        struct ue_received_actor *next = m->actors->next;
        free_actor(m, m->actors);
        m->actors = next;
    }
    ue_guid_map_free(m->names);
    m->names = NULL;
}

static struct ue_received_actor *find_actor(const struct ue_received_actors *m, uint64_t guid) {
    struct ue_received_actor *actor = m->actors;
    while (actor != NULL && actor->objects->guid != guid) {
        actor = actor->next;
    }
    return actor;
}

static struct ue_received_actor *actor_of_channel(const struct ue_received_actors *m, uint32_t channel) {
    struct ue_received_actor *actor = m->actors;
    while (actor != NULL && actor->channel != channel) {
        actor = actor->next;
    }
    return actor;
}

static void remove_actor(struct ue_received_actors *m, struct ue_received_actor *actor) {
    struct ue_received_actor **at = &m->actors;
    while (*at != actor) {
        at = &(*at)->next;
    }
    *at = actor->next;
    free_actor(m, actor);
    m->destroyed++;
}

const struct ue_received_actor *ue_received_actor_find(const struct ue_received_actors *m, uint64_t guid) {
    return find_actor(m, guid);
}

static struct ue_received_object *find_object(const struct ue_received_actor *actor, uint64_t guid) {
    struct ue_received_object *o = actor->objects;
    while (o != NULL && o->guid != guid) {
        o = o->next;
    }
    return o;
}

const struct ue_received_object *ue_received_object_find(const struct ue_received_actor *actor, uint64_t guid) {
    return find_object(actor, guid);
}

/* endpoint.md 37.10. */
struct ue_view ue_received_object_get(const struct ue_received_object *object, uint32_t handle) {
    if (handle < 1 || handle > object->value_count) {
        return (struct ue_view){0};
    }
    const struct ue_received_value *v = &object->values[handle - 1];
    return (struct ue_view){v->bytes, 0, v->bits};
}

/* The class that a name stands for. The names of archetypes begin with "Default__" (endpoint.md 37.10). */
static const struct ue_class *class_of(const struct ue_received_actors *m, uint64_t guid) {
    char path[UE_GUID_MAP_PATH_MAX + 1];
    char class_path[UE_GUID_MAP_PATH_MAX + 1];
    if (ue_guid_map_path(m->names, guid, UINT64_MAX, path) == 0) {
        return NULL;
    }
    ue_actor_class_path(path, class_path, sizeof class_path);
    return m->find_class(class_path);
}

static struct ue_received_object *new_object(struct ue_received_actors *m, uint64_t guid,
                                             const struct ue_class *layout) {
    uint32_t count = layout != NULL ? ue_class_handle_count(layout) : 0;
    size_t size_bytes = sizeof(struct ue_received_object) + count * sizeof(struct ue_received_value);
    struct ue_received_object *o = ue_share_alloc(&m->share, size_bytes);
    if (o != NULL) {
        memset(o, 0, size_bytes);
        o->guid = guid;
        o->layout = layout;
        o->value_count = count;
    }
    return o;
}

static struct ue_received_actor *new_actor(struct ue_received_actors *m, uint64_t guid, const struct ue_class *layout,
                                           const struct ue_actor_spawn *spawn) {
    struct ue_received_actor *actor = ue_share_alloc(&m->share, sizeof *actor);
    if (actor == NULL) {
        return NULL;
    }
    *actor = (struct ue_received_actor){.objects = new_object(m, guid, layout)};
    actor->spawn = spawn != NULL ? ue_share_alloc(&m->share, sizeof *spawn) : NULL;
    if (actor->objects == NULL || (spawn != NULL && actor->spawn == NULL)) {
        free_actor(m, actor);
        return NULL;
    }
    if (spawn != NULL) {
        *actor->spawn = *spawn;
        actor->spawn->class_data = (struct ue_view){0}; /* it points into the message */
    }
    actor->next = m->actors;
    m->actors = actor;
    return actor;
}

/* ---- messages ---- */

/* A message that is being read. */
struct received_message {
    struct ue_received_actors *m;
    const struct ue_event *event;
    struct ue_view data;
    size_t bit;
    struct ue_received_actor *actor;
    struct ue_fault fault;
};

/* Reads the actor spawn, with the data that a player controller adds. */
static enum ue_status read_spawn(struct received_message *p) {
    struct ue_received_actors *m = p->m;
    struct ue_actor_spawn spawn = {0};
    enum ue_status status = ue_actor_spawn_decode(&m->incoming, p->data, &p->bit, &spawn, &p->fault);
    if (status != UE_OK) {
        return status;
    }
    uint64_t guid = spawn.object.links[0].guid.number;
    uint64_t named = spawn.is_spawned ? spawn.archetype.links[0].guid.number : guid;
    const struct ue_class *layout = class_of(m, named);
    p->bit += spawn.is_spawned && layout != NULL ? ue_class_spawn_bits(&m->incoming, layout) : 0;
    if (p->bit > p->data.bits) {
        return UE_E_TRUNCATED;
    }
    p->actor = find_actor(m, guid);
    bool is_notice = p->event->close && p->bit == p->data.bits;
    if (p->actor == NULL && !is_notice) {
        p->actor = new_actor(m, guid, layout, spawn.is_spawned ? &spawn : NULL);
        return p->actor != NULL ? UE_OK : UE_E_FULL;
    }
    return UE_OK;
}

static enum ue_status set_value(struct ue_received_actors *m, struct ue_received_object *o, uint32_t handle,
                                struct ue_view value) {
    struct ue_received_value *v = &o->values[handle - 1];
    uint8_t *bytes = ue_share_resize(&m->share, v->bytes, ue_bits_bytes(value.bits) + 1);
    if (bytes == NULL) {
        return UE_E_FULL;
    }
    ue_view_copy(value, bytes);
    *v = (struct ue_received_value){bytes, (uint32_t)value.bits};
    m->properties++;
    return UE_OK;
}

/* Values in a replay have lengths. */
static enum ue_status read_replay_properties(struct received_message *p, struct ue_received_object *o,
                                             struct ue_view payload, size_t *bit) {
    struct ue_property property = {.number = 1};
    enum ue_status status = UE_OK;
    while (status == UE_OK && property.number != 0) {
        status = ue_property_decode(&p->m->incoming, payload, bit, &property, &p->fault);
        if (status == UE_OK && property.number > 1) {
            bool is_known = property.number - 1 <= o->value_count;
            status = is_known ? set_value(p->m, o, property.number - 1, property.value) : UE_E_RANGE;
        }
    }
    return status;
}

static enum ue_status read_properties(struct received_message *p, struct ue_received_object *o, struct ue_view payload,
                                      size_t *bit) {
    struct ue_live_properties head;
    struct ue_live_property property = {.layout = o->layout};
    enum ue_status status = ue_live_properties_decode(&p->m->incoming, payload, bit, &head, &p->fault);
    if (status == UE_OK && p->m->incoming.settings.internal_ack) {
        return read_replay_properties(p, o, payload, bit);
    }
    while (status == UE_OK) {
        status = ue_live_property_decode(&p->m->incoming, payload, bit, &property, &p->fault);
        if (status != UE_OK || property.handle == 0) {
            return status;
        }
        status = set_value(p->m, o, property.handle, property.value_bits);
    }
    return status;
}

static enum ue_status read_payload(struct received_message *p, struct ue_received_object *o,
                                   const struct ue_block *block) {
    size_t bit = 0;
    if (o->layout == NULL) {
        return UE_OK;
    }
    enum ue_status status = block->has_rep_layout ? read_properties(p, o, block->payload, &bit) : UE_OK;
    struct ue_received_call call = {
        .channel = p->event->channel, .guid = o->guid, .layout = o->layout, .reliable = p->event->reliable};
    return status == UE_OK ? ue_received_calls_read(&p->m->incoming, block->payload, bit, &call, &p->m->calls) : status;
}

static void delete_object(struct received_message *p, uint64_t guid) {
    for (struct ue_received_object **at = &p->actor->objects->next; *at != NULL; at = &(*at)->next) {
        if ((*at)->guid == guid) {
            struct ue_received_object *o = *at;
            *at = o->next;
            free_object(p->m, o);
            return;
        }
    }
}

/* The object of a block, which is created where it is new. */
static struct ue_received_object *object_of(struct received_message *p, const struct ue_block *block) {
    uint64_t guid = block->object.links[0].guid.number;
    struct ue_received_object *o = block->is_actor ? p->actor->objects : find_object(p->actor, guid);
    if (o == NULL) {
        o = new_object(p->m, guid,
                       class_of(p->m, block->stably_named ? guid : block->class_object.links[0].guid.number));
        struct ue_received_object **end = &p->actor->objects;
        while (*end != NULL) {
            end = &(*end)->next;
        }
        *end = o;
    }
    return o;
}

static enum ue_status read_blocks(struct received_message *p) {
    enum ue_status status = UE_OK;
    while (status == UE_OK && p->bit < p->data.bits) {
        struct ue_block block;
        status = ue_block_decode(&p->m->incoming, p->data, &p->bit, &block, &p->fault);
        if (status == UE_OK && !block.has_payload) {
            delete_object(p, block.object.links[0].guid.number);
        } else if (status == UE_OK) {
            struct ue_received_object *o = object_of(p, &block);
            status = o != NULL ? read_payload(p, o, &block) : UE_E_FULL;
        }
    }
    return status;
}

static enum ue_status skip_exports(struct received_message *p) {
    struct ue_exports exports;
    enum ue_status status = ue_exports_decode(&p->m->incoming, p->data, &p->bit, &exports, &p->fault);
    for (uint32_t i = 0; status == UE_OK && i < exports.count; i++) {
        struct ue_object object;
        status = ue_export_decode(&p->m->incoming, p->data, &p->bit, &object, &p->fault);
    }
    return status;
}

/* endpoint.md 37.9, 37.10. */
static enum ue_status read_message(struct received_message *p) {
    struct ue_received_actors *m = p->m;
    enum ue_status status = p->event->has_exports ? skip_exports(p) : UE_OK;
    if (status == UE_OK && p->event->has_mapped) {
        struct ue_mapped mapped;
        status = ue_mapped_decode(&m->incoming, p->data, &p->bit, &mapped, &p->fault);
    }
    if (status == UE_OK && p->event->open) {
        status = read_spawn(p);
    } else {
        p->actor = actor_of_channel(m, p->event->channel);
    }
    if (status != UE_OK || p->actor == NULL) {
        return status;
    }
    p->actor->channel = p->event->channel;
    status = read_blocks(p);
    if (p->event->close && p->event->close_reason == UE_CHANNEL_DORMANCY) {
        p->actor->channel = UE_NO_CHANNEL;
    } else if (p->event->close) {
        remove_actor(m, p->actor);
    }
    return status;
}

enum ue_status ue_received_actors_event(struct ue_received_actors *m, const struct ue_event *event) {
    bool is_bunch = event->type == UE_EVENT_BUNCH || event->type == UE_EVENT_EXPORTS;
    if (!is_bunch || event->kind != UE_KIND_ACTOR) {
        return UE_OK;
    }
    if (event->type == UE_EVENT_EXPORTS || event->has_exports) {
        const struct ue_content content = {.kind = UE_CONTENT_ACTOR, .has_exports = true, .data = event->data};
        ue_guid_map_learn(m->names, &m->incoming, &content, 0);
    }
    if (event->type == UE_EVENT_EXPORTS) {
        return UE_OK;
    }
    struct received_message message = {.m = m, .event = event, .data = event->data};
    return read_message(&message);
}

/* ---- calls to the server ---- */

static enum ue_status send_call(struct ue_received_actors *m, uint64_t now_ns, uint32_t channel, bool is_reliable,
                                const struct ue_content_target *target, const struct ue_content_writer *payload) {
    struct ue_content_writer w;
    ue_content_writer_init(&w, &m->share, ue_conn_context(m->conn));
    ue_content_write_block(&w, target, false, payload);
    const struct ue_outgoing bunch = {
        .channel = channel, .reliable = is_reliable, .merge = true, .data = ue_content_writer_view(&w)};
    enum ue_status status = w.status == UE_OK ? ue_conn_send(m->conn, now_ns, &bunch, NULL) : w.status;
    ue_content_writer_free(&w);
    return status;
}

enum ue_status ue_received_actors_call(struct ue_received_actors *m, uint64_t now_ns,
                                       const struct ue_received_actor *actor, uint64_t guid,
                                       const struct ue_class_function *function, const struct ue_value *parameters) {
    const struct ue_received_object *o = find_object(actor, guid);
    bool is_reliable = (function->flags & UE_FUNCTION_RELIABLE) != 0;
    if (o == NULL || o->layout == NULL || actor->channel == UE_NO_CHANNEL ||
        ue_class_field_index(&m->incoming, o->layout, function) == UINT32_MAX) {
        return UE_E_CONFLICT;
    }
    if (!is_reliable && !ue_conn_is_ready(m->conn)) {
        return UE_E_FULL;
    }
    struct ue_content_writer payload;
    ue_content_writer_init(&payload, &m->share, ue_conn_context(m->conn));
    ue_content_write_call(&payload, o->layout, function, parameters);
    const struct ue_content_target target = {.is_actor = o == actor->objects, .guid = guid};
    enum ue_status status =
        payload.status == UE_OK ? send_call(m, now_ns, actor->channel, is_reliable, &target, &payload) : payload.status;
    ue_content_writer_free(&payload);
    return status;
}
