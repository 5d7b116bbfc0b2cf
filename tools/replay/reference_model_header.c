/* SPDX-License-Identifier: MIT */
#include <uerudp/seq.h>
#include "tools/replay/reference_model_state.h"

#define WORD_BITS 32

/* The newest packet that the history of a header reports. */
static int64_t reported_id_of(const struct reference_model *m, const struct ue_packet *packet) {
    uint16_t seq = packet->history_flush ? ue_seq_of(packet->acked_history_seq) : packet->ack;
    return ue_seq_expand(seq, m->conn->receiver.in_packet_id, UE_PACKET_SEQ_MAX);
}

/* How many of `count` bits are known when the first of them is for this packet. */
static uint32_t known_bits(const struct reference_model *m, int64_t packet_id) {
    int64_t known = packet_id - m->first_in + 1;
    return known >= WORD_BITS ? UINT32_MAX : known <= 0 ? 0 : (UINT32_C(1) << known) - 1;
}

/* 32 bits of the own history, the newest for the packet of this age; 0 for older packets than it holds. */
static uint32_t reports_from(const struct ue_notify *n, uint32_t age) {
    uint32_t word = age / WORD_BITS;
    uint64_t low = word < UE_HISTORY_WORDS_MAX ? n->history[word] : 0;
    uint64_t high = word + 1 < UE_HISTORY_WORDS_MAX ? n->history[word + 1] : 0;
    return (uint32_t)((high << WORD_BITS | low) >> age % WORD_BITS);
}

/* Sets the history bits to those that the model knows. Returns whether any differed. */
static bool correct_history(const struct reference_model *m, int64_t reported, uint32_t age, struct ue_packet *packet) {
    uint32_t differs = 0;
    for (uint32_t i = 0; i < packet->history_words; i++) {
        bool is_kept = (i + 1) * WORD_BITS + age <= UE_NOTIFY_HISTORY_BITS;
        uint32_t known = is_kept ? known_bits(m, reported - (int64_t)i * WORD_BITS) : 0;
        uint32_t other =
            (packet->history[i] ^ reports_from(&m->conn->sender.packet_notify, i * WORD_BITS + age)) & known;
        packet->history[i] ^= other;
        differs |= other;
    }
    return differs != 0;
}

/* When the history overflows, the result depends on packets that are not known to have arrived. */
static bool is_overflowing(const struct ue_notify *n) {
    return n->generation != UE_ACKS_PLAIN &&
           (ue_notify_is_waiting(n) || ue_notify_unreported(n) == UE_NOTIFY_HISTORY_BITS);
}

/* ... and after a flush mark, when the history was cleared (endpoint.md 14), until all its bits are newer. */
static bool is_flushing(const struct reference_model *m, int64_t reported) {
    return m->conn->sender.packet_notify.generation == UE_ACKS_RESET && m->flushed >= reported - UE_NOTIFY_HISTORY_BITS;
}

/* Accepts what the header reports. */
static void accept_header(struct reference_model *m, const struct ue_packet *packet, int64_t reported) {
    reference_model_report_packet(m, reported, false);
    if (reported == m->conn->receiver.in_packet_id) {
        memcpy(m->conn->sender.packet_notify.history, packet->history, packet->history_words * sizeof *packet->history);
    }
    if (m->conn->sender.packet_notify.generation == UE_ACKS_RESET) {
        m->conn->sender.packet_notify.flush_seq =
            packet->history_flush ? m->conn->sender.packet_notify.out_seq : m->conn->sender.packet_notify.out_ack_seq;
    }
}

/* The header may be older than the newest received packet: it was written while that packet was handled. */
void reference_model_compare_header(struct reference_model *m, const struct ue_packet *packet,
                                    const struct reference_model_sink *sink) {
    const struct ue_notify *n = &m->conn->sender.packet_notify;
    struct ue_packet expected = *packet;
    int64_t reported = reported_id_of(m, packet);
    int64_t newest = ue_seq_expand(n->in_ack_seq, m->conn->receiver.in_packet_id, UE_PACKET_SEQ_MAX);
    bool is_possible = reported >= m->reported_id && reported <= newest;
    if (n->generation == UE_ACKS_RESET) {
        expected.acked_history_seq = packet->history_flush ? packet->acked_history_seq : packet->ack;
    }
    bool is_same = packet->acked_history_seq == expected.acked_history_seq;
    bool differs = is_possible && (correct_history(m, reported, (uint32_t)(newest - reported), &expected) || !is_same);
    bool is_beyond = !is_possible && is_overflowing(n);
    if (packet->history_flush || n->overflows != m->overflows || is_beyond) {
        m->flushed = reported;
        m->overflows = n->overflows;
    }
    bool is_excused = is_flushing(m, reported) || is_beyond;
    m->reported_id = reported;
    if (is_possible && !differs) {
        return;
    }
    if (!is_possible) {
        expected.ack = n->in_ack_seq;
    }
    if (!is_excused) {
        enum reference_model_difference_type type =
            is_possible ? REFERENCE_MODEL_DIFFERS_HISTORY : REFERENCE_MODEL_DIFFERS_ACK;
        sink->report(sink->user, &(struct reference_model_difference){.type = type, .packet = &expected});
    }
    accept_header(m, packet, reported);
}
