/* SPDX-License-Identifier: MIT */
#include "tools/replay/reference_model.h"

#include <glib.h>
#include <uerudp/seq.h>
#include "tools/replay/reference_model_state.h"

#define LEARN (INT32_MIN / 2)    /* number of a entry that is not known yet; */
#define LEARNED_ONE (LEARN + 1)  /* ... of the control channel, on which something must have come */
#define UNKNOWN_OUT_PACKETS 1024 /* how long numbers may be missing after a packet with unknown bytes */
#define PASSED_OVER_MIN 2        /* later retransmissions that show that one is missing */

struct type {
    const char *name;
    const char *text;
};

static const struct type types[UE_MODEL_DIFFERENCE_COUNT] = {
#define X(id, name, text) [UE_MODEL_DIFFERS_##id] = {name, text},
#include "tools/replay/reference_model.def"
#undef X
};

const char *ue_model_difference_name(enum ue_model_difference_type type) {
    return types[type].name;
}

const char *ue_model_difference_text(enum ue_model_difference_type type) {
    return types[type].text;
}

int64_t ue_model_reported_id(const struct ue_conn *c) {
    return c->in_packet_id;
}

int64_t ue_model_unknown_id(const struct ue_conn *c) {
    return ue_model_of(c)->unknown_out;
}

const struct ue_model_retransmissions *ue_model_get_retransmissions(const struct ue_conn *c) {
    return &ue_model_of(c)->notes;
}

/* ---- begin ---- */

static void join(struct ue_conn *c, const struct ue_model_start *start) {
    c->in_packet_id = start->in - 1;
    c->out_packet_id = start->out;
    c->out_ack_packet_id = c->last_notified_id = c->legacy.out_ack_packet_id = start->out - 1;
}

static struct ue_channel *learn_channel(struct ue_conn *c, struct ue_channel_entry *entry, enum ue_channel_kind kind) {
    struct ue_channel *channel = entry->channel != NULL ? entry->channel : ue_channel_new(&c->channels, entry, kind);
    if (channel != NULL) {
        channel->open_acked = true;
        channel->has_opened = true;
    }
    return channel;
}

/* The peer opened channel 0 before the capture began. */
static void learn_control(struct ue_conn *c) {
    c->channels.in_first = c->channels.out_first = LEARN;
    ue_channel_table_free(&c->channels);
    struct ue_channel_entry *entry = ue_channel_entry_get(&c->channels, 0);
    if (entry != NULL && learn_channel(c, entry, UE_KIND_CONTROL) != NULL) {
        entry->in_reliable = LEARNED_ONE;
        entry->channel->name_index = UE_NAME_CONTROL;
    }
}

static void begin(struct ue_conn *c, const struct ue_model_start *start) {
    enum ue_direction own = c->out_context.direction;
    c->in_context = c->out_context = *start->context;
    c->out_context.direction = own;
    c->in_context.direction = ue_direction_reverse(own);
    c->config.client_id = start->prefix.client_id;
    ue_conn_adopt(c, 0, ue_seq_of(start->in), ue_seq_of(start->out));
    ue_conn_admit(c);
    c->session_id = start->prefix.session_id;
    *ue_model_of(c) = (struct ue_model){.learns = !start->is_whole,
                                        .first_in = start->in,
                                        .told = start->in - 1,
                                        .flushed = INT64_MIN,
                                        .unknown_out = INT64_MIN};
    join(c, start);
    if (ue_model_of(c)->learns) {
        learn_control(c);
    }
    if (ue_model_of(c)->learns &&
        ue_conn_is_legacy(c)) { /* no header shows which packets wait for an acknowledgement */
        ue_model_of(c)->unknown_out = start->out - 1;
    }
}

struct ue_conn *ue_model_new(const struct ue_conn_config *config, const struct ue_model_start *start) {
    struct ue_conn_config filled = *config;
    filled.is_mute = true;
    filled.any_opener = start->opens_freely;
    struct ue_conn *c = ue_conn_new(NULL, &filled);
    if (c != NULL) {
        ue_conn_set_hook(c, NULL, g_new0(struct ue_model, 1));
        begin(c, start);
    }
    return c;
}

void ue_model_free(struct ue_conn *c) {
    if (c != NULL) {
        g_free(ue_model_of(c));
        ue_conn_free(c);
    }
}

/* ---- what was received ---- */

static enum ue_channel_kind kind_or_actor(const struct ue_conn *c, const struct ue_bunch *bunch) {
    enum ue_channel_kind kind;
    return ue_conn_kind_of(c, bunch, &kind) ? kind : bunch->channel == 0 ? UE_KIND_CONTROL : UE_KIND_ACTOR;
}

/* A channel that was opened before the capture began; the bunch shows what it is, as far as it does. */
static void learn(void *user, const struct ue_item *item) {
    struct ue_conn *c = user;
    const struct ue_bunch *bunch = &item->bunch;
    struct ue_channel_entry *entry = item->is_ack ? NULL : ue_channel_entry_get(&c->channels, bunch->channel);
    if (entry == NULL) {
        return;
    }
    if (bunch->reliable && entry->in_reliable <= LEARNED_ONE) {
        entry->in_reliable = (int32_t)bunch->ch_seq - 1;
        if (!bunch->open) {
            learn_channel(c, entry, kind_or_actor(c, bunch));
        }
    } else if (entry->in_reliable == LEARN && !bunch->open) {
        learn_channel(c, entry, kind_or_actor(c, bunch));
    }
    if (entry->channel != NULL && entry->channel->name_index == 0 && bunch->has_name) {
        entry->channel->kind = kind_or_actor(c, bunch);
        entry->channel->name_index = bunch->name.index;
    }
}

bool ue_model_receive(struct ue_conn *c, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {
    const struct ue_visitor learner = {.item = learn, .user = c};
    struct ue_decode_result verdict;
    if (ue_model_of(c)->learns) {
        ue_datagram_decode(&c->in_context, bytes, size_bytes, NULL, &learner, &verdict);
    }
    c->is_in_delivered = false;
    ue_conn_receive(c, now_ns, bytes, size_bytes);
    ue_conn_end_receive(c, now_ns);
    return c->is_in_delivered;
}

void ue_model_report_packet(struct ue_conn *c, int64_t packet_id, bool delivered) {
    if (packet_id <= c->in_packet_id) {
        return;
    }
    c->in_packet_id = packet_id;
    if (!ue_conn_is_legacy(c)) {
        c->notify.in_seq = ue_seq_of(packet_id);
        ue_notify_report(&c->notify, c->notify.in_seq, delivered);
    }
}

void ue_model_receive_unknown(struct ue_conn *c, int64_t packet_id, bool delivered) {
    ue_model_report_packet(c, packet_id, delivered);
}

void ue_model_set_delivered(struct ue_conn *c, int64_t packet_id, bool delivered) {
    ue_model_report_packet(c, packet_id, delivered);
    if (!ue_conn_is_legacy(c) && c->notify.in_ack_seq == ue_seq_of(packet_id)) {
        c->notify.history[0] = (c->notify.history[0] & ~UINT32_C(1)) | delivered;
    }
}

/* ---- what was sent ---- */

struct sending {
    struct ue_conn *c;
    uint64_t now_ns;
    uint32_t item;
    const struct ue_model_sink *sink;
};

static void depart(const struct sending *s, const struct ue_model_difference *departure) {
    s->sink->depart(s->sink->user, departure);
}

static void commit(struct ue_conn *c, uint64_t now_ns, const struct ue_packet *packet) {
    ue_sent_packets_push(&c->sent_packets, c->out_packet_id, now_ns);
    if (ue_conn_is_legacy(c)) {
        c->legacy.queued.begin = c->legacy.queued.count = 0;
    } else {
        c->notify.written_in_ack_seq = packet != NULL ? packet->ack : c->notify.in_ack_seq_ack;
        c->notify.written_words = packet != NULL ? packet->history_words : 1;
        ue_notify_commit(&c->notify);
    }
    c->dirty_acks = 0;
    c->out_packet_id++;
}

/* ---- what was sent: bunches ---- */

static bool may_miss_numbers(const struct ue_conn *c) {
    return ue_model_of(c)->unknown_out >= c->out_packet_id - UNKNOWN_OUT_PACKETS;
}

/* Whether the numbers before this one may have been used in packets with unknown bytes. */
static bool may_jump(const struct ue_conn *c, const struct ue_channel_entry *entry, int32_t ch_seq) {
    return may_miss_numbers(c) || ch_seq <= entry->channel->given_unseen;
}

/* In a reference model a bunch that must be sent again has the negative id of the own packet from which on it is due.
 */
static bool is_owed(const struct ue_out_rec *out) {
    return out->packet_id < 0 && !out->acked;
}

static void depart_item(const struct sending *s, enum ue_model_difference_type type, const struct ue_bunch *expected,
                        int64_t reliable_id) {
    depart(s, &(struct ue_model_difference){
                  .type = type, .has_item = true, .item = s->item, .bunch = expected, .reliable_id = reliable_id});
}

static struct ue_out_rec *new_out(struct ue_conn *c, struct ue_channel_entry *entry, const struct ue_bunch *bunch,
                                  int32_t ch_seq) {
    struct ue_out_rec *out = ue_out_rec_alloc(&c->share, (uint32_t)bunch->data.bits);
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
    return out;
}

static void put_in_packet(const struct sending *s, struct ue_channel *channel, struct ue_out_rec *out) {
    out->packet_id = s->c->out_packet_id;
    out->sent_ns = s->now_ns;
    ue_sent_packets_add_channel(&s->c->sent_packets, out->packet_id, channel, out);
}

/* Numbers that unknown packets used: their bunches count as sent, and become known with a copy. */
static void fill_gap(struct ue_conn *c, struct ue_channel_entry *entry, int32_t until) {
    static const struct ue_bunch nothing;
    while (entry->out_reliable + 1 < until) {
        struct ue_out_rec *out = new_out(c, entry, &nothing, ++entry->out_reliable);
        if (out == NULL) {
            return;
        }
        out->packet_id = c->out_packet_id - 1;
        out->unknown = true;
    }
}

/* Unknown bunches may have been acknowledged before. */
static void forget_unknown(struct ue_conn *c, struct ue_channel *channel) {
    while (channel->out_count > c->limits.reliable && (channel->out_first->unknown || channel->out_first->repeated)) {
        struct ue_out_rec *first = channel->out_first;
        ue_sent_packets_unlink(&c->sent_packets, first->packet_id, channel,
                               first); /* a copy may still be in that packet */
        first->acked = true;
        ue_channel_release(&c->channels, channel);
    }
}

static void number(const struct sending *s, struct ue_channel_entry *entry, const struct ue_bunch *bunch,
                   int32_t ch_seq) {
    struct ue_conn *c = s->c;
    int32_t next = entry->pending_out_rec != 0 ? entry->pending_out_rec : entry->out_reliable + 1;
    if (entry->pending_out_rec != 0 && ch_seq == next) {
        entry->pending_out_rec = next < entry->out_reliable ? next + 1 : 0;
    } else if (ch_seq != next && !may_jump(c, entry, ch_seq)) {
        struct ue_bunch expected = *bunch;
        expected.ch_seq = (uint32_t)next & (c->out_context.ch_seq_bound - 1);
        depart_item(s, UE_MODEL_DIFFERS_CH_SEQ, &expected, ch_seq);
        entry->pending_out_rec = 0;
    } else if (ch_seq > entry->out_reliable + 1) {
        fill_gap(c, entry, ch_seq);
        entry->pending_out_rec = 0;
    }
    entry->out_reliable = ch_seq > entry->out_reliable ? ch_seq : entry->out_reliable;
    struct ue_out_rec *out = new_out(c, entry, bunch, ch_seq);
    if (out != NULL) {
        put_in_packet(s, entry->channel, out);
        forget_unknown(c, entry->channel);
    }
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

static void note_retransmission(struct ue_conn *c, const struct ue_out_rec *out) {
    ue_model_of(c)->retransmissions[ue_model_of(c)->retransmission_count++ % UE_MODEL_RETRANSMISSIONS] =
        -out->packet_id;
    ue_model_of(c)->retransmitted_id = c->out_packet_id;
}

static void repeat(const struct sending *s, struct ue_channel_entry *entry, struct ue_out_rec *out,
                   const struct ue_bunch *bunch) {
    struct ue_conn *c = s->c;
    struct ue_bunch expected;
    ue_model_of(c)->notes.copies++;
    if (!out->unknown && !same_content(out, bunch, &expected)) {
        depart_item(s, UE_MODEL_DIFFERS_CONTENT, &expected, out->ch_seq);
    }
    if (is_owed(out)) {
        ue_model_of(c)->notes.late += -out->packet_id < c->out_packet_id;
        note_retransmission(c, out);
        c->counters.out_bunches_resent++;
    } else {
        ue_sent_packets_unlink(&c->sent_packets, out->packet_id, entry->channel, out);
        ue_model_of(c)->notes.early += !out->unknown && !out->repeated;
        out->repeated = true;
    }
    put_in_packet(s, entry->channel, out);
}

/* In the order in which they were first seen, which may differ from that of their numbers. */
static struct ue_out_rec *find_out(const struct ue_channel *channel, int32_t ch_seq) {
    struct ue_out_rec *out = channel->out_first;
    while (out != NULL && out->ch_seq != ch_seq) {
        out = out->next;
    }
    return out;
}

static void take_reliable(const struct sending *s, struct ue_channel_entry *entry, const struct ue_bunch *bunch) {
    struct ue_conn *c = s->c;
    if (entry->out_reliable <= LEARNED_ONE) {
        entry->out_reliable = (int32_t)bunch->ch_seq - 1;
        entry->channel->given_unseen = bunch->open ? 0 : (int32_t)(bunch->ch_seq + c->limits.reliable);
    }
    int32_t ch_seq = (int32_t)ue_seq_expand(bunch->ch_seq, entry->out_reliable, c->out_context.ch_seq_bound);
    struct ue_out_rec *out = find_out(entry->channel, ch_seq);
    if (out != NULL && !out->acked) {
        repeat(s, entry, out, bunch);
    } else if (ch_seq > entry->out_reliable || (entry->pending_out_rec != 0 && ch_seq >= entry->pending_out_rec)) {
        number(s, entry, bunch, ch_seq);
    } else if (!ue_model_of(c)->learns && !may_miss_numbers(c)) {
        depart_item(s, UE_MODEL_DIFFERS_SPURIOUS, NULL, ch_seq);
    }
}

/* Sets from which own packet on the newly lost bunches are due. Where a copy may be in a packet with unknown bytes, the
   bunch counts as sent. Returns whether any is due. */
static bool date_debts_of(const struct ue_conn *c, struct ue_channel *channel) {
    channel->has_pending_out_rec = false;
    for (struct ue_out_rec *out = channel->out_first; out != NULL; out = out->next) {
        if (out->packet_id == UE_NO_PACKET && !out->acked) {
            out->repeated |= ue_model_of(c)->unknown_out == c->out_packet_id - 1; /* perhaps in that packet already */
            out->packet_id = out->unknown || out->repeated ? c->out_packet_id : -c->out_packet_id;
        }
        channel->has_pending_out_rec |= is_owed(out);
    }
    return channel->has_pending_out_rec;
}

static void date_debts(struct ue_conn *c) {
    bool has_pending_out_rec = false;
    for (uint32_t i = 0; c->has_pending_out_rec && i < c->channels.capacity; i++) {
        struct ue_channel *channel = c->channels.slots[i] != NULL ? c->channels.slots[i]->channel : NULL;
        if (channel != NULL && channel->has_pending_out_rec) {
            has_pending_out_rec |= date_debts_of(c, channel);
        }
    }
    c->has_pending_out_rec = has_pending_out_rec;
}

void ue_model_set_ack_uncertain(struct ue_conn *c, int64_t packet_id) {
    for (uint32_t i = 0; i < c->channels.capacity; i++) {
        const struct ue_channel *channel = c->channels.slots[i] != NULL ? c->channels.slots[i]->channel : NULL;
        for (struct ue_out_rec *out = channel != NULL ? channel->out_first : NULL; out != NULL; out = out->next) {
            out->repeated |= out->packet_id == packet_id;
        }
    }
}

/* Bunches that are due may be in a packet with unknown bytes. */
static void settle_debts(struct ue_conn *c) {
    for (uint32_t i = 0; c->has_pending_out_rec && i < c->channels.capacity; i++) {
        const struct ue_channel *channel = c->channels.slots[i] != NULL ? c->channels.slots[i]->channel : NULL;
        for (struct ue_out_rec *out = channel != NULL ? channel->out_first : NULL; out != NULL; out = out->next) {
            out->repeated |= is_owed(out);
            out->packet_id = is_owed(out) ? c->out_packet_id : out->packet_id;
        }
    }
    c->has_pending_out_rec = false;
}

void ue_model_send_unknown(struct ue_conn *c, uint64_t now_ns) {
    date_debts(c);
    settle_debts(c);
    ue_model_of(c)->unknown_out = c->out_packet_id;
    commit(c, now_ns, NULL);
}

/* ---- what was sent: channels ---- */

static void open_here(struct ue_channel *channel, const struct ue_bunch *bunch, int64_t packet_id) {
    channel->opened_locally = true;
    channel->open_sent = true;
    channel->temporary = !bunch->reliable;
    channel->open_packets = (struct ue_packet_range){packet_id, packet_id};
}

/* Channels that need no open, or whose open the model may not have seen. */
static bool needs_no_open(const struct ue_conn *c, enum ue_channel_kind kind) {
    return ue_model_of(c)->learns || may_miss_numbers(c) || ue_kind_both_open(kind);
}

static struct ue_channel *new_channel(const struct sending *s, struct ue_channel_entry *entry,
                                      const struct ue_bunch *bunch) {
    struct ue_conn *c = s->c;
    enum ue_channel_kind kind = kind_or_actor(c, bunch);
    bool was_used = entry->out_reliable != c->channels.out_first || entry->in_reliable != c->channels.in_first;
    struct ue_bunch expected = *bunch;
    expected.control = expected.open = true;
    if (bunch->open && !ue_conn_may_open(c, kind)) {
        depart_item(s, UE_MODEL_DIFFERS_OPEN, NULL, 0);
    } else if (!bunch->open && !was_used && !needs_no_open(c, kind)) {
        depart_item(s, UE_MODEL_DIFFERS_NOT_OPEN, &expected, 0);
    }
    struct ue_channel *channel = ue_channel_new(&c->channels, entry, kind);
    if (channel != NULL) {
        channel->name_index = bunch->has_name ? bunch->name.index : 0;
        channel->has_opened = true;
        channel->opened_locally = true;
    }
    return channel;
}

/* Whether the bunch is a copy of one that was not reported yet. */
static bool is_copy(const struct ue_conn *c, const struct ue_channel_entry *entry, const struct ue_bunch *bunch) {
    return bunch->reliable && entry->out_reliable > LEARNED_ONE &&
           ue_seq_expand(bunch->ch_seq, entry->out_reliable, c->out_context.ch_seq_bound) <= entry->out_reliable;
}

static void take_channel(const struct sending *s, struct ue_channel_entry *entry, const struct ue_bunch *bunch) {
    struct ue_conn *c = s->c;
    struct ue_channel *channel = entry->channel;
    struct ue_bunch expected = *bunch;
    bool is_new = !is_copy(c, entry, bunch);
    if (bunch->open && is_new) {
        if (channel->open_sent && !channel->closing && !ue_model_of(c)->learns && !may_miss_numbers(c) &&
            !ue_kind_both_open(channel->kind)) {
            expected.open = false;
            expected.control = bunch->close;
            depart_item(s, UE_MODEL_DIFFERS_OPEN, &expected, 0);
        } else {
            open_here(channel, bunch, c->out_packet_id);
        }
    } else if (channel->closing && is_new && !may_miss_numbers(c)) {
        depart_item(s, UE_MODEL_DIFFERS_AFTER_CLOSE, NULL, 0);
    }
    if (bunch->open && channel->opened_locally && bunch->partial) {
        channel->open_packets.last = c->out_packet_id;
    }
    if (bunch->close && is_new) {
        if (!channel->opened_locally && entry->index != 0 && !ue_model_of(c)->learns) {
            expected.close = false;
            expected.control = bunch->open;
            depart_item(s, UE_MODEL_DIFFERS_CLOSE, &expected, 0);
        }
        channel->closing = true;
    }
}

/* Whether a bunch would be explained by packets not yet received: an answer may be sent before a packet acknowledges
   its cause. *nacked_id: the own packet whose loss would explain it, or -1. */
static bool is_unexplained(const struct ue_conn *c, const struct ue_channel_entry *entry, const struct ue_bunch *bunch,
                           int64_t *nacked_id) {
    *nacked_id = -1;
    if (entry->channel == NULL || !is_copy(c, entry, bunch)) {
        return entry->channel == NULL && !bunch->open && !ue_model_of(c)->learns;
    }
    int64_t ch_seq = ue_seq_expand(bunch->ch_seq, entry->out_reliable, c->out_context.ch_seq_bound);
    const struct ue_out_rec *out = find_out(entry->channel, (int32_t)ch_seq);
    bool is_early = out != NULL && !out->acked && !out->unknown && !out->repeated && out->packet_id >= 0;
    *nacked_id = is_early ? out->packet_id : -1;
    return is_early;
}

static void take_bunch(const struct sending *s, const struct ue_bunch *bunch) {
    struct ue_conn *c = s->c;
    struct ue_channel_entry *entry = ue_channel_entry_get(&c->channels, bunch->channel);
    int64_t nacked_id;
    if (entry == NULL) {
        return;
    }
    while (is_unexplained(c, entry, bunch, &nacked_id) && s->sink->hasten(s->sink->user, nacked_id)) {
        date_debts(c);
    }
    if (entry->channel != NULL && entry->channel->closing && bunch->open && !is_copy(c, entry, bunch)) {
        ue_channel_free(&c->channels, entry); /* its close was acknowledged, by packets with unknown bytes */
        entry->pending_out_rec = 0;
    }
    if (entry->channel == NULL && new_channel(s, entry, bunch) == NULL) {
        return;
    }
    take_channel(s, entry, bunch);
    if (bunch->reliable) {
        take_reliable(s, entry, bunch);
    } else {
        ue_sent_packets_add_channel(&c->sent_packets, c->out_packet_id, entry->channel, NULL);
    }
}

/* ---- what was not sent ---- */

/* Whether bunches that were due later were sent again. */
static bool is_passed_over(const struct ue_model *model, const struct ue_out_rec *out) {
    unsigned count = 0;
    for (uint64_t i = 0; i < model->retransmission_count && i < UE_MODEL_RETRANSMISSIONS; i++) {
        count += model->retransmissions[i] > -out->packet_id;
    }
    return count >= PASSED_OVER_MIN;
}

static bool is_missed(const struct ue_conn *c, const struct ue_out_rec *out,
                      const struct ue_model_retransmission_limits *patience) {
    bool is_silent = ue_model_of(c)->retransmitted_id < patience->silent_id;
    return (is_silent && -out->packet_id < patience->silent_id) ||
           (-out->packet_id < patience->order_id && is_passed_over(ue_model_of(c), out));
}

bool ue_model_is_out_of_memory(const struct ue_conn *c) {
    return c->share.refusals != 0;
}

bool ue_model_find_missing_retransmission(const struct ue_conn *c,
                                          const struct ue_model_retransmission_limits *patience,
                                          struct ue_model_missing_retransmission *debt) {
    for (uint32_t i = 0; c->has_pending_out_rec && i < c->channels.capacity; i++) {
        const struct ue_channel *channel = c->channels.slots[i] != NULL ? c->channels.slots[i]->channel : NULL;
        if (channel == NULL || !channel->has_pending_out_rec) {
            continue;
        }
        for (const struct ue_out_rec *out = channel->out_first; out != NULL; out = out->next) {
            if (is_owed(out) && is_missed(c, out, patience)) {
                *debt = (struct ue_model_missing_retransmission){channel->index, out->ch_seq, -out->packet_id};
                return true;
            }
        }
    }
    return false;
}

void ue_model_compare_sent(struct ue_conn *c, uint64_t now_ns, const struct ue_datagram *sent,
                           const struct ue_model_sink *sink) {
    struct sending s = {.c = c, .now_ns = now_ns, .sink = sink};
    ue_conn_begin_input(c);
    date_debts(c);
    if (!ue_conn_is_legacy(c)) {
        ue_model_compare_header(c, &sent->packet, sink);
    }
    for (; s.item < sent->item_count && ue_conn_is_up(c); s.item++) {
        if (!sent->items[s.item].is_ack) {
            take_bunch(&s, &sent->items[s.item].bunch);
        }
    }
    commit(c, now_ns, &sent->packet);
}
