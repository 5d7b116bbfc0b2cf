/* SPDX-License-Identifier: MIT */
#include "tests/codec/arbitrary_content.h"

#include "libcodec/content/object.h"

static const uint8_t zeros[16];

/* ---- objects ---- */

static struct ue_guid arbitrary_guid(struct rng *rng, const struct ue_context *x, bool null) {
    unsigned bits = x->settings.guid_bits;
    struct ue_guid guid = {.number = null ? 0 : rng_boundary(rng, rng_chance(rng, 50) ? 100 : 0)};
    if (bits != 0) {
        size_t rest = bits - 64u + arbitrary_spoil(rng);
        guid.rest = null ? (struct ue_view){zeros, 0, rest} : arbitrary_view(rng, rest);
    }
    return guid;
}

static void arbitrary_link(struct rng *rng, const struct ue_context *x, bool exporting, struct ue_object_link *m) {
    static const uint8_t flags[] = {0, 1, 5, 5, 5, 7, 6, 255};
    *m = (struct ue_object_link){.guid = arbitrary_guid(rng, x, rng_chance(rng, 15))};
    bool named = exporting || m->guid.number == 1;
    if ((named && !ue_guid_is_null(&m->guid)) || arbitrary_spoil(rng)) {
        m->flags = flags[rng_below(rng, sizeof flags)];
    }
    if ((m->flags & UE_EXPORT_HAS_PATH) != 0) {
        m->name = arbitrary_text(rng);
    }
    if (m->flags % 8 == 5 || m->flags % 8 == 7 || arbitrary_spoil(rng)) {
        m->checksum = (uint32_t)rng_next(rng);
    }
}

static void arbitrary_object(struct rng *rng, const struct ue_context *x, bool exporting, struct ue_object *m) {
    m->count = 0;
    do {
        arbitrary_link(rng, x, exporting, &m->links[m->count++]);
    } while (m->count < UE_OBJECT_LINKS_MAX && (m->links[m->count - 1].flags & UE_EXPORT_HAS_PATH) != 0);
    if (m->count > 1 && arbitrary_spoil(rng)) {
        m->count--;
    }
}

static void arbitrary_reference(struct rng *rng, const struct ue_context *x, struct ue_object *m) {
    arbitrary_object(rng, x, false, m);
}

void arbitrary_export(struct rng *rng, const struct ue_context *x, struct ue_object *m) {
    arbitrary_object(rng, x, true, m);
}

/* ---- exports ---- */

void arbitrary_exports(struct rng *rng, const struct ue_context *x, struct ue_exports *m) {
    m->has_rep_layout = rng_chance(rng, 50);
    m->count = (uint32_t)rng_boundary(rng, rng_chance(rng, 80) ? UE_EXPORTS_MAX : UINT32_MAX);
}

void arbitrary_field_export(struct rng *rng, const struct ue_context *x, struct ue_field_export *m) {
    unsigned netver = ue_context_netver(x);
    *m = (struct ue_field_export){.path_index = (uint32_t)rng_boundary(rng, UINT32_MAX),
                                  .has_path = rng_chance(rng, 50)};
    if (m->has_path || arbitrary_spoil(rng)) {
        m->path = arbitrary_text(rng);
        m->group_size = (uint32_t)rng_boundary(rng, UINT32_MAX);
    }
    m->exported = (uint8_t)rng_below(rng, arbitrary_spoil(rng) ? 256 : 2);
    if (m->exported == 0 && !arbitrary_spoil(rng)) {
        return;
    }
    m->handle = (uint32_t)rng_boundary(rng, UINT32_MAX);
    m->checksum = (uint32_t)rng_next(rng);
    m->name.hardcoded = netver >= 10 && rng_chance(rng, 50);
    if (m->name.hardcoded) {
        m->name.index = (uint32_t)rng_boundary(rng, 411);
    } else {
        m->name.text = arbitrary_text(rng);
        m->name.number = netver >= 10 ? (uint32_t)rng_boundary(rng, UINT32_MAX) : 0;
    }
    if (netver < 9 || arbitrary_spoil(rng)) {
        m->type = arbitrary_text(rng);
    }
}

void arbitrary_mapped(struct rng *rng, const struct ue_context *x, struct ue_mapped *m) {
    static uint8_t bytes[4096];
    struct ue_cursor c;
    ue_cursor_init_write(&c, bytes, sizeof bytes, 0);
    m->count = (uint16_t)rng_below(rng, 20);
    for (unsigned i = 0; i < m->count; i++) {
        struct ue_guid guid = arbitrary_guid(rng, x, false);
        ue_guid_run(UE_ENCODE, &c, x, UE_F_MAPPED_GUID, &guid);
    }
    ue_cursor_flush(&c);
    m->ids = (struct ue_view){bytes, 0, ue_cursor_pos(&c) + arbitrary_spoil(rng)};
}

/* ---- actors ---- */

static void arbitrary_vector(struct rng *rng, const struct ue_context *x, struct ue_vector *m) {
    unsigned netver = ue_context_netver(x);
    bool large = netver >= 23 && netver != 26;
    *m = (struct ue_vector){.present = rng_chance(rng, 60)};
    if (!m->present) {
        return;
    }
    m->quantized = netver < 13 ? !arbitrary_spoil(rng) : rng_chance(rng, 60);
    unsigned width = netver >= 22 && netver != 26 ? 64 : 32;
    if (m->quantized) {
        m->bits = (uint8_t)rng_below(rng, (large ? 64 : 24) + arbitrary_spoil(rng));
        m->scaled = (large || arbitrary_spoil(rng)) && rng_chance(rng, 50);
        width = !large ? m->bits + 2u : m->bits != 0 ? m->bits : m->scaled ? 64 : 32;
    }
    for (unsigned axis = 0; axis < 3; axis++) {
        m->components[axis] = rng_next(rng) & ue_bits_mask(width + arbitrary_spoil(rng));
    }
}

static void arbitrary_rotation(struct rng *rng, struct ue_rotation *m) {
    for (unsigned axis = 0; axis < 3; axis++) {
        m->present[axis] = rng_chance(rng, 50);
        m->steps[axis] = m->present[axis] || arbitrary_spoil(rng) ? (uint16_t)rng_next(rng) : 0;
    }
}

void arbitrary_actor_spawn(struct rng *rng, const struct ue_context *x, struct ue_actor_spawn *m) {
    *m = (struct ue_actor_spawn){.class_bits = ARBITRARY_CLASS_BITS};
    arbitrary_reference(rng, x, &m->object);
    /* A dynamic actor with class data is spawned: bits after its id mean that the spawn data is present. */
    m->is_spawned = ue_guid_is_dynamic(&m->object.links[0].guid) != arbitrary_spoil(rng);
    arbitrary_reference(rng, x, &m->archetype);
    arbitrary_reference(rng, x, &m->level);
    arbitrary_vector(rng, x, &m->location);
    m->has_rotation = rng_chance(rng, 60);
    arbitrary_rotation(rng, &m->rotation);
    arbitrary_vector(rng, x, &m->scale);
    arbitrary_vector(rng, x, &m->velocity);
    m->class_data = arbitrary_view(rng, ARBITRARY_CLASS_BITS + arbitrary_spoil(rng));
}

/* ---- blocks ---- */

void arbitrary_block(struct rng *rng, const struct ue_context *x, struct ue_block *m) {
    unsigned netver = ue_context_netver(x);
    *m = (struct ue_block){.has_rep_layout = rng_chance(rng, 50), .is_actor = rng_chance(rng, 30)};
    arbitrary_reference(rng, x, &m->object);
    bool from_client = x->direction == UE_CLIENT_TO_SERVER;
    m->stably_named = !from_client && rng_chance(rng, 40);
    m->is_destroy = !m->is_actor && !from_client && !m->stably_named && netver >= 30 && rng_chance(rng, 30);
    m->destroy_flags = (uint8_t)rng_next(rng);
    arbitrary_reference(rng, x, &m->class_object);
    m->actor_is_outer = rng_chance(rng, 50);
    arbitrary_reference(rng, x, &m->outer);
    bool plain = m->is_actor || from_client || m->stably_named;
    bool deleted = !plain && (m->is_destroy || ue_guid_is_null(&m->class_object.links[0].guid));
    m->has_payload = deleted == arbitrary_spoil(rng);
    if (m->has_payload) {
        m->payload = arbitrary_view(rng, rng_boundary(rng, 400));
    }
}

void arbitrary_property(struct rng *rng, const struct ue_context *x, struct ue_property *m) {
    *m = (struct ue_property){.number = (uint32_t)rng_boundary(rng, UINT32_MAX)};
    if ((m->number != 0) != arbitrary_spoil(rng)) {
        m->value = arbitrary_view(rng, rng_boundary(rng, 400));
    }
}

void arbitrary_call(struct rng *rng, const struct ue_context *x, struct ue_call *m) {
    *m = (struct ue_call){.index_bound = ARBITRARY_INDEX_BOUND,
                          .index = (uint32_t)rng_below(rng, ARBITRARY_INDEX_BOUND + arbitrary_spoil(rng)),
                          .payload = arbitrary_view(rng, rng_boundary(rng, 400))};
}

/* ---- values ---- */

static const struct ue_class_property typed[] = {
    {"Bool", UE_VALUE_BOOL},     {"Byte", UE_VALUE_BYTE},     {"Int", UE_VALUE_INT32},     {"Float", UE_VALUE_FLOAT},
    {"String", UE_VALUE_STRING}, {"Object", UE_VALUE_OBJECT}, {"Vector", UE_VALUE_VECTOR}, {"Turn", UE_VALUE_ROTATION},
};

const struct ue_class arbitrary_class = {
    .path = "/Test/Typed.Typed_C", .properties = typed, .property_count = UE_VALUE_TYPE_COUNT};

static void arbitrary_value(struct rng *rng, const struct ue_context *x, enum ue_value_type type, struct ue_value *m) {
    unsigned width = type == UE_VALUE_BOOL ? 1 : type == UE_VALUE_BYTE ? 8 : 32;
    *m = (struct ue_value){.type = type, .number = (uint32_t)rng_boundary(rng, ue_bits_mask(width))};
    m->number += m->number == ue_bits_mask(width) && arbitrary_spoil(rng);
    m->text = arbitrary_text(rng);
    arbitrary_reference(rng, x, &m->object);
    do {
        arbitrary_vector(rng, x, &m->vector);
    } while (!m->vector.present || !m->vector.quantized);
    m->vector.present = !arbitrary_spoil(rng);
    arbitrary_rotation(rng, &m->rotation);
}

void arbitrary_live_property(struct rng *rng, const struct ue_context *x, struct ue_live_property *m) {
    *m = (struct ue_live_property){.layout = &arbitrary_class,
                                   .handle = (uint32_t)rng_below(rng, UE_VALUE_TYPE_COUNT + 1 + arbitrary_spoil(rng))};
    if (m->handle != 0) {
        arbitrary_value(rng, x, (enum ue_value_type)((m->handle - 1 + arbitrary_spoil(rng)) % UE_VALUE_TYPE_COUNT),
                        &m->value);
    }
}

void arbitrary_parameter(struct rng *rng, const struct ue_context *x, struct ue_parameter *m) {
    m->is_present = rng_chance(rng, 70);
    arbitrary_value(rng, x, ARBITRARY_PARAMETER_TYPE, &m->value);
}

void arbitrary_voice(struct rng *rng, const struct ue_context *x, struct ue_voice *m) {
    *m = (struct ue_voice){.sender = arbitrary_text(rng)};
    m->length_bytes = (uint16_t)(arbitrary_spoil(rng) ? rng_next(rng) : rng_below(rng, 60));
    if (x->profile.voice >= 2 || arbitrary_spoil(rng)) {
        m->amplitude = (uint16_t)rng_next(rng);
    }
    if (x->profile.voice >= 1 || arbitrary_spoil(rng)) {
        m->samples = rng_next(rng);
    }
    size_t bytes = m->length_bytes > UE_VOICE_BYTES_MAX ? 0 : m->length_bytes;
    m->data = arbitrary_view(rng, bytes * 8 + arbitrary_spoil(rng));
}
