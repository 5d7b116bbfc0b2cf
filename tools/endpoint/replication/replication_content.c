/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/replication/replication_content.h"

#include <string.h>

#include <uerudp/exports.h>

/* More than any structure needs beside its payload: an export of 17 names, a spawn, a string. */
#define SLACK_BYTES 4096
#define DESTROY_FLAGS_NONE 0

void ue_content_writer_init(struct ue_content_writer *w, struct ue_share *share, const struct ue_context *context) {
    memset(w, 0, sizeof *w);
    w->share = share;
    w->context = context;
}

void ue_content_writer_free(struct ue_content_writer *w) {
    ue_share_free_block(w->share, w->bytes);
    w->bytes = NULL;
}

/* Reserves memory for a structure with this payload. */
static bool reserve(struct ue_content_writer *w, size_t payload_bits) {
    size_t wanted_bytes = ue_bits_bytes(w->bits) + ue_bits_bytes(payload_bits) + SLACK_BYTES;
    if (w->status == UE_OK && w->size_bytes < wanted_bytes) {
        uint8_t *bytes = ue_share_resize(w->share, w->bytes, wanted_bytes * 2);
        if (bytes == NULL) {
            w->status = UE_E_FULL;
            return false;
        }
        memset(bytes + w->size_bytes, 0, wanted_bytes * 2 - w->size_bytes);
        w->bytes = bytes;
        w->size_bytes = wanted_bytes * 2;
    }
    return w->status == UE_OK;
}

static void refer(struct ue_content_writer *w, uint64_t guid) {
    for (uint32_t i = 0; i < w->reference_count; i++) {
        if (w->references[i] == guid) {
            return;
        }
    }
    if (guid != 0 && w->reference_count < UE_REFERENCES_MAX) {
        w->references[w->reference_count++] = guid;
    }
}

static void set_reference(struct ue_content_writer *w, struct ue_object *object, uint64_t guid) {
    *object = (struct ue_object){.count = 1};
    object->links[0].guid.number = guid;
    refer(w, guid);
}

void ue_content_write_bits(struct ue_content_writer *w, struct ue_view bits) {
    if (reserve(w, bits.bits)) {
        ue_bits_copy(w->bytes, w->bits, bits.base, bits.bit, bits.bits);
        w->bits += bits.bits;
    }
}

void ue_content_write_mapped(struct ue_content_writer *w, const uint64_t *ids, uint16_t count) {
    struct ue_content_writer list;
    struct ue_fault fault;
    ue_content_writer_init(&list, w->share, w->context);
    for (uint16_t i = 0; i < count && reserve(&list, 0); i++) {
        struct ue_value id = {.type = UE_VALUE_OBJECT};
        set_reference(&list, &id.object, ids[i]);
        list.status = ue_value_encode(w->context, &id, list.bytes, list.size_bytes, &list.bits, &fault);
    }
    const struct ue_mapped mapped = {count, ue_content_writer_view(&list)};
    w->status = w->status == UE_OK ? list.status : w->status;
    if (reserve(w, list.bits)) {
        w->status = ue_mapped_encode(w->context, &mapped, w->bytes, w->size_bytes, &w->bits, &fault);
    }
    ue_content_writer_free(&list);
}

/* ---- actor spawns ---- */

static bool is_equal(const int32_t a[3], const int32_t b[3]) {
    return memcmp(a, b, 3 * sizeof *a) == 0;
}

static void set_place(struct ue_content_writer *w, struct ue_actor_spawn *spawn, const struct ue_actor_place *place) {
    static const int32_t zero[3];
    static const int32_t one[3] = {10, 10, 10};
    set_reference(w, &spawn->archetype, place->archetype);
    set_reference(w, &spawn->level, place->level);
    spawn->has_rotation = place->has_rotation;
    for (unsigned axis = 0; axis < 3; axis++) {
        spawn->rotation.present[axis] = place->rotation[axis] != 0;
        spawn->rotation.steps[axis] = place->rotation[axis];
    }
    spawn->location.quantized = spawn->scale.quantized = spawn->velocity.quantized = true;
    if (!is_equal(place->location, zero)) {
        ue_vector_quantize(w->context, place->location, &spawn->location);
    }
    if (!is_equal(place->scale, one)) {
        ue_vector_set_exact(w->context, place->scale, &spawn->scale);
    }
    if (!is_equal(place->velocity, zero)) {
        ue_vector_quantize(w->context, place->velocity, &spawn->velocity);
    }
}

void ue_content_write_spawn(struct ue_content_writer *w, const struct ue_replicated_object *o,
                            const struct ue_actor_place *place) {
    struct ue_actor_spawn spawn = {.is_spawned = place != NULL};
    struct ue_fault fault;
    uint8_t class_data[8];
    set_reference(w, &spawn.object, o->guid);
    if (place != NULL) {
        set_place(w, &spawn, place);
        ue_bytes_store64(class_data, place->class_data);
        spawn.class_bits = (uint8_t)ue_class_spawn_bits(w->context, o->layout);
        spawn.class_data = (struct ue_view){class_data, 0, spawn.class_bits};
    }
    if (reserve(w, 0)) {
        w->status = ue_actor_spawn_encode(w->context, &spawn, w->bytes, w->size_bytes, &w->bits, &fault);
    }
}

/* ---- content blocks ---- */

struct ue_content_target ue_content_target_of(const struct ue_replicated_object *o, bool is_actor) {
    return (struct ue_content_target){is_actor, o->guid, o->class_guid, o->outer};
}

static void write_block(struct ue_content_writer *w, const struct ue_block *block) {
    struct ue_fault fault;
    if (reserve(w, block->payload.bits)) {
        w->status = ue_block_encode(w->context, block, w->bytes, w->size_bytes, &w->bits, &fault);
    }
}

void ue_content_write_block(struct ue_content_writer *w, const struct ue_content_target *target, bool has_properties,
                            const struct ue_content_writer *payload) {
    struct ue_block block = {.has_rep_layout = has_properties,
                             .is_actor = target->is_actor,
                             .has_payload = true,
                             .payload = ue_content_writer_view(payload)};
    if (!target->is_actor) {
        set_reference(w, &block.object, target->guid);
        block.stably_named = target->class_guid == 0;
        set_reference(w, &block.class_object, target->class_guid);
        block.actor_is_outer = target->outer == 0;
        set_reference(w, &block.outer, target->outer);
    }
    for (uint32_t i = 0; i < payload->reference_count; i++) {
        refer(w, payload->references[i]);
    }
    w->status = w->status == UE_OK ? payload->status : w->status;
    write_block(w, &block);
}

void ue_content_write_deletion(struct ue_content_writer *w, uint64_t guid) {
    struct ue_block block = {.is_destroy = ue_context_netver(w->context) >= 30, .destroy_flags = DESTROY_FLAGS_NONE};
    set_reference(w, &block.object, guid);
    set_reference(w, &block.class_object, 0);
    write_block(w, &block);
}

/* In a replay the value has a length, and the number is the handle plus one; handle 0: the end. */
static void write_replay_property(struct ue_content_writer *w, uint32_t handle, struct ue_view value) {
    const struct ue_property p = {handle != 0 ? handle + 1 : 0, value};
    struct ue_fault fault;
    if (reserve(w, value.bits)) {
        w->status = ue_property_encode(w->context, &p, w->bytes, w->size_bytes, &w->bits, &fault);
    }
}

static void write_live_property(struct ue_content_writer *w, const struct ue_class *layout, uint32_t handle,
                                const struct ue_value *value) {
    const struct ue_live_property p = {.layout = layout, .handle = handle, .value = *value};
    struct ue_fault fault;
    if (reserve(w, UE_VALUE_BITS_MAX)) {
        w->status = ue_live_property_encode(w->context, &p, w->bytes, w->size_bytes, &w->bits, &fault);
    }
}

static void write_property(struct ue_content_writer *w, const struct ue_replicated_object *o, uint32_t handle) {
    size_t at = 0;
    struct ue_value value = {.type = ue_class_property_at(o->layout, handle)->type};
    struct ue_fault fault;
    ue_value_decode(w->context, ue_replicated_object_get(o, handle), &at, &value, &fault);
    if (w->context->settings.internal_ack) {
        write_replay_property(w, handle, ue_replicated_object_get(o, handle));
    } else {
        write_live_property(w, o->layout, handle, &value);
    }
    refer(w, value.type == UE_VALUE_OBJECT ? value.object.links[0].guid.number : 0);
}

void ue_content_write_properties(struct ue_content_writer *w, const struct ue_replicated_object *o, uint64_t handles) {
    struct ue_fault fault;
    if (reserve(w, 0)) {
        w->status = ue_live_properties_encode(w->context, &(struct ue_live_properties){false}, w->bytes, w->size_bytes,
                                              &w->bits, &fault);
    }
    for (uint32_t handle = 1; handle <= o->property_count && w->status == UE_OK; handle++) {
        if ((handles & ue_handle_bit(handle)) != 0) {
            write_property(w, o, handle);
        }
    }
    if (w->context->settings.internal_ack) {
        write_replay_property(w, 0, (struct ue_view){0});
    } else {
        write_live_property(w, o->layout, 0, &(struct ue_value){0});
    }
}

/* ---- calls ---- */

static bool is_zero(const struct ue_value *value) {
    switch (value->type) {
    case UE_VALUE_STRING: return value->text.units.bits == 0;
    case UE_VALUE_OBJECT: return value->object.links[0].guid.number == 0;
    case UE_VALUE_VECTOR:
    case UE_VALUE_ROTATION: return false;
    default: return value->number == 0;
    }
}

static void write_parameter(struct ue_content_writer *w, enum ue_value_type type, const struct ue_value *value) {
    struct ue_parameter parameter = {type == UE_VALUE_BOOL || !is_zero(value), *value};
    struct ue_fault fault;
    if (value->type != type) {
        w->status = UE_E_CONFLICT;
    } else if (reserve(w, value->text.units.bits)) {
        w->status = ue_parameter_encode(w->context, &parameter, w->bytes, w->size_bytes, &w->bits, &fault);
        refer(w, type == UE_VALUE_OBJECT ? value->object.links[0].guid.number : 0);
    }
}

void ue_content_write_parameters(struct ue_content_writer *w, const struct ue_class_function *function,
                                 const struct ue_value *parameters) {
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        write_parameter(w, function->parameters[i].type, &parameters[i]);
    }
}

void ue_content_write_call(struct ue_content_writer *w, const struct ue_class *layout,
                           const struct ue_class_function *function, const struct ue_value *parameters) {
    struct ue_content_writer values;
    struct ue_fault fault;
    ue_content_writer_init(&values, w->share, w->context);
    ue_content_write_parameters(&values, function, parameters);
    const struct ue_call call = {.index_bound = ue_class_field_count(layout) + 1,
                                 .index = ue_class_field_index(w->context, layout, function),
                                 .payload = ue_content_writer_view(&values)};
    w->status = w->status == UE_OK ? values.status : w->status;
    if (reserve(w, values.bits)) {
        w->status = ue_call_encode(w->context, &call, w->bytes, w->size_bytes, &w->bits, &fault);
    }
    for (uint32_t i = 0; i < values.reference_count; i++) {
        refer(w, values.references[i]);
    }
    ue_content_writer_free(&values);
}

/* ---- exports ---- */

void ue_content_write_export_head(struct ue_content_writer *w, uint32_t count) {
    struct ue_fault fault;
    if (reserve(w, 0)) {
        w->status = ue_exports_encode(w->context, &(struct ue_exports){false, count}, w->bytes, w->size_bytes, &w->bits,
                                      &fault);
    }
}

void ue_content_write_export(struct ue_content_writer *w, const struct ue_package_map *map, uint32_t index) {
    struct ue_object object;
    struct ue_fault fault;
    ue_package_map_export(map, index, &object);
    if (reserve(w, 0)) {
        w->status = ue_export_encode(w->context, &object, w->bytes, w->size_bytes, &w->bits, &fault);
    }
}
