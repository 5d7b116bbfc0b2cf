/* SPDX-License-Identifier: MIT */
/* The layout of the prefix of datagrams. */
#ifndef UERUDP_LIBCODEC_WIRE_PREFIX_LAYOUT_H
#define UERUDP_LIBCODEC_WIRE_PREFIX_LAYOUT_H

#include <uerudp/prefix.h>
#include "libcodec/wire/layout_words.h"

/* Packets of replays have no prefix. */
UE_INLINE void prefix_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_prefix *m) {
    const struct ue_settings *s = &x->settings;
    bool live = !s->internal_ack;
    VIEW_IF(live && s->skip_bytes != 0, m->wrapper, WRAPPER, (size_t)s->skip_bytes * 8);
    if (live && s->magic_bits != 0) {
        UINT(m->magic, MAGIC, s->magic_bits);
    } else {
        ABSENT(m->magic, MAGIC, 0);
    }
    UINT_IF(live && x->ids, m->session_id, SESSION_ID, 2);
    UINT_IF(live && x->ids, m->client_id, CLIENT_ID, 3);
    FLAG_IF(live, m->is_handshake, IS_HANDSHAKE);
}

void ue_prefix_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_prefix *m);

#endif
