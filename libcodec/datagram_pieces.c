/* SPDX-License-Identifier: MIT */
/* Reading any datagram piece by piece: datagram.h. */
#include "libcodec/layouts.h"

/* The outer terminator stands in the last byte; the inner one is the last bit set before it. */
static void cut_terminator(struct ue_cursor *c, bool outer) {
    size_t begin = ue_cursor_pos(c);
    if (outer && c->end > begin + 8) {
        begin = c->end - 8;
    }
    size_t at;
    if (!ue_cursor_ok(c)) {
        return;
    }
    if (c->end <= begin || !ue_bits_last_set(c->in, begin, c->end, &at)) {
        ue_cursor_fault(c, c->end == 0 ? UE_E_TRUNCATED : UE_E_TERMINATOR, UE_F_TERMINATOR, c->end);
        return;
    }
    c->end = at;
    ue_cursor_seek(c, ue_cursor_pos(c));
}

static void read_packet(struct ue_cursor *c, const struct ue_context *x, struct ue_datagram *d) {
    if (x->settings.handlers[0] != UE_HANDLER_NONE) {
        ue_handlers_run(UE_DECODE, c, x, &d->handlers);
    }
    if (d->handlers.is_opaque || !ue_cursor_ok(c)) {
        return;
    }
    if (x->settings.terminators > 1) {
        cut_terminator(c, false);
    }
    if (!x->settings.internal_ack) {
        ue_packet_run(UE_DECODE, c, x, &d->packet);
    }
}

static void read_handshake(struct ue_cursor *c, const struct ue_context *x, struct ue_datagram *d) {
    ue_handshake_run(UE_DECODE, c, x, &d->handshake);
    if (ue_cursor_left(c) != 0) {
        ue_cursor_fault(c, UE_E_TRAILING, UE_F_HANDSHAKE_RANDOM, ue_cursor_pos(c));
    }
}

enum ue_status ue_datagram_decode_head_any(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                           struct ue_datagram *datagram, struct ue_rest *rest, struct ue_fault *fault) {
    struct ue_cursor c;
    ue_cursor_read(&c, bytes, 0, size_bytes * 8);
    datagram->prefix = (struct ue_prefix){0};
    datagram->handlers.is_opaque = false;
    datagram->item_count = 0;
    cut_terminator(&c, true);
    if (!context->settings.internal_ack) {
        ue_prefix_run(UE_DECODE, &c, context, &datagram->prefix);
    }
    if (ue_cursor_ok(&c) && datagram->prefix.is_handshake) {
        read_handshake(&c, context, datagram);
    } else if (ue_cursor_ok(&c)) {
        read_packet(&c, context, datagram);
    }
    rest->bit = ue_cursor_pos(&c);
    rest->end_bit = c.end;
    *fault = c.fault;
    return c.fault.status;
}

enum ue_status ue_item_decode_any(const struct ue_context *context, const uint8_t *bytes, struct ue_rest *rest,
                                  struct ue_item *item, struct ue_fault *fault) {
    struct ue_cursor c;
    ue_cursor_read(&c, bytes, rest->bit, rest->end_bit);
    item->is_ack = context->profile.packet == UE_PACKET_LEGACY && !context->settings.internal_ack &&
                   rest->bit < rest->end_bit && ue_bits_load(bytes, ue_bits_bytes(rest->end_bit), rest->bit, 1) != 0;
    if (item->is_ack) {
        ue_ack_run(UE_DECODE, &c, context, &item->ack);
    } else {
        ue_bunch_run(UE_DECODE, &c, context, &item->bunch);
    }
    rest->bit = ue_cursor_pos(&c);
    *fault = c.fault;
    return c.fault.status;
}
