/* SPDX-License-Identifier: MIT */
/* Writes the output of a testbed's endpoints into its transcript. */
#include <inttypes.h>
#include <string.h>

#include "tools/script/testbed.h"

static const char *const state_names[] = {[UE_CONN_INVALID] = "invalid",
                                          [UE_CONN_HANDSHAKE] = "shaking",
                                          [UE_CONN_PENDING] = "pending",
                                          [UE_CONN_OPEN] = "open",
                                          [UE_CONN_CLOSED] = "closed"};

/* A line that is being built. */
struct statement_text {
    GString *head, *tail;
    int64_t number; /* -1: none */
};

static void add_statement(struct script_testbed *testbed, unsigned side, size_t packet,
                          const struct statement_text *w) {
    const struct script_statement statement = {w->head->str, w->number, w->tail->str, side, packet};
    script_testbed_count_step(testbed, w->head->len + w->tail->len);
    testbed->bytes += sizeof(struct script_line) + w->head->len + w->tail->len;
    script_transcript_add(&testbed->transcript, script_testbed_clock_ns(testbed), &statement);
}

/* ---- events ---- */

static void describe_bunch(const struct script_testbed *testbed, unsigned side, const struct ue_event *e,
                           struct statement_text *w) {
    const struct ue_context *x = ue_conn_context(testbed->sides[side].conn);
    w->number = e->reliable ? e->ch_seq + (int32_t)testbed->numbers.ch_seq[!side] : -1;
    g_string_append_printf(w->head, "< %u %s", e->channel, e->reliable ? "R" : "U");
    g_string_append_printf(w->tail, "%s%s%s%s%s ", e->open ? " open" : "", e->close ? " close" : "",
                           e->has_exports ? " exports" : "", e->has_mapped ? " mapped" : "",
                           e->paused ? " paused" : "");
    script_payload_print_name(w->tail, x, e->channel, e->data);
    g_string_append_printf(w->tail, " %zu%s", e->data.bits,
                           e->channel == 0 || script_payload_is_intact(e->data) ? "" : " damaged");
}

static void describe(const struct script_testbed *testbed, unsigned side, const struct ue_event *e,
                     struct statement_text *w) {
    switch (e->type) {
    case UE_EVENT_PACKET:
        g_string_append_printf(w->head, "%s ", e->delivered ? "ack" : "nak");
        w->number = e->packet_id + (int32_t)testbed->numbers.seq[side];
        break;
    case UE_EVENT_BUNCH: describe_bunch(testbed, side, e, w); break;
    case UE_EVENT_STATE:
        g_string_append_printf(w->head, "is %s%s%s", state_names[e->state], e->reason != UE_CLOSE_NONE ? " " : "",
                               ue_close_reason_name(e->reason));
        break;
    case UE_EVENT_FAULT: g_string_append_printf(w->head, "faults %s", ue_close_reason_name(e->reason)); break;
    case UE_EVENT_CHANNEL_OPENED:
        g_string_append_printf(w->head, "opens %u %s", e->channel, ue_channel_kind_name(e->kind));
        break;
    case UE_EVENT_EXPORTS: g_string_append_printf(w->head, "exports %u", e->channel); break;
    case UE_EVENT_CHANNEL_CLOSED: g_string_append_printf(w->head, "closes %u", e->channel); break;
    }
}

static void start_statement(struct statement_text *w, char letter) {
    g_string_printf(w->head, "%c ", letter);
    g_string_truncate(w->tail, 0);
    w->number = -1;
}

static void add_events(struct script_testbed *testbed, unsigned side, struct statement_text *w) {
    struct ue_event event;
    while (ue_conn_next_event(testbed->sides[side].conn, &event)) {
        start_statement(w, testbed->sides[side].letter);
        describe(testbed, side, &event, w);
        add_statement(testbed, side, SCRIPT_NO_PACKET, w);
    }
}

/* ---- packets ---- */

/* Stores a packet and returns its index among those of its side. */
static size_t store_packet(struct script_testbed *testbed, unsigned side, const uint8_t *bytes, size_t size_bytes,
                           int64_t id) {
    struct script_testbed_endpoint *s = &testbed->sides[side];
    struct script_testbed_packet packet = {
        .bytes = g_memdup2(bytes, size_bytes), .size_bytes = size_bytes, .id = id, .sent_ns = testbed->now_ns};
    g_array_append_val(s->packets, packet);
    s->next_id = id >= s->next_id ? id + 1 : s->next_id;
    script_testbed_count_step(testbed, size_bytes);
    testbed->bytes += sizeof packet + size_bytes;
    return s->packets->len - 1;
}

static void describe_packet(struct script_testbed *testbed, unsigned side, const struct ue_context *x,
                            const struct ue_datagram *d, const struct ue_decode_result *result, size_t size_bytes,
                            struct statement_text *w) {
    if (result->fault.status != UE_OK) {
        g_string_append_printf(w->head, "> malformed %zu bytes: ", size_bytes);
        g_string_append_printf(w->tail, "%s at bit %zu", ue_field_row(result->fault.field)->name, result->fault.bit);
    } else if (result->is_handshake) {
        g_string_append_printf(w->head, "> handshake %zu bytes", size_bytes);
    } else if (result->is_opaque) {
        g_string_append_printf(w->head, "> opaque %zu bytes", size_bytes);
    } else {
        g_string_append(w->head, "> ");
        script_packet_print(w->tail, NULL, x, &testbed->numbers, side, d);
        g_string_append(w->tail, result->canonical ? "" : " uncanonical");
    }
    if (testbed->shows_sizes && w->number >= 0) {
        g_string_append_printf(w->tail, "%s %zu bytes", d->packet.has_info ? " info" : "", size_bytes);
    }
}

static void add_packet(struct script_testbed *testbed, unsigned side, const uint8_t *bytes, size_t size_bytes,
                       struct statement_text *w) {
    struct ue_item items[SCRIPT_PACKET_ITEMS_MAX];
    struct ue_datagram d = {.items = items, .item_capacity = SCRIPT_PACKET_ITEMS_MAX};
    struct ue_decode_result result;
    struct ue_context x;
    script_testbed_context(testbed, side, &x);
    ue_datagram_decode(&x, bytes, size_bytes, &d, NULL, &result);
    start_statement(w, testbed->sides[side].letter);
    if (result.fault.status == UE_OK && !result.is_handshake && !result.is_opaque) {
        uint32_t seq = (result.seq + testbed->numbers.seq[side]) % SCRIPT_SEQ_BOUND;
        w->number = ue_seq_expand(seq, testbed->sides[side].next_id - 1, SCRIPT_SEQ_BOUND);
    }
    size_t packet_index = store_packet(testbed, side, bytes, size_bytes, w->number);
    if (!testbed->hides_packets) {
        describe_packet(testbed, side, &x, &d, &result, size_bytes, w);
        add_statement(testbed, side, packet_index, w);
    }
}

void script_testbed_read_output(struct script_testbed *testbed, unsigned side) {
    struct statement_text w = {g_string_new(NULL), g_string_new(NULL), -1};
    struct ue_bytes bytes;
    if (testbed->sides[side].conn != NULL) {
        add_events(testbed, side, &w);
        while (ue_conn_next_datagram(testbed->sides[side].conn, &bytes)) {
            add_packet(testbed, side, bytes.bytes, bytes.size_bytes, &w);
        }
    }
    g_string_free(w.head, TRUE);
    g_string_free(w.tail, TRUE);
}

void script_testbed_receive_remote(struct script_testbed *testbed, unsigned side, const uint8_t *bytes,
                                   size_t size_bytes) {
    struct statement_text w = {g_string_new(NULL), g_string_new(NULL), -1};
    add_packet(testbed, side, bytes, size_bytes, &w);
    g_string_free(w.head, TRUE);
    g_string_free(w.tail, TRUE);
}

void script_testbed_report_refusal(struct script_testbed *testbed, unsigned side, const char *name,
                                   enum ue_status status) {
    struct statement_text w = {g_string_new(NULL), g_string_new(NULL), -1};
    start_statement(&w, testbed->sides[side].letter);
    g_string_append_printf(w.head, "refuses %s: %s", name, ue_status_name(status));
    add_statement(testbed, side, SCRIPT_NO_PACKET, &w);
    g_string_free(w.head, TRUE);
    g_string_free(w.tail, TRUE);
}
