/* SPDX-License-Identifier: MIT */
/* The payload of a content block: properties, then fields (protocol.md 23.5). */
#include "libcodec/content/actor_spawn.h"
#include "libcodec/content/block.h"
#include "libcodec/content/object.h"
#include "libcodec/wire/layout_run.h"

#define INDEX_BITS_MAX 16
#define ZERO_HANDLE_BITS 8

UE_INLINE void property_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_property *m) {
    (void)x;
    BEGIN(PROPERTY);
    PACKED_SHOWN(m->number, PROPERTY_HANDLE, m->number - 1);
    if (m->number != 0) {
        VIEW_PACKED(m->value, PROPERTY_BITS, PROPERTY_DATA);
    } else {
        ABSENT_VIEW(m->value, PROPERTY_DATA);
    }
    END(PROPERTY, m);
}

UE_DEFINE_CONTENT_RUN(ue_property, property_layout, struct ue_property)
UE_DEFINE_CONTENT_CODEC(ue_property, struct ue_property)

UE_INLINE void call_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_call *m) {
    (void)x;
    BEGIN(FIELD);
    struct ue_bound bound = ue_bound_of(m->index_bound);
    GENERATED(FIELD_GUESS, ue_cursor_pos(c), bound.bits, true);
    BELOW(m->index, FIELD_INDEX, bound);
    VIEW_PACKED(m->payload, FIELD_PAYLOAD_BITS, FIELD_PAYLOAD);
    END(FIELD, m);
}

UE_DEFINE_CONTENT_RUN(ue_call, call_layout, struct ue_call)
UE_DEFINE_CONTENT_CODEC(ue_call, struct ue_call)

/* Decodes fields whose indices have index_bits bits. Returns whether the last field ends with the payload. */
static bool walk_calls(enum ue_op op, struct ue_cursor c, const struct ue_context *x, unsigned index_bits) {
    while (ue_cursor_left(&c) != 0) {
        struct ue_call call = {.index_bound = UINT32_C(1) << index_bits};
        ue_call_run(op, &c, x, &call);
    }
    return ue_cursor_ok(&c);
}

/* The length of an index depends on the class, which the wire does not show. Fields are reported when exactly one
   length makes them end with the payload. */
static void trace_calls(const struct ue_cursor *c, const struct ue_context *x) {
    unsigned found = 0;
    for (unsigned bits = 1; bits <= INDEX_BITS_MAX; bits++) {
        if (walk_calls(UE_DECODE, *c, x, bits)) {
            if (found != 0) {
                return;
            }
            found = bits;
        }
    }
    if (found != 0) {
        walk_calls(UE_TRACE, *c, x, found);
    }
}

/* Decodes the properties of a replay. Returns whether a handle of 0 ends them. */
static bool walk_properties(enum ue_op op, struct ue_cursor *c, const struct ue_context *x) {
    bool do_checksum = false;
    ue_layout_flag(op, c, UE_F_BLOCK_DO_CHECKSUM, &do_checksum);
    for (;;) {
        struct ue_cursor ahead = *c;
        struct ue_property property;
        if (ue_cursor_read_packed(&ahead, 5, UE_F_PROPERTY_HANDLE) == 0) {
            *c = ahead;
            return ue_cursor_ok(c);
        }
        ue_property_run(op, c, x, &property);
    }
}

/* Values of a live connection have no length: what follows the first handle is known to those who know the class. */
static void trace_live_properties(struct ue_cursor *c) {
    size_t end = c->end;
    bool do_checksum = false;
    ue_layout_flag(UE_TRACE, c, UE_F_BLOCK_DO_CHECKSUM, &do_checksum);
    ue_layout_packed(UE_TRACE, c, UE_F_BLOCK_FIRST_HANDLE, 5, 0);
    if (ue_cursor_ok(c)) {
        size_t at = end - ZERO_HANDLE_BITS;
        bool zero = ue_bits_load(c->in, c->size_bytes, at, ZERO_HANDLE_BITS) == 0;
        ue_cursor_report_generated(c, UE_F_BLOCK_ENDS_WITH_ZERO, at, ZERO_HANDLE_BITS, zero);
    }
}

void ue_payload_trace(struct ue_cursor *outer, const struct ue_context *x, const struct ue_block *block) {
    struct ue_cursor c;
    ue_cursor_init_read(&c, block->payload.base, block->payload.bit, block->payload.bit + block->payload.bits);
    c.trace = outer->trace;
    if (block->has_rep_layout && !x->settings.internal_ack) {
        trace_live_properties(&c);
        return;
    }
    if (block->has_rep_layout) {
        struct ue_cursor ahead = c;
        if (!walk_properties(UE_DECODE, &ahead, x)) {
            return;
        }
        walk_properties(UE_TRACE, &c, x);
    }
    if (ue_cursor_left(&c) != 0) {
        trace_calls(&c, x);
    }
}

/* ---- values and properties whose class is known (protocol.md 23.7) ---- */

UE_INLINE void number_layout(enum ue_op op, struct ue_cursor *c, struct ue_value *m) {
    switch (m->type) {
    case UE_VALUE_BOOL: UINT(m->number, PROPERTY_DATA, 1); break;
    case UE_VALUE_BYTE: UINT(m->number, PROPERTY_DATA, 8); break;
    case UE_VALUE_INT32:
    case UE_VALUE_FLOAT: UINT(m->number, PROPERTY_DATA, 32); break;
    default: break;
    }
}

UE_INLINE void value_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_value *m) {
    REQUIRE(m->type < UE_VALUE_TYPE_COUNT, UE_E_TYPE, PROPERTY_DATA);
    number_layout(op, c, m);
    switch (m->type) {
    case UE_VALUE_STRING: TEXT(m->text, PROPERTY_DATA); break;
    case UE_VALUE_OBJECT: ue_reference_run(op, c, x, UE_F_PROPERTY_DATA, &m->object); break;
    case UE_VALUE_VECTOR: ue_packed_vector_run(op, c, x, &m->vector); break;
    case UE_VALUE_ROTATION: ue_rotation_run(op, c, x, &m->rotation); break;
    default: break;
    }
}

UE_INLINE void live_properties_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x,
                                      struct ue_live_properties *m) {
    (void)x;
    FLAG(m->do_checksum, BLOCK_DO_CHECKSUM);
}

UE_INLINE void live_property_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x,
                                    struct ue_live_property *m) {
    PACKED(m->handle, PROPERTY_HANDLE);
    const struct ue_class_property *property = ue_class_property_at(m->layout, m->handle);
    REQUIRE(property != NULL || m->handle == 0, UE_E_RANGE, PROPERTY_HANDLE);
    size_t at = ue_cursor_pos(c);
    if (property != NULL) {
        IMPLIED(m->value.type, PROPERTY_HANDLE, property->type);
        ue_value_run(op, c, x, &m->value);
    }
    DECODED_VIEW(m->value_bits, at);
}

UE_INLINE void parameter_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x,
                                struct ue_parameter *m) {
    if (m->value.type == UE_VALUE_BOOL) {
        IMPLIED(m->is_present, PROPERTY_DATA, true);
    } else {
        FLAG(m->is_present, PROPERTY_DATA);
    }
    if (m->is_present) {
        ue_value_run(op, c, x, &m->value);
    }
}

UE_DEFINE_CONTENT_RUN(ue_value, value_layout, struct ue_value)
UE_DEFINE_CONTENT_CODEC(ue_value, struct ue_value)
UE_DEFINE_CONTENT_RUN(ue_live_properties, live_properties_layout, struct ue_live_properties)
UE_DEFINE_CONTENT_CODEC(ue_live_properties, struct ue_live_properties)
UE_DEFINE_CONTENT_RUN(ue_live_property, live_property_layout, struct ue_live_property)
UE_DEFINE_CONTENT_CODEC(ue_live_property, struct ue_live_property)
UE_DEFINE_CONTENT_RUN(ue_parameter, parameter_layout, struct ue_parameter)
UE_DEFINE_CONTENT_CODEC(ue_parameter, struct ue_parameter)
