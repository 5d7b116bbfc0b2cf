/* SPDX-License-Identifier: MIT */
/* The layouts of whole datagrams (protocol.md 1): the head, items, and the end. */
#ifndef UERUDP_LIBCODEC_WIRE_DATAGRAM_LAYOUT_H
#define UERUDP_LIBCODEC_WIRE_DATAGRAM_LAYOUT_H

#include <uerudp/datagram.h>
#include "libcodec/wire/bunch.h"
#include "libcodec/wire/handlers.h"
#include "libcodec/wire/handshake.h"
#include "libcodec/wire/packet_layout.h"
#include "libcodec/wire/prefix_layout.h"

/* What surrounds a packet: in a datagram a prefix and two terminators; in decrypted content, no prefix, and what the
   component that encrypted it restores. */
struct ue_framing {
    bool has_prefix;
    bool has_outer; /* the outer terminator */
    enum ue_padding outer;
    enum ue_padding inner;
};

#define UE_FRAMING_DATAGRAM ((struct ue_framing){true, true, UE_PADDING_BYTE, UE_PADDING_NONE})

/* The head of a datagram and what its end depends on. */
struct ue_head {
    struct ue_datagram *datagram;
    struct ue_framing framing;
    const struct ue_packet_ids *packet_ids; /* for traces; may be NULL */
    size_t handlers_bit;                    /* where the handlers begin */
    size_t inner, outer;                    /* the terminators, when decoding */
    bool has_packet;                        /* a packet header was reached */
};

/* Reports what the connection's history adds to a packet header, which begins at bit `at`. */
void ue_packet_ids_report(struct ue_cursor *c, const struct ue_context *x, const struct ue_packet_ids *packet_ids,
                          const struct ue_packet *packet, size_t at);

UE_INLINE size_t padding_after(const struct ue_context *x, const struct ue_head *m, size_t end) {
    return x->settings.handlers[0] == UE_HANDLER_NONE ? 0 : ue_handlers_padding(x, m->handlers_bit, end);
}

UE_INLINE bool has_inner_terminator(const struct ue_context *x, const struct ue_datagram *d) {
    return x->settings.terminators > 1 && !d->prefix.is_handshake && !d->handlers.is_opaque;
}

UE_INLINE void packet_head(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_head *m) {
    struct ue_datagram *d = m->datagram;
    m->handlers_bit = ue_cursor_pos(c);
    if (x->settings.handlers[0] != UE_HANDLER_NONE) {
        STRUCT(ue_handlers, d->handlers);
    } else {
        ABSENT(d->handlers.is_opaque, HANDLER_CIPHERTEXT, false);
    }
    if (has_inner_terminator(x, d)) {
        UNTIL(m->inner, m->framing.inner, padding_after(x, m, m->inner + 1));
    }
    if (!d->handlers.is_opaque && !x->settings.internal_ack) {
        BEGIN(PACKET);
        size_t at = ue_cursor_pos(c);
        packet_layout(op, c, x, &d->packet);
        REPORT(ue_packet_ids_report(c, x, m->packet_ids, &d->packet, at));
        END(PACKET, &d->packet);
        m->has_packet = true;
    }
}

/* Prefix, then a handshake message, or handlers and packet header. */
UE_INLINE void head_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_head *m) {
    if (m->framing.has_outer) {
        UNTIL(m->outer, m->framing.outer, 0);
    }
    if (m->framing.has_prefix) {
        prefix_layout(op, c, x, &m->datagram->prefix);
    }
    if (m->datagram->prefix.is_handshake) {
        STRUCT(ue_handshake, m->datagram->handshake);
        COMPLETE(HANDSHAKE_RANDOM);
    } else if (ue_cursor_ok(c)) {
        packet_head(op, c, x, m);
    }
}

/* An item: a bunch, or, in legacy packets, an ack. */
UE_INLINE void item_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_item *m) {
    bool legacy = x->profile.packet == UE_PACKET_LEGACY && !x->settings.internal_ack;
    AHEAD_IF(legacy, m->is_ack, LEGACY_IS_ACK);
    if (m->is_ack) {
        STRUCT(ue_ack, m->ack);
    } else {
        bunch_layout(op, c, x, &m->bunch);
    }
}

/* The terminators, after the last item. */
UE_INLINE void end_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_head *m) {
    if (has_inner_terminator(x, m->datagram)) {
        TERMINATOR(m->inner, padding_after(x, m, ue_cursor_pos(c)));
    }
    if (m->framing.has_outer) {
        TERMINATOR(m->outer, 0);
    }
}

void ue_head_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_head *m);
void ue_item_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_item *m);
void ue_datagram_end_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_head *m);

#endif
