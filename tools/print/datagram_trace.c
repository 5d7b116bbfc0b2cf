/* SPDX-License-Identifier: MIT */
#include "tools/print/datagram_trace.h"

/* Forwards the trace of a datagram and inserts its messages. */
struct forwarding {
    const struct print_datagram *datagram;
    const struct print_sink *to;
    uint32_t item;
    size_t next; /* index of the next message */
};

static bool is_in_trace(const struct print_message *message) {
    return message->content.kind == UE_CONTENT_CONTROL && message->fragments == NULL && !message->content.has_exports;
}

static void trace_message(const struct forwarding *p, const struct print_message *message) {
    const struct print_sink *to = p->to;
    struct ue_fault fault;
    if (message->content.data.bits == 0 || is_in_trace(message)) {
        return;
    }
    if (to->message_begin != NULL) {
        to->message_begin(to->sink.user, message);
    }
    ue_content_trace(p->datagram->context, &message->content, &p->datagram->messages->names, &to->sink, &fault);
    if (to->message_end != NULL) {
        to->message_end(to->sink.user, &fault);
    }
}

static void end_item(struct forwarding *p) {
    const struct print_messages *messages = p->datagram->messages;
    for (; p->next < messages->count && messages->list[p->next].item <= p->item; p->next++) {
        trace_message(p, &messages->list[p->next]);
    }
    p->item++;
}

static void on_begin(void *user, enum ue_group group, size_t bit) {
    const struct ue_trace *sink = &((struct forwarding *)user)->to->sink;
    if (sink->begin != NULL) {
        sink->begin(sink->user, group, bit);
    }
}

static void on_field(void *user, const struct ue_record *record) {
    const struct ue_trace *sink = &((struct forwarding *)user)->to->sink;
    sink->field(sink->user, record);
}

static void on_end(void *user, enum ue_group group, size_t bit, const void *structure) {
    const struct ue_trace *sink = &((struct forwarding *)user)->to->sink;
    if (sink->end != NULL) {
        sink->end(sink->user, group, bit, structure);
    }
    if (group == UE_GROUP_BUNCH || group == UE_GROUP_ACK) {
        end_item(user);
    }
}

void print_datagram_trace(const struct print_datagram *datagram, const struct print_sink *sink,
                          struct ue_decode_result *result) {
    bool is_plain = datagram->messages == NULL || datagram->messages->count == 0;
    struct forwarding forwarding = {.datagram = datagram, .to = sink};
    const struct ue_trace own = {on_begin, on_field, on_end, &forwarding};
    ue_datagram_trace(datagram->context, datagram->bytes, datagram->size_bytes, datagram->packet_ids,
                      is_plain ? &sink->sink : &own, result);
}

/* The most items that fit in a UDP datagram: a legacy acknowledgement has 24 bits. */
#define ITEMS_MAX (65535 * 8 / 24 + 1)
#define BYTES_MAX 65536

/* Whether the fields alone determine the prefix and the handshake form. */
static bool form_is_determined(const struct ue_context *x, const struct ue_datagram *datagram) {
    struct ue_context stock;
    ue_context_init(&stock, &x->profile, &x->settings);
    if (x->ids != stock.ids) {
        return false;
    }
    return !datagram->prefix.is_handshake || x->features == stock.features;
}

/* If a handler occurs twice, each of its keys occurs twice. */
static bool handlers_are_distinct(const struct ue_settings *settings) {
    return settings->handlers[1] == UE_HANDLER_NONE;
}

bool print_datagram_roundtrips(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes) {
    static struct ue_item items[ITEMS_MAX];
    static uint8_t again[BYTES_MAX];
    struct ue_datagram datagram = {.items = items, .item_capacity = ITEMS_MAX};
    struct ue_decode_result result;
    struct ue_fault fault;
    size_t written;
    if (size_bytes > BYTES_MAX || ue_datagram_decode(context, bytes, size_bytes, &datagram, NULL, &result) != UE_OK ||
        result.is_opaque || !result.canonical || !form_is_determined(context, &datagram) ||
        !handlers_are_distinct(&context->settings)) {
        return false;
    }
    return ue_datagram_encode(context, &datagram, again, sizeof again, &written, &fault) == UE_OK &&
           written == size_bytes && memcmp(again, bytes, size_bytes) == 0;
}
