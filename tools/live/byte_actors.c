/* SPDX-License-Identifier: MIT */
#include "tools/live/byte_actors.h"

#include <glib.h>
#include <uerudp/block.h>

/* Ids of the names; actors have even ones. */
#define GUID_PACKAGE 5
#define GUID_ARCHETYPE 3
#define GUID_ACTOR 64

#define HANDLE_TITLE 1

static const struct ue_class_property properties[] = {{"Title", UE_VALUE_STRING}};
static const struct ue_class_function functions[] = {{"ClientBytes", UE_FUNCTION_CLIENT, NULL, 0},
                                                     {"ServerBytes", UE_FUNCTION_SERVER, NULL, 0}};
static const struct ue_class byte_class = {.path = "/Script/Sim.Bytes",
                                           .properties = properties,
                                           .property_count = G_N_ELEMENTS(properties),
                                           .functions = functions,
                                           .function_count = G_N_ELEMENTS(functions)};

static bool add_names(struct ue_package_map *map) {
    const struct ue_named_object package = {GUID_PACKAGE, 0, UE_EXPORT_ASSET, 0, "/Script/Sim"};
    const struct ue_named_object archetype = {GUID_ARCHETYPE, GUID_PACKAGE, UE_EXPORT_ASSET, 0, "Default__Bytes"};
    return ue_package_map_add(map, &package) == UE_OK && ue_package_map_add(map, &archetype) == UE_OK;
}

static bool add_actor(struct byte_actors *b) {
    struct ue_replicated_actor *actor = &b->actors[b->count];
    const char *text = "uerudp";
    const struct ue_value title = {.type = UE_VALUE_STRING,
                                   .text = {{(const uint8_t *)text, 0, strlen(text) * 8}, false}};
    actor->place = (struct ue_actor_place){.archetype = GUID_ARCHETYPE, .scale = {10, 10, 10}};
    actor->object = ue_replicated_object_new(&b->map, &byte_class, GUID_ACTOR + 2 * (uint64_t)b->count);
    if (actor->object == NULL) {
        return false;
    }
    b->count++;
    ue_replicated_object_set(actor->object, HANDLE_TITLE, &title);
    ue_replicated_actor_collect(actor);
    return ue_replicator_add(&b->replicator, actor) != NULL;
}

void byte_actors_free(struct byte_actors *b) {
    if (b == NULL) {
        return;
    }
    ue_replicator_free(&b->replicator);
    for (uint32_t i = 0; i < b->count; i++) {
        ue_replicated_actor_free(&b->actors[i]);
    }
    ue_package_map_free(&b->map);
    g_free(b->actors);
    g_free(b);
}

struct byte_actors *byte_actors_new(struct ue_conn *conn, uint32_t count) {
    struct byte_actors *b = g_new0(struct byte_actors, 1);
    b->actors = g_new0(struct ue_replicated_actor, count);
    ue_package_map_init(&b->map, NULL, ue_conn_context(conn));
    ue_replicator_init(&b->replicator, conn, &b->map);
    bool good = add_names(&b->map);
    for (uint32_t i = 0; good && i < count; i++) {
        good = add_actor(b);
    }
    if (!good) {
        byte_actors_free(b);
        return NULL;
    }
    return b;
}

void byte_actors_event(struct byte_actors *b, const struct ue_event *event) {
    ue_replicator_event(&b->replicator, event);
}

void byte_actors_tick(struct byte_actors *b, uint64_t now_ns) {
    ue_replicator_tick(&b->replicator, now_ns);
}

/* ---- calls ---- */

size_t byte_call_write(const struct ue_conn *conn, struct ue_view message, uint8_t *bytes) {
    const struct ue_context *context = ue_conn_context(conn);
    bool is_server = context->direction == UE_SERVER_TO_CLIENT;
    const struct ue_call call = {.index_bound = ue_class_field_count(&byte_class) + 1,
                                 .index = ue_class_field_index(context, &byte_class, &functions[is_server ? 0 : 1]),
                                 .payload = message};
    size_t room_bytes = ue_bits_bytes(message.bits) + BYTE_CALL_BYTES;
    g_autofree uint8_t *payload = g_malloc0(room_bytes);
    size_t payload_bits = 0;
    size_t bits = 0;
    struct ue_fault fault;
    ue_call_encode(context, &call, payload, room_bytes, &payload_bits, &fault);
    const struct ue_block block = {.is_actor = true, .has_payload = true, .payload = {payload, 0, payload_bits}};
    ue_block_encode(context, &block, bytes, room_bytes, &bits, &fault);
    return bits;
}

bool byte_call_read(const struct ue_conn *conn, struct ue_view data, struct ue_view *message) {
    struct ue_context context = *ue_conn_context(conn);
    context.direction = ue_direction_reverse(context.direction);
    struct ue_call call = {.index_bound = ue_class_field_count(&byte_class) + 1};
    struct ue_block block;
    struct ue_fault fault;
    size_t end = 0;
    size_t call_end = 0;
    if (ue_block_decode(&context, data, &end, &block, &fault) != UE_OK || end != data.bits || !block.is_actor ||
        !block.has_payload || block.has_rep_layout ||
        ue_call_decode(&context, block.payload, &call_end, &call, &fault) != UE_OK || call_end != block.payload.bits ||
        ue_class_function_at(&context, &byte_class, call.index) == NULL) {
        return false;
    }
    *message = call.payload;
    return true;
}
