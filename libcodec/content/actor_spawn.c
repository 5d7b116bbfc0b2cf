/* SPDX-License-Identifier: MIT */
#include <uerudp/actor_spawn.h>

#include "libcodec/content/actor_spawn.h"
#include "libcodec/content/object.h"
#include "libcodec/wire/layout_run.h"

/* Whether the release has the double-precision format of EngineNetVer `since`, 22 or 23. Releases with EngineNetVer 26
   branched off before both (protocol.md 23.3). */
static bool is_large_world(const struct ue_context *x, unsigned since) {
    unsigned netver = ue_context_netver(x);
    return netver >= since && netver != 26;
}

#define SCALE 10.0
#define LEGACY_BITS_BOUND 24

/* Offsets of a vector's fields from the field of its presence bit. */
enum vector_record { RECORD_PRESENT, RECORD_QUANTIZED, RECORD_BITS, RECORD_SCALED, RECORD_X };

#define RECORDS_FOLLOW(vector)                                                                                         \
    _Static_assert(UE_F_ACTOR_##vector##_QUANTIZED == UE_F_ACTOR_HAS_##vector + RECORD_QUANTIZED &&                    \
                       UE_F_ACTOR_##vector##_BITS == UE_F_ACTOR_HAS_##vector + RECORD_BITS &&                          \
                       UE_F_ACTOR_##vector##_SCALED == UE_F_ACTOR_HAS_##vector + RECORD_SCALED &&                      \
                       UE_F_ACTOR_##vector##_X == UE_F_ACTOR_HAS_##vector + RECORD_X &&                                \
                       UE_F_ACTOR_##vector##_Z == UE_F_ACTOR_##vector##_X + 2,                                         \
                   "rows of fields.def in this order")
RECORDS_FOLLOW(LOCATION);
RECORDS_FOLLOW(SCALE);
RECORDS_FOLLOW(VELOCITY);

enum component_form { FORM_LEGACY, FORM_INTEGER, FORM_FLOAT, FORM_DOUBLE };

static enum component_form form_of(const struct ue_context *x, const struct ue_vector *m) {
    if (!m->quantized) {
        return is_large_world(x, 22) ? FORM_DOUBLE : FORM_FLOAT;
    }
    if (!is_large_world(x, 23)) {
        return FORM_LEGACY;
    }
    return m->bits != 0 ? FORM_INTEGER : m->scaled ? FORM_DOUBLE : FORM_FLOAT;
}

static unsigned width_of(const struct ue_vector *m, enum component_form form) {
    switch (form) {
    case FORM_LEGACY: return m->bits + 2u;
    case FORM_INTEGER: return m->bits;
    case FORM_FLOAT: return 32;
    case FORM_DOUBLE: break;
    }
    return 64;
}

static double signed_value(uint64_t raw, unsigned bits) {
    uint64_t sign = UINT64_C(1) << (bits - 1);
    return (raw & sign) != 0 ? -(double)((sign << 1) - raw) : (double)raw;
}

double ue_vector_component(const struct ue_context *context, const struct ue_vector *vector, unsigned axis) {
    uint64_t raw = vector->components[axis];
    if (!vector->present) {
        return 0;
    }
    switch (form_of(context, vector)) {
    case FORM_LEGACY: return ((double)raw - (double)(UINT64_C(2) << vector->bits)) / SCALE;
    case FORM_INTEGER: return signed_value(raw, vector->bits) / (vector->scaled ? SCALE : 1);
    case FORM_FLOAT: return ue_record_real(&(struct ue_record){.bits = 32, .number = raw});
    case FORM_DOUBLE: break;
    }
    return ue_record_real(&(struct ue_record){.bits = 64, .number = raw});
}

static uint64_t raw_real(double value) {
    uint64_t raw;
    memcpy(&raw, &value, sizeof raw);
    return raw;
}

UE_INLINE void components(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field first,
                          struct ue_vector *m) {
    unsigned bits = width_of(m, form_of(x, m));
    for (unsigned axis = 0; axis < 3; axis++) {
        UINT_SHOWN_AS(m->components[axis], first + RECORD_X + axis, bits, raw_real(ue_vector_component(x, m, axis)));
    }
}

UE_INLINE void quantization(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field first,
                            struct ue_vector *m) {
    enum ue_field field = first + RECORD_BITS;
    if (!m->quantized) {
        ABSENT(m->bits, ACTOR_LOCATION_BITS, 0);
        ABSENT(m->scaled, ACTOR_LOCATION_SCALED, false);
    } else if (is_large_world(x, 23)) {
        UINT_AS(m->bits, field, 6);
        FLAG_AS(m->scaled, first + RECORD_SCALED);
    } else {
        BELOW_AS(m->bits, field, ue_bound_of(LEGACY_BITS_BOUND));
        ABSENT(m->scaled, ACTOR_LOCATION_SCALED, false);
    }
}

UE_INLINE void vector_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field first,
                             struct ue_vector *m) {
    CLEAR(*m);
    FLAG_AS(m->present, first);
    if (!m->present) {
        return;
    }
    if (ue_context_netver(x) >= 13) {
        FLAG_AS(m->quantized, first + RECORD_QUANTIZED);
    } else {
        ABSENT(m->quantized, ACTOR_LOCATION_QUANTIZED, true);
    }
    quantization(op, c, x, first, m);
    components(op, c, x, first, m);
}

void ue_vector_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field first,
                   struct ue_vector *m) {
    switch (op) {
    case UE_DECODE: vector_layout(UE_DECODE, c, x, first, m); break;
    case UE_ENCODE: vector_layout(UE_ENCODE, c, x, first, m); break;
    case UE_TRACE: vector_layout(UE_TRACE, c, x, first, m); break;
    case UE_BUILD:
    case UE_DECODE_FAST: break;
    }
}

UE_INLINE void packed_vector_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x,
                                    struct ue_vector *m) {
    CLEAR(*m);
    IMPLIED(m->present, ACTOR_LOCATION_BITS, true);
    IMPLIED(m->quantized, ACTOR_LOCATION_BITS, true);
    quantization(op, c, x, UE_F_ACTOR_HAS_LOCATION, m);
    components(op, c, x, UE_F_ACTOR_HAS_LOCATION, m);
}

UE_DEFINE_CONTENT_RUN(ue_packed_vector, packed_vector_layout, struct ue_vector)

/* Bits of the largest magnitude among the components, at least 1. */
static unsigned magnitude_bits(const int32_t tenths[3]) {
    uint32_t all = 1;
    for (unsigned axis = 0; axis < 3; axis++) {
        all |= tenths[axis] < 0 ? 0 - (uint32_t)tenths[axis] : (uint32_t)tenths[axis];
    }
    return 32 - (unsigned)__builtin_clz(all);
}

void ue_vector_quantize(const struct ue_context *context, const int32_t tenths[3], struct ue_vector *vector) {
    unsigned magnitude = magnitude_bits(tenths);
    bool is_large = is_large_world(context, 23);
    *vector = (struct ue_vector){.present = true, .quantized = true, .scaled = is_large};
    vector->bits = (uint8_t)(is_large ? magnitude + 1 : magnitude - 1);
    for (unsigned axis = 0; axis < 3; axis++) {
        vector->components[axis] = is_large ? (uint64_t)(int64_t)tenths[axis] & ue_bits_mask(vector->bits)
                                            : (uint64_t)(tenths[axis] + (INT64_C(2) << vector->bits));
    }
}

static uint64_t raw_component(const struct ue_context *x, double value) {
    float single = (float)value;
    uint32_t raw;
    memcpy(&raw, &single, sizeof raw);
    return is_large_world(x, 22) ? raw_real(value) : raw;
}

void ue_vector_set_exact(const struct ue_context *context, const int32_t tenths[3], struct ue_vector *vector) {
    if (ue_context_netver(context) < 13) {
        ue_vector_quantize(context, tenths, vector);
        return;
    }
    *vector = (struct ue_vector){.present = true};
    for (unsigned axis = 0; axis < 3; axis++) {
        vector->components[axis] = raw_component(context, tenths[axis] / SCALE);
    }
}

UE_INLINE void rotation_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_rotation *m) {
    (void)x;
    _Static_assert(UE_F_ACTOR_ROTATION_HAS_ROLL == UE_F_ACTOR_ROTATION_HAS_PITCH + 2,
                   "rows of fields.def in this order");
    _Static_assert(UE_F_ACTOR_ROTATION_ROLL == UE_F_ACTOR_ROTATION_PITCH + 2, "rows of fields.def in this order");
    for (unsigned axis = 0; axis < 3; axis++) {
        FLAG_AS(m->present[axis], UE_F_ACTOR_ROTATION_HAS_PITCH + axis);
        if (m->present[axis]) {
            UINT_SHOWN_AS(m->steps[axis], UE_F_ACTOR_ROTATION_PITCH + axis, 16,
                          raw_real(m->steps[axis] * (360.0 / 65536)));
        } else {
            ABSENT(m->steps[axis], ACTOR_ROTATION_PITCH, 0);
        }
    }
}

UE_DEFINE_CONTENT_RUN(ue_rotation, rotation_layout, struct ue_rotation)

UE_INLINE void spawn_data(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_actor_spawn *m) {
    ue_reference_run(op, c, x, UE_F_ACTOR_ARCHETYPE, &m->archetype);
    if (ue_context_netver(x) >= 5) {
        ue_reference_run(op, c, x, UE_F_ACTOR_LEVEL, &m->level);
    }
    ue_vector_run(op, c, x, UE_F_ACTOR_HAS_LOCATION, &m->location);
    FLAG(m->has_rotation, ACTOR_HAS_ROTATION);
    if (m->has_rotation) {
        rotation_layout(op, c, x, &m->rotation);
    }
    ue_vector_run(op, c, x, UE_F_ACTOR_HAS_SCALE, &m->scale);
    ue_vector_run(op, c, x, UE_F_ACTOR_HAS_VELOCITY, &m->velocity);
}

UE_INLINE void actor_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_actor_spawn *m) {
    BEGIN(ACTOR);
    ue_reference_run(op, c, x, UE_F_ACTOR_GUID, &m->object);
    bool dynamic = ue_guid_is_dynamic(&m->object.links[0].guid);
    MORE(m->is_spawned, ACTOR_ARCHETYPE, dynamic && ue_cursor_left(c) != 0);
    REQUIRE(dynamic || !m->is_spawned, UE_E_ABSENT, ACTOR_ARCHETYPE);
    REQUIRE(!dynamic || m->is_spawned || m->class_bits == 0, UE_E_CONFLICT, ACTOR_CLASS_DATA);
    if (m->is_spawned) {
        spawn_data(op, c, x, m);
    }
    if (m->class_bits != 0) {
        VIEW_OF(m->class_data, ACTOR_CLASS_DATA, m->class_bits);
    } else {
        ABSENT_VIEW(m->class_data, ACTOR_CLASS_DATA);
    }
    END(ACTOR, m);
}

UE_DEFINE_CONTENT_RUN(ue_actor_spawn, actor_layout, struct ue_actor_spawn)
UE_DEFINE_CONTENT_CODEC(ue_actor_spawn, struct ue_actor_spawn)
