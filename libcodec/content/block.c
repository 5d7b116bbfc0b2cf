/* SPDX-License-Identifier: MIT */
#include <uerudp/block.h>

#include "libcodec/content/block.h"
#include "libcodec/content/object.h"
#include "libcodec/wire/layout_run.h"

/* An object that the client does not know by name is created or destroyed. Returns whether a payload follows. */
UE_INLINE bool unstable_object(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_block *m) {
    unsigned netver = ue_context_netver(x);
    FLAG_IF(netver >= 30, m->is_destroy, BLOCK_IS_DESTROY);
    if (m->is_destroy) {
        UINT(m->destroy_flags, BLOCK_DESTROY_FLAGS, 8);
        return false;
    }
    ue_reference_run(op, c, x, UE_F_BLOCK_CLASS, &m->class_object);
    if (ue_guid_is_null(&m->class_object.links[0].guid)) {
        return false;
    }
    if (netver >= 18) {
        FLAG(m->actor_is_outer, BLOCK_ACTOR_IS_OUTER);
        if (!m->actor_is_outer) {
            ue_reference_run(op, c, x, UE_F_BLOCK_OUTER, &m->outer);
        }
    }
    return true;
}

/* Returns whether a payload follows. */
UE_INLINE bool sub_object(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_block *m) {
    ue_reference_run(op, c, x, UE_F_BLOCK_GUID, &m->object);
    if (x->direction == UE_CLIENT_TO_SERVER) {
        return true;
    }
    FLAG(m->stably_named, BLOCK_STABLY_NAMED);
    return m->stably_named || unstable_object(op, c, x, m);
}

UE_INLINE void block_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_block *m) {
    BEGIN(BLOCK);
    FLAG(m->has_rep_layout, BLOCK_HAS_REP_LAYOUT);
    FLAG(m->is_actor, BLOCK_IS_ACTOR);
    bool has_payload = m->is_actor || sub_object(op, c, x, m);
    IMPLIED(m->has_payload, BLOCK_PAYLOAD, has_payload);
    if (has_payload) {
        VIEW_PACKED(m->payload, BLOCK_PAYLOAD_BITS, BLOCK_PAYLOAD);
        REPORT(ue_payload_trace(c, x, m));
    } else {
        ABSENT_VIEW(m->payload, BLOCK_PAYLOAD);
    }
    END(BLOCK, m);
}

UE_DEFINE_CONTENT_RUN(ue_block, block_layout, struct ue_block)
UE_DEFINE_CONTENT_CODEC(ue_block, struct ue_block)
