/* SPDX-License-Identifier: MIT */
/* The layouts of packet headers and legacy acks. */
#ifndef UERUDP_LIBCODEC_WIRE_PACKET_LAYOUT_H
#define UERUDP_LIBCODEC_WIRE_PACKET_LAYOUT_H

#include <uerudp/packet.h>
#include <uerudp/seq.h>
#include "libcodec/wire/layout_words.h"

#define NIBBLE_FLUSH 15

/* The number of history words and, from 5.8 on, the flush mark share four bits. */
UE_INLINE void history_words(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_packet *m) {
    bool can_flush = x->profile.packet == UE_PACKET_HISTORY_SEQ;
    uint32_t nibble;
    UINT_MAPPED(nibble, m->history_words, PACKET_HISTORY_WORDS, 4,
                can_flush && m->history_flush ? NIBBLE_FLUSH : m->history_words - 1u,
                nibble < UE_HISTORY_WORDS_MAX ? nibble + 1 : UE_HISTORY_WORDS_MAX);
    SHARED_IF(can_flush, m->history_flush, PACKET_HISTORY_FLUSH, 4, nibble == NIBBLE_FLUSH);
    CANONICAL(nibble < UE_HISTORY_WORDS_MAX || m->history_flush);
}

/* A client sets the bit to request frame times; only in packets of a server a frame time follows the bit. */
UE_INLINE void frame_time(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, bool possible,
                          struct ue_packet *m) {
    FLAG_IF(possible, m->has_frame_time, PACKET_HAS_FRAME_TIME);
    UINT_IF(m->has_frame_time && x->direction == UE_SERVER_TO_CLIENT, m->frame_time_ms, PACKET_FRAME_TIME_MS, 8);
}

UE_INLINE void no_frame_time(enum ue_op op, struct ue_cursor *c, struct ue_packet *m) {
    ABSENT(m->has_frame_time, PACKET_HAS_FRAME_TIME, false);
    ABSENT(m->frame_time_ms, PACKET_FRAME_TIME_MS, 0);
}

UE_INLINE void info(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_packet *m) {
    if (x->profile.packet == UE_PACKET_KBPS) {
        ABSENT(m->has_info, PACKET_HAS_INFO, false);
        ABSENT(m->jitter_ms, PACKET_JITTER_MS, 0);
        frame_time(op, c, x, true, m);
        UINT(m->remote_kbps, PACKET_REMOTE_KBPS, 8);
        return;
    }
    ABSENT(m->remote_kbps, PACKET_REMOTE_KBPS, 0);
    FLAG(m->has_info, PACKET_HAS_INFO);
    UINT_IF(m->has_info, m->jitter_ms, PACKET_JITTER_MS, 10);
    frame_time(op, c, x, m->has_info, m);
}

UE_INLINE void modern(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_packet *m) {
    history_words(op, c, x, m);
    UINT(m->ack, PACKET_ACK, UE_PACKET_SEQ_BITS);
    UINT(m->seq, PACKET_SEQ, UE_PACKET_SEQ_BITS);
    UINTS(m->history, PACKET_HISTORY, 32, m->history_words);
    UINT_IF(x->profile.packet == UE_PACKET_HISTORY_SEQ, m->acked_history_seq, PACKET_ACKED_HISTORY_SEQ, 16);
    VIEW_IF(x->settings.extra_bits != 0, m->extra, PACKET_EXTRA, x->settings.extra_bits);
    info(op, c, x, m);
}

/* A legacy packet begins with its id; its acks are items between the bunches. */
UE_INLINE void legacy(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_packet *m) {
    UINT(m->seq, PACKET_SEQ, UE_PACKET_SEQ_BITS);
    ABSENT(m->history_words, PACKET_HISTORY_WORDS, 0);
    ABSENT(m->history_flush, PACKET_HISTORY_FLUSH, false);
    ABSENT(m->ack, PACKET_ACK, 0);
    UINTS(m->history, PACKET_HISTORY, 32, m->history_words);
    ABSENT(m->acked_history_seq, PACKET_ACKED_HISTORY_SEQ, 0);
    VIEW_IF(x->settings.extra_bits != 0, m->extra, PACKET_EXTRA, x->settings.extra_bits);
    ABSENT(m->has_info, PACKET_HAS_INFO, false);
    ABSENT(m->jitter_ms, PACKET_JITTER_MS, 0);
    no_frame_time(op, c, m);
    ABSENT(m->remote_kbps, PACKET_REMOTE_KBPS, 0);
}

UE_INLINE void packet_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_packet *m) {
    if (x->profile.packet == UE_PACKET_LEGACY) {
        legacy(op, c, x, m);
    } else {
        modern(op, c, x, m);
    }
}

UE_INLINE void ack_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_ack *m) {
    BEGIN(ACK);
    bool is_ack = true;
    FLAG(is_ack, LEGACY_IS_ACK);
    REQUIRE(is_ack, UE_E_CONFLICT, LEGACY_IS_ACK);
    UINT(m->ack_id, LEGACY_ACK_ID, UE_PACKET_SEQ_BITS);
    FLAG(m->has_frame_time, LEGACY_HAS_FRAME_TIME);
    UINT_IF(m->has_frame_time && x->direction == UE_SERVER_TO_CLIENT, m->frame_time_ms, LEGACY_FRAME_TIME_MS, 8);
    PACKED(m->remote_kbps, LEGACY_REMOTE_KBPS);
    END(ACK, m);
}

void ue_packet_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_packet *m);
void ue_ack_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_ack *m);

#endif
