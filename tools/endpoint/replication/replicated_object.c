/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/replication/replicated_object.h"

#include <assert.h>
#include <string.h>

static uint32_t capacity_of(enum ue_value_type type) {
    switch (type) {
    case UE_VALUE_BOOL: return 1;
    case UE_VALUE_BYTE: return 8;
    case UE_VALUE_INT32:
    case UE_VALUE_FLOAT: return 32;
    case UE_VALUE_STRING: return UE_VALUE_BITS_MAX;
    default: return 320; /* a packed vector of large components */
    }
}

static struct ue_value default_of(const struct ue_context *x, enum ue_value_type type) {
    struct ue_value value = {.type = type, .object = {.count = 1}};
    if (type == UE_VALUE_VECTOR) {
        ue_vector_quantize(x, (const int32_t[3]){0}, &value.vector);
    }
    return value;
}

static size_t total_bits(const struct ue_class *layout, uint32_t count) {
    size_t bits = 0;
    for (uint32_t handle = 1; handle <= count; handle++) {
        bits += capacity_of(ue_class_property_at(layout, handle)->type);
    }
    return bits;
}

/* endpoint.md 37.1. */
struct ue_replicated_object *ue_replicated_object_new(struct ue_package_map *map, const struct ue_class *layout,
                                                      uint64_t guid) {
    uint32_t count = ue_class_handle_count(layout);
    if (count > UE_HANDLES_MAX) {
        return NULL;
    }
    size_t size_bytes = sizeof(struct ue_replicated_object) + ue_bits_bytes(total_bits(layout, count));
    struct ue_replicated_object *o = ue_share_alloc(&map->share, size_bytes);
    if (o == NULL) {
        return NULL;
    }
    memset(o, 0, size_bytes);
    o->map = map;
    o->layout = layout;
    o->guid = guid;
    o->property_count = count;
    for (uint32_t i = 0, at = 0; i < count; at += o->properties[i++].capacity_bits) {
        enum ue_value_type type = ue_class_property_at(layout, i + 1)->type;
        struct ue_value value = default_of(&map->context, type);
        o->properties[i] = (struct ue_replicated_value){0, at, capacity_of(type)};
        ue_replicated_object_set(o, i + 1, &value);
    }
    o->dirty = 0;
    return o;
}

void ue_replicated_object_free(struct ue_replicated_object *o) {
    assert(o->watchers == 0);
    ue_share_free_block(&o->map->share, o);
}

struct ue_view ue_replicated_object_get(const struct ue_replicated_object *o, uint32_t handle) {
    assert(handle >= 1 && handle <= o->property_count);
    const struct ue_replicated_value *v = &o->properties[handle - 1];
    return (struct ue_view){o->values, v->first_bit, v->bits};
}

enum ue_status ue_replicated_object_set(struct ue_replicated_object *o, uint32_t handle, const struct ue_value *value) {
    uint8_t bytes[UE_VALUE_BITS_MAX / 8] = {0};
    struct ue_fault fault;
    size_t bits = 0;
    if (handle < 1 || handle > o->property_count) {
        return UE_E_RANGE;
    }
    if (value->type != ue_class_property_at(o->layout, handle)->type) {
        return UE_E_CONFLICT;
    }
    enum ue_status status = ue_value_encode(&o->map->context, value, bytes, sizeof bytes, &bits, &fault);
    struct ue_replicated_value *v = &o->properties[handle - 1];
    const struct ue_view view = {bytes, 0, bits};
    if (status != UE_OK) {
        return status == UE_E_FULL ? UE_E_LENGTH : status;
    }
    if (bits > v->capacity_bits) {
        return UE_E_LENGTH;
    }
    if (!ue_view_equal(ue_replicated_object_get(o, handle), view)) {
        ue_bits_copy(o->values, v->first_bit, bytes, 0, bits);
        v->bits = (uint32_t)bits;
        o->dirty |= ue_handle_bit(handle);
    }
    return UE_OK;
}

void ue_replicated_object_collect(struct ue_replicated_object *o) {
    if (o->dirty != 0) {
        ue_changes_add(&o->changes, o->dirty);
        o->dirty = 0;
    }
}

void ue_replicated_actor_add(struct ue_replicated_actor *actor, struct ue_replicated_object *object) {
    struct ue_replicated_object *last = actor->object;
    while (last->next != NULL) {
        last = last->next;
    }
    last->next = object;
}

void ue_replicated_actor_collect(struct ue_replicated_actor *actor) {
    for (struct ue_replicated_object **at = &actor->object; *at != NULL;) {
        struct ue_replicated_object *o = *at;
        ue_replicated_object_collect(o);
        if (o->is_removed && o->watchers == 0) {
            *at = o->next;
            ue_replicated_object_free(o);
        } else {
            at = &o->next;
        }
    }
}

void ue_replicated_actor_free(struct ue_replicated_actor *actor) {
    while (actor->object != NULL) {
        struct ue_replicated_object *next = actor->object->next;
        ue_replicated_object_free(actor->object);
        actor->object = next;
    }
}
