/* SPDX-License-Identifier: MIT */
#include <uerudp/object.h>

#include "libcodec/content/object.h"
#include "libcodec/wire/layout_run.h"

#define NUMBER_BITS 64

/* The id of an object for which the sender has none: its name follows (protocol.md 23.1). */
#define GUID_DEFAULT 1

struct ue_guid ue_guid_fixed(struct ue_view bits) {
    return (struct ue_guid){
        .number = ue_view_load(bits, 0, NUMBER_BITS),
        .rest = {bits.base, bits.bit + NUMBER_BITS, bits.bits - NUMBER_BITS},
    };
}

bool ue_guid_is_null(const struct ue_guid *guid) {
    uint64_t bits = guid->number;
    for (size_t at = 0; at < guid->rest.bits; at += NUMBER_BITS) {
        size_t left = guid->rest.bits - at;
        bits |= ue_view_load(guid->rest, at, left < NUMBER_BITS ? (unsigned)left : NUMBER_BITS);
    }
    return bits == 0;
}

bool ue_guid_is_dynamic(const struct ue_guid *guid) {
    return (guid->number & 1) == 0 && !ue_guid_is_null(guid);
}

UE_INLINE void guid_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field field,
                           struct ue_guid *m) {
    if (x->settings.guid_bits >= NUMBER_BITS) {
        WIDE_AS(m->number, m->rest, field, x->settings.guid_bits);
    } else {
        PACKED64_AS(m->number, field);
        ABSENT_VIEW(m->rest, EXPORT_GUID);
    }
}

void ue_guid_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field field,
                 struct ue_guid *m) {
    switch (op) {
    case UE_DECODE: guid_layout(UE_DECODE, c, x, field, m); break;
    case UE_ENCODE: guid_layout(UE_ENCODE, c, x, field, m); break;
    case UE_TRACE: guid_layout(UE_TRACE, c, x, field, m); break;
    case UE_BUILD:
    case UE_DECODE_FAST: break;
    }
}

/* The part of a link before its outer object. In exports and outer objects the id is inside the group; in references
   the group contains only the name. */
UE_INLINE bool link_head(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field field,
                         bool exporting, struct ue_object_link *m) {
    bool grouped = field == UE_F_EXPORT_GUID;
    if (grouped) {
        BEGIN(EXPORT);
    }
    guid_layout(op, c, x, field, &m->guid);
    bool named = (exporting || m->guid.number == GUID_DEFAULT) && !ue_guid_is_null(&m->guid);
    if (named && !grouped) {
        BEGIN(EXPORT);
    }
    UINT_IF(named, m->flags, EXPORT_FLAGS, 8);
    return grouped || named;
}

/* The part of a link after its outer object. */
UE_INLINE void link_tail(enum ue_op op, struct ue_cursor *c, struct ue_object_link *m) {
    bool has_path = (m->flags & UE_EXPORT_HAS_PATH) != 0;
    TEXT_IF(has_path, m->name, EXPORT_PATH);
    UINT_IF(has_path && (m->flags & UE_EXPORT_HAS_CHECKSUM) != 0, m->checksum, EXPORT_CHECKSUM, 32);
}

UE_INLINE void object_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field field,
                             bool exporting, struct ue_object *m) {
    unsigned count = 0;
    bool first_grouped = false;
    bool more;
    do {
        struct ue_object_link *link = &m->links[count];
        bool grouped = link_head(op, c, x, count == 0 ? field : UE_F_EXPORT_GUID, exporting, link);
        first_grouped |= count == 0 && grouped;
        count++;
        more = (link->flags & UE_EXPORT_HAS_PATH) != 0;
        unsigned most = AT_MOST(m->count, UE_OBJECT_LINKS_MAX);
        REQUIRE(!more || count != most, UE_E_RANGE, EXPORT_FLAGS);
        more &= count != most;
    } while (more);
    IMPLIED(m->count, EXPORT_FLAGS, count);
    while (count-- > 0) {
        link_tail(op, c, &m->links[count]);
        if (first_grouped || count > 0) {
            END(EXPORT, &m->links[count]);
        }
    }
}

UE_INLINE void export_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_object *m) {
    object_layout(op, c, x, UE_F_EXPORT_GUID, true, m);
}

UE_DEFINE_CONTENT_RUN(ue_export, export_layout, struct ue_object)
UE_DEFINE_CONTENT_CODEC(ue_export, struct ue_object)

void ue_reference_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field field,
                      struct ue_object *m) {
    switch (op) {
    case UE_DECODE: object_layout(UE_DECODE, c, x, field, false, m); break;
    case UE_ENCODE: object_layout(UE_ENCODE, c, x, field, false, m); break;
    case UE_TRACE: object_layout(UE_TRACE, c, x, field, false, m); break;
    case UE_BUILD:
    case UE_DECODE_FAST: break;
    }
}
