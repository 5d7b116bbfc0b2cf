/* SPDX-License-Identifier: MIT */
#include <uerudp/datagram.h>

#include <uerudp/history.h>
#include <uerudp/seq.h>
#include "libcodec/wire/bunch_layout.h"
#include "libcodec/wire/datagram_slow.h"
#include "libcodec/wire/handlers.h"
#include "libcodec/wire/handshake.h"
#include "libcodec/wire/layout_run.h"
#include "libcodec/wire/message.h"
#include "libcodec/wire/packet_layout.h"
#include "libcodec/wire/prefix_layout.h"

UE_DEFINE_RUN(ue_prefix, prefix_layout, struct ue_prefix)

UE_DEFINE_RUN(ue_packet, packet_layout, struct ue_packet)

UE_DEFINE_RUN(ue_ack, ack_layout, struct ue_ack)

/* The slow path of decoding, and tracing. One pass over a datagram is shared by decode, trace and check. */
struct datagram_pass {
    enum ue_op op; /* UE_DECODE or UE_TRACE */
    struct ue_cursor c;
    const struct ue_context *x;
    const struct ue_packet_ids *packet_ids;
    struct ue_datagram *into; /* NULL: do not store fields */
    const struct ue_visitor *visitor;
    struct ue_item_range *range; /* NULL: decode the items, too */
    struct ue_decode_result *result;
    size_t handlers_begin;
    size_t terminators[2]; /* inner before outer */
    size_t terminator_count;
};

/* How many zero bits may follow a terminator. */
enum padding {
    PADDING_BYTE,  /* up to the end of the byte: the outer terminator */
    PADDING_NONE,  /* as many as the handlers require; more are accepted but not canonical */
    PADDING_BYTES, /* any number: a byte-oriented component restores whole bytes or blocks */
};

static bool find_terminator(const struct ue_cursor *c, enum padding padding, size_t *at) {
    size_t begin = ue_cursor_pos(c);
    size_t last = c->end - 1;
    if (c->end > begin && padding != PADDING_BYTE && (c->in[last >> 3] >> (last & 7) & 1) != 0) {
        *at = last;
        return true;
    }
    if (padding == PADDING_BYTE && c->end > begin + 8) {
        begin = c->end - 8;
    }
    return ue_bits_last_set(c->in, begin, c->end, at);
}

/* Removes the terminator from the end of the payload. */
static void cut_terminator(struct datagram_pass *p, enum padding padding) {
    size_t at = 0;
    struct ue_cursor *c = &p->c;
    if (!ue_cursor_ok(c)) {
        return;
    }
    if (!find_terminator(c, padding, &at)) {
        ue_cursor_fault(c, UE_E_TERMINATOR, UE_F_TERMINATOR, c->end);
        return;
    }
    size_t zeros = c->end - (at + 1);
    c->canonical &= padding != PADDING_NONE || zeros == ue_handlers_padding(p->x, p->handlers_begin, at + 1);
    c->end = at;
    ue_cursor_seek(c, ue_cursor_pos(c));
    p->terminators[p->terminator_count++] = at;
}

static void trace_terminators(struct datagram_pass *p) {
    while (p->terminator_count > 0) {
        size_t at = p->terminators[--p->terminator_count];
        if (p->op == UE_TRACE) {
            p->c.end = at + 1;
            ue_cursor_seek(&p->c, at + 1);
            ue_cursor_report(&p->c, UE_F_TERMINATOR, at, true, false);
        }
    }
}

bool ue_bunch_has_messages(const struct ue_context *context, const struct ue_bunch *bunch) {
    return bunch->channel == 0 && !bunch->partial && !bunch->has_exports && !bunch->has_mapped &&
           bunch->data.bits != 0 && !context->settings.internal_ack;
}

static void trace_messages(struct datagram_pass *p, const struct ue_bunch *bunch) {
    struct ue_fault fault;
    if (ue_messages_trace(p->x, bunch->data, p->c.trace, &fault) != UE_OK && p->result->message.status == UE_OK) {
        p->result->message = fault;
    }
}

static struct ue_item *next_item(struct datagram_pass *p, struct ue_item *scratch) {
    size_t index = p->result->item_count;
    if (p->into == NULL) {
        return scratch;
    }
    if (index == p->into->item_capacity) {
        ue_cursor_fault(&p->c, UE_E_FULL, UE_F_NONE, ue_cursor_pos(&p->c));
        return scratch;
    }
    return &p->into->items[index];
}

static bool peek_is_ack(const struct ue_cursor *c, const struct ue_context *x) {
    return x->profile.packet == UE_PACKET_LEGACY && !x->settings.internal_ack && ue_cursor_left(c) != 0 &&
           ue_bits_load(c->in, c->size_bytes, ue_cursor_pos(c), 1) != 0;
}

static void run_item(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_item *item) {
    item->is_ack = peek_is_ack(c, x);
    if (item->is_ack) {
        ue_ack_run(op, c, x, &item->ack);
    } else {
        ue_bunch_run(op, c, x, &item->bunch);
    }
}

static void run_items(struct datagram_pass *p) {
    struct ue_item scratch;
    while (ue_cursor_left(&p->c) != 0) {
        struct ue_item *item = next_item(p, &scratch);
        if (!ue_cursor_ok(&p->c)) {
            return;
        }
        run_item(p->op, &p->c, p->x, item);
        p->result->item_count += ue_cursor_ok(&p->c);
        if (p->visitor != NULL && ue_cursor_ok(&p->c)) {
            p->visitor->item(p->visitor->user, item);
        }
        if (p->op == UE_TRACE && ue_cursor_ok(&p->c) && !item->is_ack && ue_bunch_has_messages(p->x, &item->bunch)) {
            trace_messages(p, &item->bunch);
        }
    }
}

/* Reports the sequences that this packet is the first to acknowledge or to report as not received, oldest first. */
static void report_acks(struct datagram_pass *p, const struct ue_packet *packet, size_t history_bit) {
    if (p->packet_ids == NULL || !p->packet_ids->has_acked_before) {
        return;
    }
    int32_t new_count = ue_seq_difference(packet->ack, p->packet_ids->acked_before, UE_PACKET_SEQ_MAX);
    int32_t reach = (int32_t)ue_history_reach(packet);
    for (int32_t age = (new_count < reach ? new_count : reach) - 1; age >= 0; age--) {
        uint32_t bit = ue_history_bit(packet, (uint32_t)age);
        bool delivered = ue_history_reports(packet, (uint32_t)age);
        ue_cursor_report_generated(&p->c, delivered ? UE_F_PACKET_ACKED : UE_F_PACKET_NACKED,
                                   history_bit + (bit < UE_HISTORY_REACH ? bit : 0), 1,
                                   ue_seq_of((int64_t)packet->ack - age));
    }
}

static void run_packet_header(struct datagram_pass *p, struct ue_packet *packet) {
    size_t at = ue_cursor_pos(&p->c);
    ue_packet_run(p->op, &p->c, p->x, packet);
    /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): a decoder has assigned it, an encoder reads it */
    p->result->seq = packet->seq;
    p->result->ack = packet->ack;
    p->result->acked_history_seq = packet->acked_history_seq;
    p->result->has_frame_time = packet->has_frame_time;
    if (p->visitor != NULL && p->visitor->packet != NULL && ue_cursor_ok(&p->c)) {
        p->visitor->packet(p->visitor->user, packet);
    }
    if (p->op != UE_TRACE || !ue_cursor_ok(&p->c)) {
        return;
    }
    const struct ue_packet_ids *packet_ids = p->packet_ids;
    bool has_id = packet_ids != NULL && packet_ids->has_id;
    if (has_id && ue_seq_of(packet_ids->packet_id) != packet->seq) {
        return; /* the id was read before the generation was known, at another bit position */
    }
    if (has_id) {
        ue_cursor_report_generated(&p->c, UE_F_PACKET_ID, at, ue_cursor_pos(&p->c) - at,
                                   ue_seq_display(packet_ids->packet_id));
    }
    if (p->x->profile.packet != UE_PACKET_LEGACY) {
        report_acks(p, packet, at + 32);
    }
}

static void run_packet(struct datagram_pass *p, enum padding padding);

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
    for (size_t i = 0; i < UE_HANDLERS_MAX; i++) {
        size_t from = i + component + 1;
        x.settings.handlers[i] = from < UE_HANDLERS_MAX ? outer->settings.handlers[from] : UE_HANDLER_NONE;
    }
    trace_terminators(p);
    const struct ue_trace *trace = p->c.trace;
    ue_cursor_init_read(&p->c, plaintext->plain, 0, plaintext->plain_bytes * 8);
    p->c.trace = trace;
    p->x = &x;
    p->result->is_opened = true;
    p->result->closed_by = UE_HANDLER_NONE;
    if (p->op == UE_TRACE) {
        ue_cursor_begin_group(&p->c, UE_GROUP_OPENED);
    }
    bool whole_bytes = handler == UE_HANDLER_AESGCM_BYTES;
    if (!whole_bytes) {
        cut_terminator(p, handler == UE_HANDLER_AES_ECB ? PADDING_BYTES : PADDING_BYTE);
    }
    run_packet(p, whole_bytes ? PADDING_BYTES : PADDING_NONE);
    trace_terminators(p);
    if (p->op == UE_TRACE) {
        ue_cursor_end_group(&p->c, UE_GROUP_OPENED);
    }
    p->x = outer;
}

static void decrypt(struct datagram_pass *p, const struct ue_handlers *handlers) {
    const struct ue_decryptor *decryptor = p->x->settings.decryptor;
    size_t component = opaque_component(handlers);
    if (decryptor == NULL || p->into != NULL || !handlers->components[component].encrypted || !ue_cursor_ok(&p->c)) {
        return;
    }
    enum ue_handler handler = p->x->settings.handlers[component];
    bool gcm = handler == UE_HANDLER_AESGCM || handler == UE_HANDLER_AESGCM_BYTES;
    const struct ue_handler_bits *bits = &handlers->components[component];
    struct ue_ciphertext ciphertext = {handler, gcm ? bits->iv : NULL, gcm ? bits->tag : NULL, handlers->opaque};
    struct ue_plaintext plaintext = {0};
    if (!decryptor->open(decryptor->user, &ciphertext, &plaintext)) {
        return;
    }
    if (p->op == UE_TRACE) {
        ue_cursor_report_string(&p->c, UE_F_HANDLER_KEY, ciphertext.ciphertext.bit, ciphertext.ciphertext.bits,
                                plaintext.key);
    }
    run_plain(p, component, &plaintext);
}

static void run_packet(struct datagram_pass *p, enum padding padding) {
    struct ue_handlers handlers;
    struct ue_packet packet;
    struct ue_handlers *handlers_to = p->into != NULL ? &p->into->handlers : &handlers;
    struct ue_packet *packet_to = p->into != NULL ? &p->into->packet : &packet;
    handlers_to->is_opaque = false;
    if (p->x->settings.handlers[0] != UE_HANDLER_NONE) {
        p->handlers_begin = ue_cursor_pos(&p->c);
        ue_handlers_run(p->op, &p->c, p->x, handlers_to);
    }
    if (handlers_to->is_opaque) {
        p->result->is_opaque = true;
        p->result->closed_by = p->x->settings.handlers[opaque_component(handlers_to)];
        decrypt(p, handlers_to);
        return;
    }
    if (p->x->settings.terminators > 1) {
        cut_terminator(p, padding);
    }
    if (!p->x->settings.internal_ack) {
        if (p->op == UE_TRACE) {
            ue_cursor_begin_group(&p->c, UE_GROUP_PACKET);
        }
        run_packet_header(p, packet_to);
        if (p->op == UE_TRACE) {
            ue_cursor_end_group(&p->c, UE_GROUP_PACKET);
        }
    }
    if (p->range == NULL) {
        run_items(p);
    }
}

static void run_handshake(struct datagram_pass *p) {
    struct ue_handshake handshake;
    ue_handshake_run(p->op, &p->c, p->x, p->into != NULL ? &p->into->handshake : &handshake);
    if (ue_cursor_left(&p->c) != 0) {
        ue_cursor_fault(&p->c, UE_E_TRAILING, UE_F_HANDSHAKE_RANDOM, ue_cursor_pos(&p->c));
    }
}

static void run(struct datagram_pass *p) {
    struct ue_prefix prefix = {0};
    if (p->c.end == 0) {
        ue_cursor_fault(&p->c, UE_E_TRUNCATED, UE_F_TERMINATOR, 0);
    }
    cut_terminator(p, PADDING_BYTE);
    if (!p->x->settings.internal_ack) {
        ue_prefix_run(p->op, &p->c, p->x, &prefix);
    }
    p->result->is_handshake = prefix.is_handshake;
    if (p->into != NULL) {
        p->into->prefix = prefix;
        p->into->item_count = 0;
    }
    if (!ue_cursor_ok(&p->c)) {
        return;
    }
    if (prefix.is_handshake) {
        run_handshake(p);
    } else {
        run_packet(p, PADDING_NONE);
    }
}

static enum ue_status finish(struct datagram_pass *p) {
    p->result->payload_end_bit = ue_cursor_pos(&p->c);
    p->result->fault = p->c.fault;
    p->result->canonical = p->c.canonical && ue_cursor_ok(&p->c);
    if (p->into != NULL) {
        p->into->item_count = p->result->item_count;
    }
    trace_terminators(p);
    return p->result->fault.status;
}

/* Member by member, as ue_cursor_clear and for the same reason. */
static void pass_begin(struct datagram_pass *p, enum ue_op op, const struct ue_context *x,
                       struct ue_decode_result *result) {
    p->op = op;
    p->x = x;
    p->packet_ids = NULL;
    p->into = NULL;
    p->visitor = NULL;
    p->range = NULL;
    p->result = result;
    p->handlers_begin = 0;
    p->terminator_count = 0;
}

static enum ue_status walk(struct datagram_pass *p, const uint8_t *bytes, size_t size_bytes,
                           const struct ue_trace *trace) {
    ue_cursor_init_read(&p->c, bytes, 0, size_bytes * 8);
    p->c.trace = trace;
    *p->result = (struct ue_decode_result){0};
    run(p);
    return finish(p);
}

enum ue_status ue_datagram_decode_slow(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                       struct ue_datagram *into, const struct ue_visitor *visitor,
                                       struct ue_decode_result *result) {
    struct datagram_pass p;
    pass_begin(&p, UE_DECODE, context, result);
    p.into = into;
    p.visitor = visitor;
    return walk(&p, bytes, size_bytes, NULL);
}

enum ue_status ue_datagram_decode_head_slow(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                            struct ue_datagram *into, struct ue_item_range *range,
                                            struct ue_fault *fault) {
    struct datagram_pass p;
    struct ue_decode_result result;
    pass_begin(&p, UE_DECODE, context, &result);
    p.into = into;
    p.range = range;
    into->handlers.is_opaque = false;
    walk(&p, bytes, size_bytes, NULL);
    *range = (struct ue_item_range){ue_cursor_pos(&p.c), p.c.end};
    *fault = result.fault;
    return result.fault.status;
}

enum ue_status ue_item_decode_slow(const struct ue_context *context, const uint8_t *bytes, struct ue_item_range *range,
                                   struct ue_item *item, struct ue_fault *fault) {
    struct ue_cursor c;
    ue_cursor_init_read(&c, bytes, range->bit, range->end_bit);
    run_item(UE_DECODE, &c, context, item);
    range->bit = ue_cursor_pos(&c);
    *fault = c.fault;
    return c.fault.status;
}

enum ue_status ue_datagram_trace(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                 const struct ue_packet_ids *packet_ids, const struct ue_trace *trace,
                                 struct ue_decode_result *result) {
    struct datagram_pass p;
    pass_begin(&p, UE_TRACE, context, result);
    p.packet_ids = packet_ids;
    return walk(&p, bytes, size_bytes, trace);
}
