/* SPDX-License-Identifier: MIT */
#include <uerudp/field.h>

#include <string.h>

const struct ue_field_row ue_field_rows[UE_FIELD_COUNT] = {
#define UE_FIELD(id, name, label, kind, values, description)                                                           \
    [UE_F_##id] = {name, label, description, UE_KIND_##kind, UE_VALUES_##values},
#include <uerudp/fields.def>
#undef UE_FIELD
};

#define UE_ENUM_BEGIN(table) static const struct ue_value_name names_##table[] = {
#define UE_VALUE(number, name) {number, name},
#define UE_ENUM_END(table)                                                                                             \
    }                                                                                                                  \
    ;
#include <uerudp/field_value_names.def>
#undef UE_ENUM_BEGIN
#undef UE_VALUE
#undef UE_ENUM_END

static const struct {
    const struct ue_value_name *names;
    size_t count;
} tables[UE_VALUES_COUNT] = {
#define UE_ENUM_BEGIN(table) [UE_VALUES_##table] = {names_##table, sizeof names_##table / sizeof *names_##table},
#define UE_VALUE(number, name)
#define UE_ENUM_END(table)
#include <uerudp/field_value_names.def>
#undef UE_ENUM_BEGIN
#undef UE_VALUE
#undef UE_ENUM_END
};

enum ue_field ue_field_find(const char *name) {
    for (size_t i = 1; i < UE_FIELD_COUNT; i++) {
        if (strcmp(ue_field_rows[i].name, name) == 0) {
            return (enum ue_field)i;
        }
    }
    return UE_F_NONE;
}

const struct ue_value_name *ue_values_names(enum ue_values table, size_t *count) {
    *count = tables[table].count;
    return tables[table].names;
}

const char *ue_values_name(enum ue_values table, uint64_t number) {
    const struct ue_value_name *names = tables[table].names;
    size_t count = tables[table].count;
    if (number < count && names[number].number == number) { /* most tables have each number from 0 on */
        return names[number].name;
    }
    for (size_t i = 0; i < count; i++) {
        if (names[i].number == number) {
            return names[i].name;
        }
    }
    return NULL;
}
