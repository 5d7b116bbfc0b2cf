/* SPDX-License-Identifier: MIT */
#include <uerudp/exports.h>

#include "libcodec/content/exports.h"
#include "libcodec/content/object.h"
#include "libcodec/wire/layout_run.h"

UE_INLINE void exports_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_exports *m) {
    (void)x;
    FLAG(m->has_rep_layout, EXPORT_HAS_REP_LAYOUT);
    UINT(m->count, EXPORT_COUNT, 32);
    REQUIRE(m->count <= (m->has_rep_layout ? UE_FIELD_EXPORTS_MAX : UE_EXPORTS_MAX), UE_E_RANGE, EXPORT_COUNT);
}

UE_DEFINE_CONTENT_RUN(ue_exports, exports_layout, struct ue_exports)
UE_DEFINE_CONTENT_CODEC(ue_exports, struct ue_exports)

UE_INLINE void field_path(enum ue_op op, struct ue_cursor *c, struct ue_field_export *m) {
    PACKED(m->path_index, FIELD_EXPORT_PATH_INDEX);
    FLAG(m->has_path, FIELD_EXPORT_HAS_PATH);
    TEXT_IF(m->has_path, m->path, FIELD_EXPORT_PATH);
    UINT_IF(m->has_path, m->group_size, FIELD_EXPORT_GROUP_SIZE, 32);
}

UE_INLINE void field_name(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_field_export *m) {
    unsigned netver = ue_context_netver(x);
    bool is_name = m->exported != 0 && netver >= 10;
    FLAG_IF(is_name, m->name.hardcoded, FIELD_EXPORT_NAME_HARDCODED);
    PACKED_IF(m->name.hardcoded, m->name.index, FIELD_EXPORT_NAME_INDEX);
    TEXT_IF(m->exported != 0 && !m->name.hardcoded, m->name.text, FIELD_EXPORT_NAME);
    UINT_IF(is_name && !m->name.hardcoded, m->name.number, FIELD_EXPORT_NAME_NUMBER, 32);
    TEXT_IF(m->exported != 0 && netver < 9, m->type, FIELD_EXPORT_TYPE);
}

UE_INLINE void field_export_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x,
                                   struct ue_field_export *m) {
    BEGIN(FIELD_EXPORT);
    field_path(op, c, m);
    UINT(m->exported, FIELD_EXPORT_EXPORTED, 8);
    PACKED_IF(m->exported != 0, m->handle, FIELD_EXPORT_HANDLE);
    UINT_IF(m->exported != 0, m->checksum, FIELD_EXPORT_CHECKSUM, 32);
    field_name(op, c, x, m);
    END(FIELD_EXPORT, m);
}

UE_DEFINE_CONTENT_RUN(ue_field_export, field_export_layout, struct ue_field_export)
UE_DEFINE_CONTENT_CODEC(ue_field_export, struct ue_field_export)

static void mapped_id(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field field) {
    struct ue_guid guid;
    ue_guid_run(op, c, x, field, &guid);
}

UE_INLINE void mapped_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_mapped *m) {
    BEGIN(MAPPED);
    UINT(m->count, MAPPED_COUNT, 16);
    ELEMENTS(m->ids, MAPPED_GUID, m->count, mapped_id);
    END(MAPPED, m);
}

UE_DEFINE_CONTENT_RUN(ue_mapped, mapped_layout, struct ue_mapped)
UE_DEFINE_CONTENT_CODEC(ue_mapped, struct ue_mapped)
