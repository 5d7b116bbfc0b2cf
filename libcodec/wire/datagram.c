/* SPDX-License-Identifier: MIT */
#include <uerudp/datagram.h>

#include <uerudp/seq.h>
#include "libcodec/wire/datagram.h"
#include "libcodec/wire/datagram_layout.h"
#include "libcodec/wire/layout_run.h"
#include "libcodec/wire/message.h"

UE_DEFINE_RUN(ue_prefix, prefix_layout, struct ue_prefix)

UE_DEFINE_RUN(ue_packet, packet_layout, struct ue_packet)

UE_DEFINE_RUN(ue_ack, ack_layout, struct ue_ack)

UE_DEFINE_RUN(ue_head, head_layout, struct ue_head)

UE_DEFINE_RUN(ue_item, item_layout, struct ue_item)

UE_DEFINE_RUN(ue_datagram_end, end_layout, struct ue_head)

/* The slow path of decoding, and tracing: one pass over a datagram. */
struct datagram_pass {
    enum ue_op op; /* UE_DECODE or UE_TRACE */
    struct ue_cursor c;
    const struct ue_context *x;
    struct ue_head head;
    bool keeps;     /* the datagram is the caller's: stores the items, and leaves encrypted content opaque */
    bool has_items; /* decodes the items, too */
    const struct ue_visitor *visitor;
    struct ue_decode_result *result;
};

static void count_item(void *user, const struct ue_item *item) {
    ue_bunch_counts_add(user, item);
}

struct ue_visitor ue_bunch_counter(struct ue_bunch_counts *counts) {
    *counts = (struct ue_bunch_counts){0};
    return (struct ue_visitor){.item = count_item, .user = counts};
}

bool ue_bunch_has_messages(const struct ue_context *context, const struct ue_bunch *bunch) {
    return bunch->channel == 0 && !bunch->partial && !bunch->has_exports && !bunch->has_mapped &&
           bunch->data.bits != 0 && !context->settings.internal_ack;
}

static struct ue_item *next_item(struct datagram_pass *p, struct ue_item *scratch) {
    const struct ue_datagram *into = p->head.datagram;
    size_t index = p->result->item_count;
    if (!p->keeps) {
        return scratch;
    }
    if (index == into->item_capacity) {
        ue_cursor_fault(&p->c, UE_E_FULL, UE_F_NONE, ue_cursor_pos(&p->c));
        return scratch;
    }
    return &into->items[index];
}

static void run_items(struct datagram_pass *p) {
    struct ue_item scratch = {.is_ack = false};
    size_t agreed_bits = p->x->agreed_bits;
    while (ue_cursor_left(&p->c) != 0) {
        struct ue_item *item = next_item(p, &scratch);
        if (agreed_bits != 0 && ue_cursor_pos(&p->c) >= agreed_bits) {
            ue_cursor_fault(&p->c, UE_E_TRUNCATED, UE_F_NONE, ue_cursor_pos(&p->c));
        }
        if (!ue_cursor_ok(&p->c)) {
            return;
        }
        ue_item_run(p->op, &p->c, p->x, item);
        p->result->item_count += ue_cursor_ok(&p->c);
        if (item->is_ack && ue_cursor_ok(&p->c) &&
            (p->result->ack < 0 || ue_seq_newer(item->ack.ack_id, (uint32_t)p->result->ack))) {
            p->result->ack = item->ack.ack_id;
        }
        if (p->visitor != NULL && ue_cursor_ok(&p->c)) {
            p->visitor->item(p->visitor->user, item);
        }
    }
}

static void run(struct datagram_pass *p);

/* Index of the component whose content is encrypted or compressed. */
static size_t opaque_component(const struct ue_handlers *handlers) {
    size_t i = 0;
    while (i + 1 < UE_HANDLERS_MAX && !handlers->components[i].encrypted && !handlers->components[i].compressed) {
        i++;
    }
    return i;
}

/* Decodes plaintext: a packet in a context without the components up to and including the one that encrypted it. */
static void run_plain(struct datagram_pass *p, size_t component, const struct ue_plaintext *plaintext) {
    const struct ue_context *outer = p->x;
    struct ue_context x = *outer;
    enum ue_handler handler = outer->settings.handlers[component];
    bool whole_bytes = handler == UE_HANDLER_AESGCM_BYTES;
    for (size_t i = 0; i < UE_HANDLERS_MAX; i++) {
        size_t from = i + component + 1;
        x.settings.handlers[i] = from < UE_HANDLERS_MAX ? outer->settings.handlers[from] : UE_HANDLER_NONE;
    }
    const struct ue_trace *trace = p->c.trace;
    ue_cursor_init_read(&p->c, plaintext->plain, 0, plaintext->plain_bytes * 8);
    p->c.trace = trace;
    p->x = &x;
    p->result->is_opened = true;
    p->result->closed_by = UE_HANDLER_NONE;
    p->head.framing = (struct ue_framing){
        .has_outer = !whole_bytes,
        .outer = handler == UE_HANDLER_AES_ECB ? UE_PADDING_BYTES : UE_PADDING_BYTE,
        .inner = whole_bytes ? UE_PADDING_BYTES : UE_PADDING_NONE,
    };
    ue_cursor_begin_group(&p->c, UE_GROUP_OPENED);
    run(p);
    ue_cursor_end_group(&p->c, UE_GROUP_OPENED, NULL);
    p->x = outer;
}

/* Returns whether encrypted content was decrypted and decoded. */
static bool decrypt(struct datagram_pass *p) {
    const struct ue_handlers *handlers = &p->head.datagram->handlers;
    const struct ue_decryptor *decryptor = p->x->settings.decryptor;
    size_t component = opaque_component(handlers);
    if (decryptor == NULL || p->keeps || !handlers->components[component].encrypted || !ue_cursor_ok(&p->c)) {
        return false;
    }
    enum ue_handler handler = p->x->settings.handlers[component];
    bool gcm = handler == UE_HANDLER_AESGCM || handler == UE_HANDLER_AESGCM_BYTES;
    const struct ue_handler_bits *bits = &handlers->components[component];
    struct ue_ciphertext ciphertext = {handler, gcm ? bits->iv : NULL, gcm ? bits->tag : NULL, handlers->opaque};
    struct ue_plaintext plaintext = {0};
    if (!decryptor->open(decryptor->user, &ciphertext, &plaintext)) {
        return false;
    }
    ue_cursor_report_string(&p->c, UE_F_HANDLER_KEY, ciphertext.ciphertext.bit, ciphertext.ciphertext.bits,
                            plaintext.key);
    ue_datagram_end_run(p->op, &p->c, p->x, &p->head);
    run_plain(p, component, &plaintext);
    return true;
}

static void finish(struct datagram_pass *p) {
    p->result->payload_end_bit = ue_cursor_pos(&p->c);
    p->result->fault = p->c.fault;
    p->result->canonical = p->c.canonical && ue_cursor_ok(&p->c);
    ue_datagram_end_run(p->op, &p->c, p->x, &p->head);
}

static void handle_packet_header(const struct datagram_pass *p) {
    const struct ue_packet *packet = &p->head.datagram->packet;
    p->result->seq = packet->seq;
    p->result->ack = p->x->profile.packet == UE_PACKET_LEGACY ? -1 : packet->ack;
    p->result->acked_history_seq = packet->acked_history_seq;
    p->result->has_frame_time = packet->has_frame_time;
    if (p->visitor != NULL && p->visitor->packet != NULL && ue_cursor_ok(&p->c)) {
        p->visitor->packet(p->visitor->user, packet);
    }
}

static void run(struct datagram_pass *p) {
    struct ue_datagram *d = p->head.datagram;
    d->handlers.is_opaque = false;
    p->head.has_packet = false;
    ue_head_run(p->op, &p->c, p->x, &p->head);
    if (p->head.has_packet) {
        handle_packet_header(p);
    } else {
        d->packet = (struct ue_packet){0};
    }
    if (d->handlers.is_opaque) {
        p->result->is_opaque = true;
        p->result->closed_by = p->x->settings.handlers[opaque_component(&d->handlers)];
        if (decrypt(p)) {
            return;
        }
    } else if (p->has_items && !d->prefix.is_handshake) {
        run_items(p);
    }
    finish(p);
}

static enum ue_status run_datagram(struct datagram_pass *p, const uint8_t *bytes, size_t size_bytes,
                                   const struct ue_trace *trace) {
    struct ue_datagram scratch;
    if (!p->keeps) {
        p->head.datagram = &scratch;
    }
    ue_cursor_init_read(&p->c, bytes, 0, size_bytes * 8);
    p->c.trace = trace;
    *p->result = (struct ue_decode_result){0};
    if (size_bytes == 0) {
        ue_cursor_fault(&p->c, UE_E_TRUNCATED, UE_F_TERMINATOR, 0);
    }
    run(p);
    p->result->is_handshake = p->head.datagram->prefix.is_handshake;
    p->head.datagram->item_count = p->result->item_count;
    return p->result->fault.status;
}

/* Member by member, as ue_cursor_clear and for the same reason. */
static void pass_begin(struct datagram_pass *p, enum ue_op op, const struct ue_context *x, struct ue_datagram *into,
                       struct ue_decode_result *result) {
    p->op = op;
    p->x = x;
    p->head.datagram = into;
    p->head.framing = UE_FRAMING_DATAGRAM;
    p->head.packet_ids = NULL;
    p->keeps = into != NULL;
    p->has_items = true;
    p->visitor = NULL;
    p->result = result;
}

enum ue_status ue_datagram_decode_slow(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                       struct ue_datagram *into, const struct ue_visitor *visitor,
                                       struct ue_decode_result *result) {
    struct datagram_pass p;
    pass_begin(&p, UE_DECODE, context, into, result);
    p.visitor = visitor;
    return run_datagram(&p, bytes, size_bytes, NULL);
}

enum ue_status ue_datagram_begin_slow(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                      struct ue_datagram *into, struct ue_item_range *range, struct ue_fault *fault) {
    struct datagram_pass p;
    struct ue_decode_result result;
    pass_begin(&p, UE_DECODE, context, into, &result);
    p.has_items = false;
    run_datagram(&p, bytes, size_bytes, NULL);
    size_t at = ue_cursor_pos(&p.c), agreed_bits = context->agreed_bits;
    size_t end = agreed_bits != 0 && agreed_bits < p.c.end ? agreed_bits : p.c.end;
    *range = (struct ue_item_range){at, end > at ? end : at};
    *fault = result.fault;
    return result.fault.status;
}

enum ue_status ue_item_decode_slow(const struct ue_context *context, const uint8_t *bytes, struct ue_item_range *range,
                                   struct ue_item *item, struct ue_fault *fault) {
    struct ue_cursor c;
    ue_cursor_init_read(&c, bytes, range->bit, range->end_bit);
    ue_item_run(UE_DECODE, &c, context, item);
    range->bit = ue_cursor_pos(&c);
    *fault = c.fault;
    return c.fault.status;
}

/* Traces the control messages of each bunch after the bunch. */
static void trace_messages(void *user, const struct ue_item *item) {
    const struct datagram_pass *p = user;
    struct ue_fault fault;
    if (!item->is_ack && ue_bunch_has_messages(p->x, &item->bunch) &&
        ue_messages_trace(p->x, item->bunch.data, p->c.trace, &fault) != UE_OK && p->result->message.status == UE_OK) {
        p->result->message = fault;
    }
}

enum ue_status ue_datagram_trace(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                 const struct ue_packet_ids *packet_ids, const struct ue_trace *trace,
                                 struct ue_decode_result *result) {
    struct datagram_pass p;
    const struct ue_visitor messages = {.item = trace_messages, .user = &p};
    pass_begin(&p, UE_TRACE, context, NULL, result);
    p.head.packet_ids = packet_ids;
    p.visitor = &messages;
    return run_datagram(&p, bytes, size_bytes, trace);
}
