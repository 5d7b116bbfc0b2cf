/* SPDX-License-Identifier: MIT */
#include "tests/codec/equal_content.h"

#define SAME(member) (a->member == b->member)
#define SAME_BYTES(member) (memcmp(a->member, b->member, sizeof a->member) == 0)
#define SAME_VIEW(member) ue_view_equal(a->member, b->member)
#define SAME_TEXT(member) (SAME(member.wide) && SAME_VIEW(member.units))

static bool link_equal(const struct ue_object_link *a, const struct ue_object_link *b) {
    return SAME(guid.number) && SAME_VIEW(guid.rest) && SAME(flags) && SAME_TEXT(name) && SAME(checksum);
}

bool object_equal(const struct ue_object *a, const struct ue_object *b) {
    bool same = SAME(count);
    for (size_t i = 0; same && i < a->count; i++) {
        same = link_equal(&a->links[i], &b->links[i]);
    }
    return same;
}

bool exports_equal(const struct ue_exports *a, const struct ue_exports *b) {
    return SAME(has_rep_layout) && SAME(count);
}

bool field_export_equal(const struct ue_field_export *a, const struct ue_field_export *b) {
    return SAME(path_index) && SAME(has_path) && SAME_TEXT(path) && SAME(group_size) && SAME(exported) &&
           SAME(handle) && SAME(checksum) && SAME(name.hardcoded) && SAME(name.index) && SAME_TEXT(name.text) &&
           SAME(name.number) && SAME_TEXT(type);
}

bool mapped_equal(const struct ue_mapped *a, const struct ue_mapped *b) {
    return SAME(count) && SAME_VIEW(ids);
}

static bool vector_equal(const struct ue_vector *a, const struct ue_vector *b) {
    return SAME(present) && SAME(quantized) && SAME(bits) && SAME(scaled) && SAME_BYTES(components);
}

static bool rotation_equal(const struct ue_rotation *a, const struct ue_rotation *b) {
    return SAME_BYTES(present) && SAME_BYTES(steps);
}

bool actor_spawn_equal(const struct ue_context *x, const struct ue_actor_spawn *a, const struct ue_actor_spawn *b) {
    if (!object_equal(&a->object, &b->object) || !SAME(is_spawned) || !SAME_VIEW(class_data)) {
        return false;
    }
    if (!a->is_spawned) {
        return true;
    }
    return object_equal(&a->archetype, &b->archetype) &&
           (ue_context_netver(x) < 5 || object_equal(&a->level, &b->level)) &&
           vector_equal(&a->location, &b->location) && SAME(has_rotation) &&
           (!a->has_rotation || rotation_equal(&a->rotation, &b->rotation)) && vector_equal(&a->scale, &b->scale) &&
           vector_equal(&a->velocity, &b->velocity);
}

static bool unstable_equal(const struct ue_context *x, const struct ue_block *a, const struct ue_block *b) {
    if (!SAME(is_destroy)) {
        return false;
    }
    if (a->is_destroy) {
        return SAME(destroy_flags);
    }
    if (!object_equal(&a->class_object, &b->class_object)) {
        return false;
    }
    bool has_outer = !ue_guid_is_null(&a->class_object.links[0].guid) && ue_context_netver(x) >= 18;
    return !has_outer || (SAME(actor_is_outer) && (a->actor_is_outer || object_equal(&a->outer, &b->outer)));
}

bool block_equal(const struct ue_context *x, const struct ue_block *a, const struct ue_block *b) {
    if (!SAME(has_rep_layout) || !SAME(is_actor) || !SAME(has_payload) || !SAME_VIEW(payload)) {
        return false;
    }
    if (a->is_actor) {
        return true;
    }
    if (!object_equal(&a->object, &b->object)) {
        return false;
    }
    if (x->direction == UE_CLIENT_TO_SERVER) {
        return true;
    }
    return SAME(stably_named) && (a->stably_named || unstable_equal(x, a, b));
}

bool property_equal(const struct ue_property *a, const struct ue_property *b) {
    return SAME(number) && SAME_VIEW(value);
}

bool call_equal(const struct ue_call *a, const struct ue_call *b) {
    return SAME(index_bound) && SAME(index) && SAME_VIEW(payload);
}

static bool value_equal(const struct ue_value *a, const struct ue_value *b) {
    switch (a->type) {
    case UE_VALUE_STRING: return SAME_TEXT(text);
    case UE_VALUE_OBJECT: return object_equal(&a->object, &b->object);
    case UE_VALUE_VECTOR: return vector_equal(&a->vector, &b->vector);
    case UE_VALUE_ROTATION: return rotation_equal(&a->rotation, &b->rotation);
    default: return SAME(number);
    }
}

bool live_property_equal(const struct ue_live_property *a, const struct ue_live_property *b) {
    return SAME(handle) && (a->handle == 0 || (SAME(value.type) && value_equal(&a->value, &b->value)));
}

bool parameter_equal(const struct ue_parameter *a, const struct ue_parameter *b) {
    return SAME(is_present) && (!a->is_present || value_equal(&a->value, &b->value));
}

bool voice_equal(const struct ue_voice *a, const struct ue_voice *b) {
    return SAME_TEXT(sender) && SAME(amplitude) && SAME(length_bytes) && SAME(samples) && SAME_VIEW(data);
}
