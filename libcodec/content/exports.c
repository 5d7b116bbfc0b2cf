/* SPDX-License-Identifier: MIT */
#include <uerudp/exports.h>

#include "libcodec/content/exports.h"
#include "libcodec/content/object.h"
#include "libcodec/wire/layout_run.h"

UE_INLINE void exports_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_exports *m) {
    (void)x;
    FLAG(m->has_rep_layout, EXPORT_HAS_REP_LAYOUT);
    UINT(m->count, EXPORT_COUNT, 32);
    REQUIRE(m->has_rep_layout || m->count <= UE_EXPORTS_MAX, UE_E_RANGE, EXPORT_COUNT);
}

UE_DEFINE_CONTENT_RUN(ue_exports, exports_layout, struct ue_exports)
UE_DEFINE_CONTENT_CODEC(ue_exports, struct ue_exports)

UE_INLINE void field_path(enum ue_op op, struct ue_cursor *c, struct ue_field_export *m) {
    PACKED(m->path_index, FIELD_EXPORT_PATH_INDEX);
    FLAG(m->has_path, FIELD_EXPORT_HAS_PATH);
    if (m->has_path) {
        TEXT(m->path, FIELD_EXPORT_PATH);
    } else {
        ABSENT_VIEW(m->path.units, FIELD_EXPORT_PATH);
        ABSENT(m->path.wide, FIELD_EXPORT_PATH, false);
    }
    UINT_IF(m->has_path, m->group_size, FIELD_EXPORT_GROUP_SIZE, 32);
}

UE_INLINE void field_name(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_field_export *m) {
    unsigned netver = ue_context_netver(x);
    bool is_name = m->exported != 0 && netver >= 10;
    FLAG_IF(is_name, m->name.hardcoded, FIELD_EXPORT_NAME_HARDCODED);
    PACKED_IF(m->name.hardcoded, m->name.index, FIELD_EXPORT_NAME_INDEX);
    if (m->exported != 0 && !m->name.hardcoded) {
        TEXT(m->name.text, FIELD_EXPORT_NAME);
    } else {
        ABSENT_VIEW(m->name.text.units, FIELD_EXPORT_NAME);
        ABSENT(m->name.text.wide, FIELD_EXPORT_NAME, false);
    }
    UINT_IF(is_name && !m->name.hardcoded, m->name.number, FIELD_EXPORT_NAME_NUMBER, 32);
    if (m->exported != 0 && netver < 9) {
        TEXT(m->type, FIELD_EXPORT_TYPE);
    } else {
        ABSENT_VIEW(m->type.units, FIELD_EXPORT_TYPE);
        ABSENT(m->type.wide, FIELD_EXPORT_TYPE, false);
    }
}

UE_INLINE void field_export_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x,
                                   struct ue_field_export *m) {
    BEGIN(FIELD_EXPORT);
    field_path(op, c, m);
    UINT(m->exported, FIELD_EXPORT_EXPORTED, 8);
    PACKED_IF(m->exported != 0, m->handle, FIELD_EXPORT_HANDLE);
    UINT_IF(m->exported != 0, m->checksum, FIELD_EXPORT_CHECKSUM, 32);
    field_name(op, c, x, m);
    END(FIELD_EXPORT);
}

UE_DEFINE_CONTENT_RUN(ue_field_export, field_export_layout, struct ue_field_export)
UE_DEFINE_CONTENT_CODEC(ue_field_export, struct ue_field_export)

/* Whether the view holds exactly `count` ids. */
static bool ids_are_whole(const struct ue_context *x, const struct ue_mapped *m) {
    struct ue_cursor c;
    ue_cursor_init_read(&c, m->ids.base, m->ids.bit, m->ids.bit + m->ids.bits);
    for (unsigned i = 0; i < m->count; i++) {
        struct ue_guid guid;
        ue_guid_run(UE_DECODE, &c, x, UE_F_MAPPED_GUID, &guid);
    }
    return ue_cursor_ok(&c) && ue_cursor_left(&c) == 0;
}

UE_INLINE void mapped_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_mapped *m) {
    BEGIN(MAPPED);
    UINT(m->count, MAPPED_COUNT, 16);
    if (op == UE_ENCODE) {
        REQUIRE(ids_are_whole(x, m), UE_E_CONFLICT, MAPPED_GUID);
        ue_cursor_write_view(c, m->ids, UE_F_MAPPED_GUID);
    } else {
        size_t at = ue_cursor_pos(c);
        for (unsigned i = 0; i < m->count && ue_cursor_ok(c); i++) {
            struct ue_guid guid;
            ue_guid_run(op, c, x, UE_F_MAPPED_GUID, &guid);
        }
        m->ids = (struct ue_view){c->in, at, ue_cursor_pos(c) - at};
    }
    END(MAPPED);
}

UE_DEFINE_CONTENT_RUN(ue_mapped, mapped_layout, struct ue_mapped)
UE_DEFINE_CONTENT_CODEC(ue_mapped, struct ue_mapped)
