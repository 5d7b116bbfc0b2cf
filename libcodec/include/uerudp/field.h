/* SPDX-License-Identifier: MIT */
/* The field catalogue: identifiers, names, labels and value tables of all fields, which the plugin, the program and the
   documentation share. The rows are those of fields.def and field_value_names.def. */
#ifndef UERUDP_FIELD_H
#define UERUDP_FIELD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ue_field {
#define UE_FIELD(id, name, label, kind, values, description) UE_F_##id,
#include <uerudp/fields.def>
#undef UE_FIELD
    UE_FIELD_COUNT
};

enum ue_field_kind {
    UE_KIND_BOOL,
    UE_KIND_U8,
    UE_KIND_U16,
    UE_KIND_U32,
    UE_KIND_U64,
    UE_KIND_X32,
    UE_KIND_I32,
    UE_KIND_BYTES,
    UE_KIND_TEXT,
    UE_KIND_REAL,
    UE_KIND_STRING,
    UE_KIND_FRAME,
    UE_KIND_SPAN,
    UE_KIND_FLAG,
    UE_KIND_FINDING
};

enum ue_values {
    UE_VALUES_NONE,
#define UE_ENUM_BEGIN(table) UE_VALUES_##table,
#define UE_VALUE(number, name)
#define UE_ENUM_END(table)
#include <uerudp/field_value_names.def>
#undef UE_ENUM_BEGIN
#undef UE_VALUE
#undef UE_ENUM_END
    UE_VALUES_COUNT
};

/* One row of the catalogue; all texts are static. */
struct ue_field_row {
    const char *name; /* dotted key, for example "bunch.ch_seq" */
    const char *label;
    const char *description;
    enum ue_field_kind kind;
    enum ue_values values;
};

struct ue_value_name {
    uint32_t number;
    const char *name;
};

/* Indexed by enum ue_field. */
extern const struct ue_field_row ue_field_rows[UE_FIELD_COUNT];

/* The row of a field; the row of UE_F_NONE for a number that is no field. Never NULL. Inline because it is called for
   every field of a Wireshark tree. */
static inline const struct ue_field_row *ue_field_row(enum ue_field field) {
    return &ue_field_rows[(size_t)field < UE_FIELD_COUNT ? field : UE_F_NONE];
}

/* Finds a field by its dotted name. Returns UE_F_NONE when there is none. */
enum ue_field ue_field_find(const char *name);

/* The rows of a value table; sets *count to their number. Returns NULL and sets 0 for UE_VALUES_NONE. */
const struct ue_value_name *ue_values_names(enum ue_values table, size_t *count);

/* The name of a value; NULL when the table does not list it. */
const char *ue_values_name(enum ue_values table, uint64_t number);

#ifdef __cplusplus
}
#endif

#endif
