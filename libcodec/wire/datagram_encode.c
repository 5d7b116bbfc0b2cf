/* SPDX-License-Identifier: MIT */
/* Encoding and building of datagrams: the writing half of datagram.h. */
#include <uerudp/datagram.h>

#include "libcodec/wire/bunch_layout.h"
#include "libcodec/wire/common_context.h"
#include "libcodec/wire/handlers.h"
#include "libcodec/wire/handshake.h"
#include "libcodec/wire/packet_layout.h"
#include "libcodec/wire/prefix_layout.h"

/* Runs the layout of a rare structure on a copy of the cursor, so that the cursor itself stays in registers. */
#define RUN_ON_COPY(run, c, x, m)                                                                                      \
    do {                                                                                                               \
        struct ue_cursor copy = *(c);                                                                                  \
        run(UE_ENCODE, &copy, (x), (m));                                                                               \
        *(c) = copy;                                                                                                   \
    } while (0)

UE_INLINE void write_item(struct ue_cursor *c, const struct ue_context *x, struct ue_item *item) {
    if (!item->is_ack && x->is_common) {
        const struct ue_context common = ue_common_context(x);
        bunch_layout(UE_ENCODE, c, &common, &item->bunch);
    } else if (!item->is_ack) {
        RUN_ON_COPY(ue_bunch_run, c, x, &item->bunch);
    } else if (x->profile.packet == UE_PACKET_LEGACY && !x->settings.internal_ack) {
        RUN_ON_COPY(ue_ack_run, c, x, &item->ack);
    } else {
        ue_cursor_fault_encode(c, UE_E_ABSENT, UE_F_LEGACY_IS_ACK);
    }
}

/* A handshake message or opaque content excludes items. */
UE_INLINE void require_no_items(struct ue_cursor *c, const struct ue_datagram *d) {
    if (d->item_count != 0) {
        ue_cursor_fault_encode(c, UE_E_ABSENT, UE_F_BUNCH_CONTROL);
    }
}

/* Packets of replays have no prefix. */
UE_INLINE void require_no_prefix(struct ue_cursor *c, const struct ue_prefix *m) {
    if (m->wrapper.bits != 0 || m->magic != 0 || (m->session_id | m->client_id) != 0 || m->is_handshake) {
        ue_cursor_fault_encode(c, UE_E_ABSENT, UE_F_IS_HANDSHAKE);
    }
}

UE_INLINE void write_prefix(struct ue_cursor *c, const struct ue_context *x, struct ue_prefix *m) {
    if (!x->settings.internal_ack) {
        prefix_layout(UE_ENCODE, c, x, m);
    } else {
        require_no_prefix(c, m);
    }
}

/* Writes handlers and packet header. */
UE_INLINE void write_header(struct ue_cursor *c, const struct ue_context *x, struct ue_datagram *d) {
    if (x->settings.handlers[0] != UE_HANDLER_NONE) {
        RUN_ON_COPY(ue_handlers_run, c, x, &d->handlers);
    } else if (d->handlers.is_opaque) {
        ue_cursor_fault_encode(c, UE_E_ABSENT, UE_F_HANDLER_CIPHERTEXT);
    }
    if (!d->handlers.is_opaque && !x->settings.internal_ack) {
        packet_layout(UE_ENCODE, c, x, &d->packet);
    }
}

UE_INLINE void write_inner_terminator(struct ue_cursor *c, const struct ue_context *x, size_t begin) {
    if (x->settings.terminators > 1) {
        ue_cursor_write_bits(c, 1, 1, UE_F_TERMINATOR);
        ue_cursor_write_bits(c, 0, (unsigned)ue_handlers_padding(x, begin, ue_cursor_pos(c)), UE_F_TERMINATOR);
    }
}

UE_INLINE void write_packet(struct ue_cursor *c, const struct ue_context *x, struct ue_datagram *d) {
    size_t begin = ue_cursor_pos(c);
    write_header(c, x, d);
    if (d->handlers.is_opaque) {
        require_no_items(c, d);
        return;
    }
    for (size_t i = 0; i < d->item_count && ue_cursor_ok(c); i++) {
        write_item(c, x, &d->items[i]);
    }
    write_inner_terminator(c, x, begin);
}

/* Completes one encoding step. */
UE_INLINE enum ue_status finish(struct ue_cursor *c, size_t *bit, struct ue_fault *fault) {
    ue_cursor_flush(c);
    *bit = ue_cursor_pos(c);
    *fault = c->fault;
    return c->fault.status;
}

enum ue_status ue_datagram_encode(const struct ue_context *context, const struct ue_datagram *datagram, uint8_t *bytes,
                                  size_t capacity_bytes, size_t *written_bytes, struct ue_fault *fault) {
    struct ue_datagram *d = (struct ue_datagram *)datagram; /* encoding only reads it */
    struct ue_cursor c;
    ue_cursor_init_write(&c, bytes, capacity_bytes, 0);
    write_prefix(&c, context, &d->prefix);
    if (d->prefix.is_handshake) {
        RUN_ON_COPY(ue_handshake_run, &c, context, &d->handshake);
        require_no_items(&c, d);
    } else {
        write_packet(&c, context, d);
    }
    ue_cursor_write_bits(&c, 1, 1, UE_F_TERMINATOR);
    size_t bit;
    enum ue_status status = finish(&c, &bit, fault);
    *written_bytes = ue_bits_bytes(bit);
    return status;
}

enum ue_status ue_datagram_encode_head(const struct ue_context *context, const struct ue_datagram *datagram,
                                       uint8_t *bytes, size_t size_bytes, size_t *bit, struct ue_fault *fault) {
    struct ue_datagram *d = (struct ue_datagram *)datagram;
    struct ue_cursor c;
    ue_cursor_init_write(&c, bytes, size_bytes, *bit);
    write_prefix(&c, context, &d->prefix);
    if (d->prefix.is_handshake) {
        ue_cursor_fault_encode(&c, UE_E_CONFLICT, UE_F_IS_HANDSHAKE);
    }
    write_header(&c, context, d);
    return finish(&c, bit, fault);
}

enum ue_status ue_item_encode(const struct ue_context *context, const struct ue_item *item, uint8_t *bytes,
                              size_t size_bytes, size_t *bit, struct ue_fault *fault) {
    struct ue_cursor c;
    ue_cursor_init_write(&c, bytes, size_bytes, *bit);
    write_item(&c, context, (struct ue_item *)item);
    return finish(&c, bit, fault);
}

/* Length of the prefix, which is where the handlers begin. */
static size_t prefix_bits(const struct ue_context *x) {
    return x->settings.internal_ack
               ? 0
               : (size_t)x->settings.skip_bytes * 8 + x->settings.magic_bits + (x->ids ? 5 : 0) + 1;
}

enum ue_status ue_datagram_encode_end(const struct ue_context *context, uint8_t *bytes, size_t size_bytes, size_t *bit,
                                      struct ue_fault *fault) {
    struct ue_cursor c;
    ue_cursor_init_write(&c, bytes, size_bytes, *bit);
    write_inner_terminator(&c, context, prefix_bits(context));
    ue_cursor_write_bits(&c, 1, 1, UE_F_TERMINATOR);
    return finish(&c, bit, fault);
}

enum ue_status ue_datagram_build(const struct ue_context *context, const struct ue_field_source *source,
                                 struct ue_datagram *datagram, struct ue_fault *fault) {
    struct ue_cursor c = {.canonical = true, .source = source};
    datagram->prefix = (struct ue_prefix){0};
    if (!context->settings.internal_ack) {
        ue_prefix_run(UE_BUILD, &c, context, &datagram->prefix);
    }
    if (datagram->prefix.is_handshake) {
        ue_handshake_run(UE_BUILD, &c, context, &datagram->handshake);
    } else {
        ue_handlers_run(UE_BUILD, &c, context, &datagram->handlers);
        if (!datagram->handlers.is_opaque && !context->settings.internal_ack) {
            ue_packet_run(UE_BUILD, &c, context, &datagram->packet);
        }
    }
    datagram->item_count = 0;
    *fault = c.fault;
    return c.fault.status;
}

enum ue_status ue_item_build(const struct ue_context *context, const struct ue_field_source *source,
                             struct ue_item *item, struct ue_fault *fault) {
    struct ue_cursor c = {.canonical = true, .source = source};
    bool legacy = context->profile.packet == UE_PACKET_LEGACY && !context->settings.internal_ack;
    item->is_ack = legacy && ue_cursor_build_number(&c, UE_F_LEGACY_IS_ACK, 0, 1) != 0;
    if (item->is_ack) {
        ue_ack_run(UE_BUILD, &c, context, &item->ack);
    } else {
        ue_bunch_run(UE_BUILD, &c, context, &item->bunch);
    }
    *fault = c.fault;
    return c.fault.status;
}
