/* SPDX-License-Identifier: MIT */
/* Encoding and building of datagrams: the writing half of datagram.h. */
#include <uerudp/datagram.h>

#include "libcodec/wire/common_context.h"
#include "libcodec/wire/datagram_layout.h"

UE_INLINE void write_item(struct ue_cursor *c, const struct ue_context *x, struct ue_item *item) {
    if (x->is_common && !item->is_ack) {
        const struct ue_context common = ue_common_context(x);
        bunch_layout(UE_ENCODE, c, &common, &item->bunch);
    } else {
        struct ue_cursor copy = *c;
        ue_item_run(UE_ENCODE, &copy, x, item);
        *c = copy;
    }
}

/* Completes one encoding step. */
UE_INLINE enum ue_status finish(struct ue_cursor *c, size_t *bit, struct ue_fault *fault) {
    ue_cursor_flush(c);
    *bit = ue_cursor_pos(c);
    *fault = c->fault;
    return c->fault.status;
}

/* Encoding only reads the datagram. */
UE_INLINE struct ue_head head_of(const struct ue_datagram *datagram) {
    return (struct ue_head){.datagram = (struct ue_datagram *)datagram, .framing = UE_FRAMING_DATAGRAM};
}

enum ue_status ue_datagram_encode(const struct ue_context *context, const struct ue_datagram *datagram, uint8_t *bytes,
                                  size_t capacity_bytes, size_t *written_bytes, struct ue_fault *fault) {
    struct ue_head head = head_of(datagram);
    struct ue_cursor c;
    ue_cursor_init_write(&c, bytes, capacity_bytes, 0);
    head_layout(UE_ENCODE, &c, context, &head);
    if (datagram->item_count != 0 && (datagram->prefix.is_handshake || datagram->handlers.is_opaque)) {
        ue_cursor_fault_encode(&c, UE_E_ABSENT, UE_F_BUNCH_CONTROL);
    }
    for (size_t i = 0; i < datagram->item_count && ue_cursor_ok(&c); i++) {
        write_item(&c, context, &datagram->items[i]);
    }
    end_layout(UE_ENCODE, &c, context, &head);
    size_t bit;
    enum ue_status status = finish(&c, &bit, fault);
    *written_bytes = ue_bits_bytes(bit);
    return status;
}

enum ue_status ue_datagram_encode_head(const struct ue_context *context, const struct ue_datagram *datagram,
                                       uint8_t *bytes, size_t size_bytes, size_t *bit, struct ue_fault *fault) {
    struct ue_head head = head_of(datagram);
    struct ue_cursor c;
    ue_cursor_init_write(&c, bytes, size_bytes, *bit);
    if (datagram->prefix.is_handshake) {
        ue_cursor_fault_encode(&c, UE_E_CONFLICT, UE_F_IS_HANDSHAKE);
    }
    head_layout(UE_ENCODE, &c, context, &head);
    return finish(&c, bit, fault);
}

enum ue_status ue_item_encode(const struct ue_context *context, const struct ue_item *item, uint8_t *bytes,
                              size_t size_bytes, size_t *bit, struct ue_fault *fault) {
    struct ue_cursor c;
    ue_cursor_init_write(&c, bytes, size_bytes, *bit);
    write_item(&c, context, (struct ue_item *)item);
    return finish(&c, bit, fault);
}

/* The handlers of the datagram that is being written begin after its prefix. */
static size_t handlers_bit(const struct ue_context *x, const uint8_t *bytes, size_t bit) {
    struct ue_prefix prefix;
    struct ue_cursor c;
    ue_cursor_init_read(&c, bytes, 0, bit);
    ue_prefix_run(UE_DECODE, &c, x, &prefix);
    return ue_cursor_pos(&c);
}

enum ue_status ue_datagram_encode_end(const struct ue_context *context, uint8_t *bytes, size_t size_bytes, size_t *bit,
                                      struct ue_fault *fault) {
    const struct ue_datagram packet = {.item_count = 0};
    struct ue_head head = head_of(&packet);
    struct ue_cursor c;
    if (context->settings.handlers[0] != UE_HANDLER_NONE) {
        head.handlers_bit = handlers_bit(context, bytes, *bit);
    }
    ue_cursor_init_write(&c, bytes, size_bytes, *bit);
    end_layout(UE_ENCODE, &c, context, &head);
    return finish(&c, bit, fault);
}

enum ue_status ue_datagram_build(const struct ue_context *context, const struct ue_field_source *source,
                                 struct ue_datagram *datagram, struct ue_fault *fault) {
    struct ue_head head = head_of(datagram);
    struct ue_cursor c = {.canonical = true, .source = source};
    ue_head_run(UE_BUILD, &c, context, &head);
    datagram->item_count = 0;
    *fault = c.fault;
    return c.fault.status;
}

enum ue_status ue_item_build(const struct ue_context *context, const struct ue_field_source *source,
                             struct ue_item *item, struct ue_fault *fault) {
    struct ue_cursor c = {.canonical = true, .source = source};
    ue_item_run(UE_BUILD, &c, context, item);
    *fault = c.fault;
    return c.fault.status;
}
