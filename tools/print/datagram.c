/* SPDX-License-Identifier: MIT */
#include "tools/print/datagram.h"

/* Passes the trace of a datagram on, and puts messages into it. */
struct passing {
    const struct print_datagram *shown;
    const struct print_sink *to;
    uint32_t item;
    size_t next; /* message */
};

static bool is_told_already(const struct print_message *message) {
    return message->content.kind == UE_CONTENT_CONTROL && message->fragments == NULL && !message->content.has_exports;
}

static void trace_message(const struct passing *p, const struct print_message *message) {
    const struct print_sink *to = p->to;
    struct ue_fault fault;
    if (message->content.data.bits == 0 || is_told_already(message)) {
        return;
    }
    if (to->message_begin != NULL) {
        to->message_begin(to->sink.user, message);
    }
    ue_content_trace(p->shown->context, &message->content, &p->shown->messages->names, &to->sink, &fault);
    if (to->message_end != NULL) {
        to->message_end(to->sink.user, &fault);
    }
}

static void end_item(struct passing *p) {
    const struct print_messages *messages = p->shown->messages;
    for (; p->next < messages->count && messages->list[p->next].item <= p->item; p->next++) {
        trace_message(p, &messages->list[p->next]);
    }
    p->item++;
}

static void on_begin(void *user, enum ue_group group, size_t bit) {
    const struct ue_trace *sink = &((struct passing *)user)->to->sink;
    if (sink->begin != NULL) {
        sink->begin(sink->user, group, bit);
    }
}

static void on_field(void *user, const struct ue_record *record) {
    const struct ue_trace *sink = &((struct passing *)user)->to->sink;
    sink->field(sink->user, record);
}

static void on_end(void *user, enum ue_group group, size_t bit) {
    const struct ue_trace *sink = &((struct passing *)user)->to->sink;
    if (sink->end != NULL) {
        sink->end(sink->user, group, bit);
    }
    if (group == UE_GROUP_BUNCH || group == UE_GROUP_ACK) {
        end_item(user);
    }
}

void print_datagram_trace(const struct print_datagram *shown, const struct print_sink *sink, struct ue_decode_result *verdict) {
    bool is_plain = shown->messages == NULL || shown->messages->count == 0;
    struct passing passing = {.shown = shown, .to = sink};
    const struct ue_trace own = {on_begin, on_field, on_end, &passing};
    ue_datagram_trace(shown->context, shown->bytes, shown->size_bytes, shown->links, is_plain ? &sink->sink : &own,
                      verdict);
}
