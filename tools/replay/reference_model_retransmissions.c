/* SPDX-License-Identifier: MIT */
/* What a reference model knows of sent bunches beside OutRec: marks, and which must be sent again since when. */
#include "tools/replay/reference_model_state.h"

#define MARKS_MIN 1024
#define PASSED_OVER_MIN 2 /* later retransmissions that show that one is missing */

static gint64 mark_key(uint32_t index, int32_t ch_seq) {
    return (gint64)((uint64_t)index << 32 | (uint32_t)ch_seq);
}

bool reference_model_has_mark(const struct reference_model *m, uint32_t index, const struct ue_out_rec *out,
                              unsigned marks) {
    const gint64 key = mark_key(index, out->ch_seq);
    return (GPOINTER_TO_UINT(g_hash_table_lookup(m->marks, &key)) & marks) != 0;
}

void reference_model_clear_marks(const struct reference_model *m, uint32_t index, const struct ue_out_rec *out) {
    const gint64 key = mark_key(index, out->ch_seq);
    g_hash_table_remove(m->marks, &key);
}

struct ue_out_rec *reference_model_find_out(const struct ue_channel *channel, int32_t ch_seq) {
    struct ue_out_rec *out = channel->out_first;
    while (out != NULL && out->ch_seq != ch_seq) {
        out = out->next;
    }
    return out;
}

static gboolean is_mark_of_none(gpointer key, gpointer value, gpointer user) {
    const struct reference_model *m = user;
    uint64_t bits = (uint64_t)*(const gint64 *)key;
    const struct ue_channel *channel = ue_channel_find(&m->conn->channels, (uint32_t)(bits >> 32));
    (void)value;
    return channel == NULL || reference_model_find_out(channel, (int32_t)(uint32_t)bits) == NULL;
}

void reference_model_add_mark(struct reference_model *m, uint32_t index, const struct ue_out_rec *out, unsigned mark) {
    const gint64 key = mark_key(index, out->ch_seq);
    unsigned marks = GPOINTER_TO_UINT(g_hash_table_lookup(m->marks, &key));
    if (g_hash_table_size(m->marks) >= m->marks_max) {
        g_hash_table_foreach_remove(m->marks, is_mark_of_none, m);
        m->marks_max = MAX(MARKS_MIN, 2 * g_hash_table_size(m->marks));
    }
    g_hash_table_insert(m->marks, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(marks | mark));
}

/* Whether a packet with unknown bytes may have a copy of a newly lost bunch: the last one, or, of what is sent again
   before a report (endpoint.md 21), one of the latest. */
static bool may_have_copy(const struct reference_model *m, const struct ue_channel *channel) {
    bool is_early = channel->index == 0 || m->notes.early != 0;
    return m->unknown_out == m->conn->sender.out_packet_id - 1 || (is_early && reference_model_may_miss_numbers(m));
}

/* Sets from which own packet on the newly lost bunches are due. Where a copy may be in a packet with unknown bytes, the
   bunch counts as sent. Returns whether any is due. */
static bool date_owed_of(struct reference_model *m, const struct ue_channel *channel) {
    bool is_any_owed = false;
    for (struct ue_out_rec *out = channel->out_first; out != NULL; out = out->next) {
        if (out->packet_id == UE_NO_PACKET && !out->acked) {
            if (may_have_copy(m, channel)) {
                reference_model_add_mark(m, channel->index, out, REFERENCE_MODEL_MARK_REPEATED);
            }
            bool may_be_sent = reference_model_has_mark(m, channel->index, out,
                                                        REFERENCE_MODEL_MARK_UNKNOWN | REFERENCE_MODEL_MARK_REPEATED);
            out->packet_id = may_be_sent ? m->conn->sender.out_packet_id : -m->conn->sender.out_packet_id;
        }
        is_any_owed |= reference_model_is_owed(out);
    }
    return is_any_owed;
}

static gboolean owes_nothing(gpointer key, gpointer value, gpointer user) {
    struct reference_model *m = user;
    const struct ue_channel *channel = ue_channel_find(&m->conn->channels, GPOINTER_TO_UINT(key));
    (void)value;
    return channel == NULL || !date_owed_of(m, channel);
}

void reference_model_date_owed(struct reference_model *m) {
    struct ue_channel_table *channels = &m->conn->channels;
    struct ue_out_rec *out;
    while ((out = ue_out_queue_pop(&m->conn->common.share, &channels->resends)) != NULL) {
        g_hash_table_add(m->owing, GUINT_TO_POINTER(out->channel));
    }
    g_hash_table_foreach_remove(m->owing, owes_nothing, m);
}

void reference_model_set_ack_uncertain(struct reference_model *m, int64_t packet_id) {
    for (uint32_t i = 0; i < m->conn->channels.capacity; i++) {
        const struct ue_channel *channel = ue_channel_at(&m->conn->channels, i);
        for (struct ue_out_rec *out = channel != NULL ? channel->out_first : NULL; out != NULL; out = out->next) {
            if (out->packet_id == packet_id) {
                reference_model_add_mark(m, channel->index, out, REFERENCE_MODEL_MARK_REPEATED);
            }
        }
    }
}

/* Bunches that are due may be in a packet with unknown bytes. */
void reference_model_clear_owed(struct reference_model *m) {
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, m->owing);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        const struct ue_channel *channel = ue_channel_find(&m->conn->channels, GPOINTER_TO_UINT(key));
        for (struct ue_out_rec *out = channel != NULL ? channel->out_first : NULL; out != NULL; out = out->next) {
            if (reference_model_is_owed(out)) {
                reference_model_add_mark(m, channel->index, out, REFERENCE_MODEL_MARK_REPEATED);
                out->packet_id = m->conn->sender.out_packet_id;
            }
        }
    }
    g_hash_table_remove_all(m->owing);
}

/* Whether bunches that were due later were sent again. */
static bool is_passed_over(const struct reference_model *model, const struct ue_out_rec *out) {
    unsigned count = 0;
    for (uint64_t i = 0; i < model->retransmission_count && i < REFERENCE_MODEL_RETRANSMISSIONS; i++) {
        count += model->retransmissions[i] > -out->packet_id;
    }
    return count >= PASSED_OVER_MIN;
}

/* ---- what was not sent ---- */

static bool is_missed(const struct reference_model *m, const struct ue_out_rec *out,
                      const struct reference_model_retransmission_limits *limits) {
    bool is_silent = m->retransmitted_id < limits->silent_id;
    return (is_silent && -out->packet_id < limits->silent_id) ||
           (-out->packet_id < limits->order_id && is_passed_over(m, out));
}

bool reference_model_find_missing_retransmission(const struct reference_model *m,
                                                 const struct reference_model_retransmission_limits *limits,
                                                 struct reference_model_missing_retransmission *missing) {
    for (uint32_t i = 0; g_hash_table_size(m->owing) != 0 && i < m->conn->channels.capacity; i++) {
        const struct ue_channel *channel = ue_channel_at(&m->conn->channels, i);
        if (channel == NULL || !g_hash_table_contains(m->owing, GUINT_TO_POINTER(channel->index))) {
            continue;
        }
        for (const struct ue_out_rec *out = channel->out_first; out != NULL; out = out->next) {
            if (reference_model_is_owed(out) && is_missed(m, out, limits)) {
                *missing =
                    (struct reference_model_missing_retransmission){channel->index, out->ch_seq, -out->packet_id};
                return true;
            }
        }
    }
    return false;
}

void reference_model_record_retransmission(struct reference_model *m, const struct ue_out_rec *out) {
    m->retransmissions[m->retransmission_count++ % REFERENCE_MODEL_RETRANSMISSIONS] = -out->packet_id;
    m->retransmitted_id = m->conn->sender.out_packet_id;
}
