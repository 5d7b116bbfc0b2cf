/* SPDX-License-Identifier: MIT */
#include "tools/replay/reference_model.h"

#include <glib.h>
#include <uerudp/seq.h>
#include "tools/replay/reference_model_state.h"

#define LEARN (INT32_MIN / 2)   /* number of an entry that is not known yet; */
#define LEARNED_ONE (LEARN + 1) /* ... of the control channel, on which something must have come */
#define NEAR_NUMBERS 4          /* by how much a sender may count wrong */

struct type {
    const char *name;
    const char *text;
};

static const struct type types[REFERENCE_MODEL_DIFFERENCE_COUNT] = {
#define X(id, name, text) [REFERENCE_MODEL_DIFFERS_##id] = {name, text},
#include "tools/replay/reference_model.def"
#undef X
};

const char *reference_model_difference_name(enum reference_model_difference_type type) {
    return types[type].name;
}

const char *reference_model_difference_text(enum reference_model_difference_type type) {
    return types[type].text;
}

int64_t reference_model_reported_id(const struct reference_model *m) {
    return m->conn->receiver.in_packet_id;
}

int64_t reference_model_unknown_id(const struct reference_model *m) {
    return m->unknown_out;
}

const struct reference_model_retransmissions *reference_model_get_retransmissions(const struct reference_model *m) {
    return &m->notes;
}

/* ---- begin ---- */

static void join(struct reference_model *m, const struct reference_model_start *start) {
    m->conn->receiver.in_packet_id = start->in - 1;
    m->conn->sender.out_packet_id = start->out;
    m->conn->sender.out_ack_packet_id = m->conn->sender.last_notified_id = m->conn->sender.legacy.out_ack_packet_id =
        start->out - 1;
}

static struct ue_channel *learn_channel(struct reference_model *m, struct ue_channel_entry *entry,
                                        enum ue_channel_kind kind) {
    struct ue_channel *channel =
        entry->channel != NULL ? entry->channel : ue_channel_new(&m->conn->channels, entry, kind);
    if (channel != NULL) {
        channel->open_acked = true;
        channel->has_opened = true;
    }
    return channel;
}

/* The peer opened channel 0 before the capture began. */
static void learn_control(struct reference_model *m) {
    m->conn->channels.in_first = m->conn->channels.out_first = LEARN;
    ue_channel_table_free(&m->conn->channels);
    struct ue_channel_entry *entry = ue_channel_entry_get(&m->conn->channels, 0);
    if (entry != NULL && learn_channel(m, entry, UE_KIND_CONTROL) != NULL) {
        entry->in_reliable = LEARNED_ONE;
        entry->channel->name_index = UE_NAME_CONTROL;
    }
}

static void begin(struct reference_model *m, const struct reference_model_start *start) {
    enum ue_direction own = m->conn->common.context.direction;
    m->conn->common.context = *start->context;
    m->conn->common.context.direction = own;
    m->conn->common.config.client_id = start->prefix.client_id;
    m->conn->sender.datagrams.limit = 0;
    ue_conn_adopt(m->conn, 0, ue_seq_of(start->in), ue_seq_of(start->out));
    ue_conn_admit(m->conn);
    m->conn->common.session_id = start->prefix.session_id;
    join(m, start);
    if (m->learns) {
        learn_control(m);
    }
    if (m->learns && ue_is_legacy(&m->conn->common)) { /* no header shows which packets wait for an acknowledgement */
        m->unknown_out = start->out - 1;
    }
}

struct reference_model *reference_model_new(const struct ue_conn_config *config,
                                            const struct reference_model_start *start) {
    struct ue_conn_config filled = *config;
    filled.no_order_cache = true; /* packets come in the order in which the implementation processed them */
    filled.any_opener = start->opens_freely;
    struct ue_conn *c = ue_conn_new(NULL, &filled);
    if (c == NULL) {
        return NULL;
    }
    struct reference_model *m = g_new(struct reference_model, 1);
    *m = (struct reference_model){.conn = c,
                                  .learns = !start->is_whole,
                                  .first_in = start->in,
                                  .reported_id = start->in - 1,
                                  .flushed = INT64_MIN,
                                  .unknown_out = INT64_MIN,
                                  .marks = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
                                  .owing = g_hash_table_new(NULL, NULL),
                                  .unseen = g_hash_table_new(NULL, NULL)};
    begin(m, start);
    return m;
}

void reference_model_free(struct reference_model *m) {
    if (m != NULL) {
        ue_conn_free(m->conn);
        g_hash_table_destroy(m->marks);
        g_hash_table_destroy(m->owing);
        g_hash_table_destroy(m->unseen);
        g_free(m);
    }
}

struct ue_conn *reference_model_conn(const struct reference_model *m) {
    return m->conn;
}

/* ---- what was received ---- */

static enum ue_channel_kind kind_or_actor(const struct reference_model *m, const struct ue_bunch *bunch) {
    enum ue_channel_kind kind;
    return ue_channel_kind_of(&m->conn->common, bunch, &kind) ? kind
           : bunch->channel == 0                              ? UE_KIND_CONTROL
                                                              : UE_KIND_ACTOR;
}

/* A channel that was opened before the capture began; the bunch shows what it is, as far as it does. */
static void learn(void *user, const struct ue_item *item) {
    struct reference_model *m = user;
    const struct ue_bunch *bunch = &item->bunch;
    struct ue_channel_entry *entry = item->is_ack ? NULL : ue_channel_entry_get(&m->conn->channels, bunch->channel);
    if (entry == NULL) {
        return;
    }
    if (bunch->reliable && entry->in_reliable <= LEARNED_ONE) {
        entry->in_reliable = (int32_t)bunch->ch_seq - 1;
        if (!bunch->open) {
            learn_channel(m, entry, kind_or_actor(m, bunch));
        }
    } else if (entry->in_reliable == LEARN && !bunch->open) {
        learn_channel(m, entry, kind_or_actor(m, bunch));
    }
    if (entry->channel != NULL && entry->channel->name_index == 0 && bunch->has_name) {
        entry->channel->kind = kind_or_actor(m, bunch);
        entry->channel->name_index = bunch->name.index;
    }
}

bool reference_model_receive(struct reference_model *m, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {
    const struct ue_visitor learner = {.item = learn, .user = m};
    struct ue_decode_result result;
    if (m->learns) {
        ue_turn_context(&m->conn->common);
        ue_datagram_decode(&m->conn->common.context, bytes, size_bytes, NULL, &learner, &result);
        ue_turn_context(&m->conn->common);
    }
    ue_conn_begin_input(m->conn);
    m->conn->sender.dirty_acks = 0; /* the implementation sends its acks itself */
    bool is_delivered = ue_receive_datagram(m->conn, now_ns, bytes, size_bytes);
    ue_conn_end_receive(m->conn, now_ns);
    return is_delivered;
}

void reference_model_report_packet(struct reference_model *m, int64_t packet_id, bool delivered) {
    if (packet_id <= m->conn->receiver.in_packet_id) {
        return;
    }
    m->conn->receiver.in_packet_id = packet_id;
    if (!ue_is_legacy(&m->conn->common)) {
        m->conn->sender.packet_notify.in_seq = ue_seq_of(packet_id);
        ue_notify_report(&m->conn->sender.packet_notify, m->conn->sender.packet_notify.in_seq, delivered);
    }
}

void reference_model_set_delivered(struct reference_model *m, int64_t packet_id, bool delivered) {
    reference_model_report_packet(m, packet_id, delivered);
    if (!ue_is_legacy(&m->conn->common) && m->conn->sender.packet_notify.in_ack_seq == ue_seq_of(packet_id)) {
        m->conn->sender.packet_notify.history[0] =
            (m->conn->sender.packet_notify.history[0] & ~UINT32_C(1)) | delivered;
    }
}

/* ---- what was sent ---- */

struct sending {
    struct reference_model *m;
    uint64_t now_ns;
    uint32_t item;
    const struct reference_model_sink *sink;
};

static void report(const struct sending *s, const struct reference_model_difference *difference) {
    s->sink->report(s->sink->user, difference);
}

static void commit(struct reference_model *m, uint64_t now_ns, const struct ue_packet *packet) {
    ue_sent_packets_push(&m->conn->sender.sent_packets, m->conn->sender.out_packet_id, now_ns);
    if (ue_is_legacy(&m->conn->common)) {
        m->conn->sender.legacy.queued.begin = m->conn->sender.legacy.queued.count = 0;
    } else {
        m->conn->sender.packet_notify.written_in_ack_seq =
            packet != NULL ? packet->ack : m->conn->sender.packet_notify.in_ack_seq_ack;
        m->conn->sender.packet_notify.written_words = packet != NULL ? packet->history_words : 1;
        ue_notify_commit(&m->conn->sender.packet_notify);
    }
    m->conn->sender.dirty_acks = 0;
    m->conn->sender.out_packet_id++;
}

/* ---- what was sent: bunches ---- */

/* Whether the numbers before this one may have been used in packets with unknown bytes. */
static bool may_jump(const struct reference_model *m, const struct ue_channel_entry *entry, int32_t ch_seq) {
    return reference_model_may_miss_numbers(m) ||
           ch_seq <= GPOINTER_TO_INT(g_hash_table_lookup(m->unseen, GUINT_TO_POINTER(entry->channel->id)));
}

static int32_t number_of(const struct reference_model *m, const struct ue_channel_entry *entry,
                         const struct ue_bunch *bunch) {
    return (int32_t)ue_seq_expand(bunch->ch_seq, entry->out_reliable, m->conn->common.context.ch_seq_bound);
}

/* `expected` is the bunch that the model would write; NULL: unknown. */
static void report_item(const struct sending *s, const struct ue_channel_entry *entry, const struct ue_bunch *bunch,
                        enum reference_model_difference_type type, const struct ue_bunch *expected, bool is_certain) {
    report(s, &(struct reference_model_difference){.type = type,
                                                   .has_item = true,
                                                   .item = s->item,
                                                   .bunch = expected,
                                                   .reliable_id = number_of(s->m, entry, bunch),
                                                   .is_certain = is_certain});
}

static struct ue_out_rec *new_out(struct reference_model *m, struct ue_channel_entry *entry,
                                  const struct ue_bunch *bunch, int32_t ch_seq) {
    struct ue_out_rec *out = ue_out_rec_alloc(&m->conn->channels, (uint32_t)bunch->data.bits);
    if (out == NULL) {
        return NULL;
    }
    ue_view_copy(bunch->data, out->data);
    out->open = bunch->open;
    out->close = bunch->close;
    out->close_reason = bunch->close_reason;
    out->paused = bunch->paused;
    out->has_exports = bunch->has_exports;
    out->has_mapped = bunch->has_mapped;
    out->partial = bunch->partial;
    out->partial_initial = bunch->partial_initial;
    out->partial_exports_final = bunch->partial_exports_final;
    out->partial_final = bunch->partial_final;
    ue_channel_add_out(entry, out, ch_seq);
    reference_model_clear_marks(m, entry->index, out);
    return out;
}

static void put_in_packet(const struct sending *s, struct ue_channel *channel, struct ue_out_rec *out) {
    out->packet_id = s->m->conn->sender.out_packet_id;
    out->sent_ns = s->now_ns;
    ue_sent_packets_add_channel(&s->m->conn->sender.sent_packets, out->packet_id, channel, out);
}

/* Numbers that unknown packets used: their bunches count as sent, and become known with a copy. */
static void insert_unknown(struct reference_model *m, struct ue_channel_entry *entry, int32_t until) {
    static const struct ue_bunch nothing;
    while (entry->out_reliable + 1 < until) {
        struct ue_out_rec *out = new_out(m, entry, &nothing, ++entry->out_reliable);
        if (out == NULL) {
            return;
        }
        out->packet_id = m->conn->sender.out_packet_id - 1;
        reference_model_add_mark(m, entry->index, out, REFERENCE_MODEL_MARK_UNKNOWN);
    }
}

/* Unknown bunches may have been acknowledged before. */
static void forget_unknown(struct reference_model *m, struct ue_channel *channel) {
    while (channel->out_count > m->conn->common.limits.reliable &&
           reference_model_has_mark(m, channel->index, channel->out_first,
                                    REFERENCE_MODEL_MARK_UNKNOWN | REFERENCE_MODEL_MARK_REPEATED)) {
        struct ue_out_rec *first = channel->out_first;
        ue_sent_packets_unlink(&m->conn->sender.sent_packets, first->packet_id, channel,
                               first); /* a copy may still be in that packet */
        first->acked = true;
        ue_channel_release(&m->conn->channels, channel);
    }
}

static void add_new(const struct sending *s, struct ue_channel_entry *entry, const struct ue_bunch *bunch,
                    int32_t ch_seq) {
    entry->out_reliable = ch_seq > entry->out_reliable ? ch_seq : entry->out_reliable;
    struct ue_out_rec *out = new_out(s->m, entry, bunch, ch_seq);
    if (out != NULL) {
        put_in_packet(s, entry->channel, out);
        forget_unknown(s->m, entry->channel);
    }
}

static enum reference_model_number find_number(const struct sending *s, const struct ue_bunch *bunch, int32_t ch_seq) {
    uint32_t bound = s->m->conn->common.context.ch_seq_bound;
    return s->sink->find_number(s->sink->user, bunch, (uint32_t)ch_seq & (bound - 1));
}

/* Whether one number was changed into another: by one bit, or by counting wrong. A bunch of which other bits are wrong
   can have any number. */
static bool is_near(uint32_t a, uint32_t b) {
    uint32_t changed = a ^ b;
    return (changed & (changed - 1)) == 0 || (a > b ? a - b : b - a) <= NEAR_NUMBERS;
}

static int32_t next_number(const struct ue_channel_entry *entry) {
    return entry->pending_out_rec != 0 ? entry->pending_out_rec : entry->out_reliable + 1;
}

/* Whether a bunch has another number than the next, which it should have: no other bunch has that. Reports it. */
static bool skips_next(const struct sending *s, const struct ue_channel_entry *entry, const struct ue_bunch *bunch) {
    const struct reference_model *m = s->m;
    int32_t next = next_number(entry);
    struct ue_bunch expected = *bunch;
    expected.ch_seq = (uint32_t)next & (m->conn->common.context.ch_seq_bound - 1);
    if (may_jump(m, entry, next) || next <= entry->out_reliable || bunch->ch_seq == expected.ch_seq ||
        find_number(s, bunch, next) != REFERENCE_MODEL_NUMBER_SKIPPED) {
        return false;
    }
    report_item(s, entry, bunch, REFERENCE_MODEL_DIFFERS_CH_SEQ,
                is_near(bunch->ch_seq, expected.ch_seq) ? &expected : NULL, true);
    return true;
}

static void compare_number(const struct sending *s, struct ue_channel_entry *entry, const struct ue_bunch *bunch,
                           int32_t ch_seq) {
    struct reference_model *m = s->m;
    int32_t next = next_number(entry);
    if (entry->pending_out_rec != 0 && ch_seq == next) {
        entry->pending_out_rec = next < entry->out_reliable ? next + 1 : 0;
    } else if (ch_seq != next && !may_jump(m, entry, ch_seq)) {
        report_item(s, entry, bunch, REFERENCE_MODEL_DIFFERS_CH_SEQ, NULL,
                    find_number(s, bunch, next) == REFERENCE_MODEL_NUMBER_FOLLOWS);
        entry->pending_out_rec = 0;
    } else if (ch_seq > entry->out_reliable + 1) {
        insert_unknown(m, entry, ch_seq);
        entry->pending_out_rec = 0;
    }
    add_new(s, entry, bunch, ch_seq);
}

/* An expected copy: the recorded one with what the first had. */
static bool same_content(const struct ue_out_rec *out, const struct ue_bunch *bunch, struct ue_bunch *expected) {
    *expected = *bunch;
    expected->open = out->open;
    expected->close = out->close;
    expected->close_reason = out->close_reason;
    expected->paused = out->paused;
    expected->has_exports = out->has_exports;
    expected->has_mapped = out->has_mapped;
    expected->partial = out->partial;
    expected->partial_initial = out->partial_initial;
    expected->partial_exports_final = out->partial_exports_final;
    expected->partial_final = out->partial_final;
    expected->data = (struct ue_view){out->data, 0, out->data_bits};
    return out->open == bunch->open && out->close == bunch->close && out->close_reason == bunch->close_reason &&
           out->paused == bunch->paused && out->has_exports == bunch->has_exports &&
           out->has_mapped == bunch->has_mapped && out->partial == bunch->partial &&
           out->partial_initial == bunch->partial_initial &&
           out->partial_exports_final == bunch->partial_exports_final && out->partial_final == bunch->partial_final &&
           ue_view_equal(expected->data, bunch->data);
}

static void compare_copy(const struct sending *s, struct ue_channel_entry *entry, struct ue_out_rec *out,
                         const struct ue_bunch *bunch) {
    struct reference_model *m = s->m;
    struct ue_bunch expected;
    m->notes.copies++;
    if (!reference_model_has_mark(m, entry->index, out, REFERENCE_MODEL_MARK_UNKNOWN) &&
        !same_content(out, bunch, &expected)) {
        report_item(s, entry, bunch, REFERENCE_MODEL_DIFFERS_CONTENT, &expected, false);
    }
    if (reference_model_is_owed(out)) {
        m->notes.late += -out->packet_id < m->conn->sender.out_packet_id;
        reference_model_record_retransmission(m, out);
        m->conn->common.statistics.counters.out_bunches_resent++;
    } else {
        ue_sent_packets_unlink(&m->conn->sender.sent_packets, out->packet_id, entry->channel, out);
        m->notes.early += !reference_model_has_mark(m, entry->index, out,
                                                    REFERENCE_MODEL_MARK_UNKNOWN | REFERENCE_MODEL_MARK_REPEATED);
        reference_model_add_mark(m, entry->index, out, REFERENCE_MODEL_MARK_REPEATED);
    }
    put_in_packet(s, entry->channel, out);
}

static void compare_reliable(const struct sending *s, struct ue_channel_entry *entry, const struct ue_bunch *bunch) {
    struct reference_model *m = s->m;
    if (entry->out_reliable <= LEARNED_ONE) {
        entry->out_reliable = (int32_t)bunch->ch_seq - 1;
        if (!bunch->open) {
            g_hash_table_insert(m->unseen, GUINT_TO_POINTER(entry->channel->id),
                                GINT_TO_POINTER((int32_t)(bunch->ch_seq + m->conn->common.limits.reliable)));
        }
    }
    int32_t ch_seq = number_of(m, entry, bunch);
    struct ue_out_rec *out = reference_model_find_out(entry->channel, ch_seq);
    struct ue_bunch expected;
    bool is_waiting = out != NULL && !out->acked;
    if (!(is_waiting && same_content(out, bunch, &expected)) && skips_next(s, entry, bunch)) {
        entry->pending_out_rec = 0;
        add_new(s, entry, bunch, entry->out_reliable + 1);
    } else if (is_waiting) {
        compare_copy(s, entry, out, bunch);
    } else if (ch_seq > entry->out_reliable || (entry->pending_out_rec != 0 && ch_seq >= entry->pending_out_rec)) {
        compare_number(s, entry, bunch, ch_seq);
    } else if (!m->learns && ch_seq <= m->conn->channels.out_first) {
        report_item(s, entry, bunch, REFERENCE_MODEL_DIFFERS_CH_SEQ, NULL, true); /* before the first of its channel */
    } else if (!m->learns && !reference_model_may_miss_numbers(m) && m->notes.early == 0) {
        /* A sender of early copies may count the report of one packet only, and fills packets while it reads reports
           (endpoint.md 39.11). */
        report_item(s, entry, bunch, REFERENCE_MODEL_DIFFERS_SPURIOUS, NULL, false);
    }
}

void reference_model_send_unknown(struct reference_model *m, uint64_t now_ns) {
    reference_model_date_owed(m);
    reference_model_clear_owed(m);
    m->unknown_out = m->conn->sender.out_packet_id;
    commit(m, now_ns, NULL);
}

/* ---- what was sent: channels ---- */

static void open_here(struct ue_channel *channel, const struct ue_bunch *bunch, int64_t packet_id) {
    channel->opened_locally = true;
    channel->open_sent = true;
    channel->temporary = !bunch->reliable;
    channel->open_packets = (struct ue_packet_range){packet_id, packet_id};
}

/* Channels that need no open, or whose open the model may not have seen. */
static bool needs_no_open(const struct reference_model *m, enum ue_channel_kind kind) {
    return m->learns || reference_model_may_miss_numbers(m) || ue_kind_both_open(kind);
}

static struct ue_channel *new_channel(const struct sending *s, struct ue_channel_entry *entry,
                                      const struct ue_bunch *bunch) {
    struct reference_model *m = s->m;
    enum ue_channel_kind kind = kind_or_actor(m, bunch);
    bool was_used =
        entry->out_reliable != m->conn->channels.out_first || entry->in_reliable != m->conn->channels.in_first;
    if (bunch->open && !ue_may_open(&m->conn->common, kind)) {
        report_item(s, entry, bunch, REFERENCE_MODEL_DIFFERS_OPEN, NULL, false);
    } else if (!bunch->open && !was_used && !needs_no_open(m, kind) && !s->sink->may_know_more(s->sink->user)) {
        report_item(s, entry, bunch, REFERENCE_MODEL_DIFFERS_NOT_OPEN, NULL, false);
    }
    struct ue_channel *channel = ue_channel_new(&m->conn->channels, entry, kind);
    if (channel != NULL) {
        channel->name_index = bunch->has_name ? bunch->name.index : 0;
        channel->has_opened = true;
        channel->opened_locally = true;
    }
    return channel;
}

/* Whether the bunch is a copy of one that was not reported yet. */
static bool is_copy(const struct reference_model *m, const struct ue_channel_entry *entry,
                    const struct ue_bunch *bunch) {
    return bunch->reliable && entry->out_reliable > LEARNED_ONE && number_of(m, entry, bunch) <= entry->out_reliable;
}

static void compare_channel(const struct sending *s, struct ue_channel_entry *entry, const struct ue_bunch *bunch) {
    struct reference_model *m = s->m;
    struct ue_channel *channel = entry->channel;
    bool is_new = !is_copy(m, entry, bunch);
    if (bunch->open && is_new) {
        if (channel->open_sent && !channel->closing && !m->learns && !reference_model_may_miss_numbers(m) &&
            !ue_kind_both_open(channel->kind)) {
            report_item(s, entry, bunch, REFERENCE_MODEL_DIFFERS_OPEN, NULL, false);
        } else {
            open_here(channel, bunch, m->conn->sender.out_packet_id);
        }
    } else if (channel->closing && is_new && !reference_model_may_miss_numbers(m)) {
        report_item(s, entry, bunch, REFERENCE_MODEL_DIFFERS_AFTER_CLOSE, NULL, false);
    }
    if (bunch->open && channel->opened_locally && bunch->partial) {
        channel->open_packets.last = m->conn->sender.out_packet_id;
    }
    if (bunch->close && is_new) {
        if (!channel->opened_locally && entry->index != 0 && !m->learns) {
            report_item(s, entry, bunch, REFERENCE_MODEL_DIFFERS_CLOSE, NULL, false);
        }
        channel->closing = true;
    }
}

/* Whether a bunch would be explained by packets not yet received: an answer may be sent before a packet acknowledges
   its cause. *nacked_id: the own packet whose loss would explain it, or -1. */
static bool is_unexplained(const struct reference_model *m, const struct ue_channel_entry *entry,
                           const struct ue_bunch *bunch, int64_t *nacked_id) {
    *nacked_id = -1;
    if (entry->channel == NULL || !is_copy(m, entry, bunch)) {
        return entry->channel == NULL && !bunch->open && !m->learns && !reference_model_may_miss_numbers(m);
    }
    const struct ue_out_rec *out = reference_model_find_out(entry->channel, number_of(m, entry, bunch));
    bool is_early =
        out != NULL && !out->acked && out->packet_id >= 0 &&
        !reference_model_has_mark(m, entry->index, out, REFERENCE_MODEL_MARK_UNKNOWN | REFERENCE_MODEL_MARK_REPEATED);
    *nacked_id = is_early ? out->packet_id : -1;
    return is_early;
}

static void compare_bunch(const struct sending *s, const struct ue_bunch *bunch) {
    struct reference_model *m = s->m;
    struct ue_channel_entry *entry = ue_channel_entry_get(&m->conn->channels, bunch->channel);
    int64_t nacked_id;
    if (entry == NULL) {
        return;
    }
    while (is_unexplained(m, entry, bunch, &nacked_id) && s->sink->receive_next(s->sink->user, nacked_id)) {
        reference_model_date_owed(m);
    }
    if (entry->channel != NULL && entry->channel->closing && bunch->open && !is_copy(m, entry, bunch)) {
        ue_channel_free(&m->conn->channels, entry); /* its close was acknowledged, by packets with unknown bytes */
        entry->pending_out_rec = 0;
    }
    if (entry->channel == NULL && new_channel(s, entry, bunch) == NULL) {
        return;
    }
    compare_channel(s, entry, bunch);
    if (bunch->reliable) {
        compare_reliable(s, entry, bunch);
    } else {
        ue_sent_packets_add_channel(&m->conn->sender.sent_packets, m->conn->sender.out_packet_id, entry->channel, NULL);
    }
}

bool reference_model_is_out_of_memory(const struct reference_model *m) {
    return m->conn->common.share.refusals != 0;
}

void reference_model_compare_sent(struct reference_model *m, uint64_t now_ns, const struct ue_datagram *sent,
                                  const struct reference_model_sink *sink) {
    struct sending s = {.m = m, .now_ns = now_ns, .sink = sink};
    ue_conn_begin_input(m->conn);
    reference_model_date_owed(m);
    if (!ue_is_legacy(&m->conn->common)) {
        reference_model_compare_header(m, &sent->packet, sink);
    }
    for (; s.item < sent->item_count && ue_is_up(&m->conn->common); s.item++) {
        if (!sent->items[s.item].is_ack) {
            compare_bunch(&s, &sent->items[s.item].bunch);
        }
    }
    commit(m, now_ns, &sent->packet);
}
