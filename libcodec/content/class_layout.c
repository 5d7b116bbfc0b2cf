/* SPDX-License-Identifier: MIT */
#include <uerudp/class_layout.h>

/* The fields of a class are in the order of their names up to this EngineNetVer; later its properties precede its
   functions (protocol.md 23.7). */
#define NETVER_FIELDS_BY_NAME_MAX 14

const char *ue_value_type_name(enum ue_value_type type) {
    static const char *const names[UE_VALUE_TYPE_COUNT] = {
        [UE_VALUE_BOOL] = "bool",         [UE_VALUE_BYTE] = "uint8",
        [UE_VALUE_INT32] = "int32",       [UE_VALUE_FLOAT] = "float",
        [UE_VALUE_STRING] = "FString",    [UE_VALUE_OBJECT] = "UObject*",
        [UE_VALUE_ROTATION] = "FRotator", [UE_VALUE_VECTOR] = "FVector_NetQuantize10",
    };
    return names[type];
}

/* ---- handles ---- */

uint32_t ue_class_handle_count(const struct ue_class *layout) {
    uint32_t count = 0;
    for (; layout != NULL; layout = layout->parent) {
        count += layout->property_count;
    }
    return count;
}

const struct ue_class_property *ue_class_property_at(const struct ue_class *layout, uint32_t handle) {
    for (; layout != NULL && handle != 0; layout = layout->parent) {
        uint32_t before = ue_class_handle_count(layout->parent);
        if (handle > before) {
            return handle - before <= layout->property_count ? &layout->properties[handle - before - 1] : NULL;
        }
    }
    return NULL;
}

/* ---- fields ---- */

uint32_t ue_class_field_count(const struct ue_class *layout) {
    uint32_t count = 0;
    for (; layout != NULL; layout = layout->parent) {
        count += layout->property_count + layout->function_count;
    }
    return count;
}

static int lower(char c) {
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static bool is_before(const char *a, const char *b) {
    while (*a != '\0' && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return lower(*a) < lower(*b);
}

/* The position of a function among the fields of its own class. */
static uint32_t own_index(const struct ue_context *x, const struct ue_class *layout, const char *name) {
    bool by_name = ue_context_netver(x) <= NETVER_FIELDS_BY_NAME_MAX;
    uint32_t index = by_name ? 0 : layout->property_count;
    for (uint32_t i = 0; by_name && i < layout->property_count; i++) {
        index += is_before(layout->properties[i].name, name);
    }
    for (uint32_t i = 0; i < layout->function_count; i++) {
        index += is_before(layout->functions[i].name, name);
    }
    return index;
}

uint32_t ue_class_field_index(const struct ue_context *context, const struct ue_class *layout,
                              const struct ue_class_function *function) {
    for (; layout != NULL; layout = layout->parent) {
        for (uint32_t i = 0; i < layout->function_count; i++) {
            if (&layout->functions[i] == function) {
                return ue_class_field_count(layout->parent) + own_index(context, layout, function->name);
            }
        }
    }
    return UINT32_MAX;
}

const struct ue_class_function *ue_class_function_at(const struct ue_context *context, const struct ue_class *layout,
                                                     uint32_t index) {
    for (; layout != NULL; layout = layout->parent) {
        for (uint32_t i = 0; i < layout->function_count; i++) {
            if (ue_class_field_index(context, layout, &layout->functions[i]) == index) {
                return &layout->functions[i];
            }
        }
    }
    return NULL;
}

unsigned ue_class_spawn_bits(const struct ue_context *context, const struct ue_class *layout) {
    unsigned with_handshake_id = ue_context_netver(context) >= 41 ? 40 : 8;
    return layout->is_player_controller ? with_handshake_id : 0;
}
