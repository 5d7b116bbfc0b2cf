/* SPDX-License-Identifier: MIT */
#include <uerudp/history.h>
#include <uerudp/seq.h>
#include "libcodec/wire/datagram_layout.h"

/* Reports the sequences that this packet is the first to acknowledge or to report as not received, oldest first. */
static void report_acks(struct ue_cursor *c, const struct ue_packet_ids *packet_ids, const struct ue_packet *packet,
                        size_t history_bit) {
    int32_t new_count = ue_seq_difference(packet->ack, packet_ids->acked_before, UE_PACKET_SEQ_MAX);
    int32_t reach = (int32_t)ue_history_reach(packet);
    for (int32_t age = (new_count < reach ? new_count : reach) - 1; age >= 0; age--) {
        uint32_t bit = ue_history_bit(packet, (uint32_t)age);
        if (packet_ids->has_unread_before && !ue_history_covers(packet, (uint32_t)age)) {
            continue;
        }
        bool delivered = ue_history_reports(packet, (uint32_t)age);
        ue_cursor_report_generated(c, delivered ? UE_F_PACKET_ACKED : UE_F_PACKET_NACKED,
                                   history_bit + (bit < UE_HISTORY_REACH ? bit : 0), 1,
                                   ue_seq_of((int64_t)packet->ack - age));
    }
}

/* Up to 4.21 the acks are among the items, which follow. */
static void report_legacy_acks(struct ue_cursor *c, const struct ue_context *x,
                               const struct ue_packet_ids *packet_ids) {
    struct ue_cursor ahead = *c;
    uint32_t newest = packet_ids->acked_before;
    bool is_unread = packet_ids->has_unread_before;
    ahead.trace = NULL;
    while (ue_cursor_ok(&ahead) && ue_cursor_left(&ahead) != 0) {
        struct ue_item item;
        size_t bit = ue_cursor_pos(&ahead) + 1;
        ue_item_run(UE_DECODE, &ahead, x, &item);
        if (!ue_cursor_ok(&ahead) || !item.is_ack || !ue_seq_newer(item.ack.ack_id, newest)) {
            continue;
        }
        int32_t skipped = is_unread ? 0 : ue_seq_difference(item.ack.ack_id, newest, UE_PACKET_SEQ_MAX) - 1;
        for (int32_t age = skipped < UE_HISTORY_REACH ? skipped : UE_HISTORY_REACH - 1; age >= 0; age--) {
            ue_cursor_report_generated(c, age == 0 ? UE_F_PACKET_ACKED : UE_F_PACKET_NACKED, bit, UE_PACKET_SEQ_BITS,
                                       ue_seq_of((int64_t)item.ack.ack_id - age));
        }
        newest = item.ack.ack_id;
        is_unread = false;
    }
}

void ue_packet_ids_report(struct ue_cursor *c, const struct ue_context *x, const struct ue_packet_ids *packet_ids,
                          const struct ue_packet *packet, size_t at) {
    bool has_id = packet_ids != NULL && packet_ids->has_id;
    if (has_id && ue_seq_of(packet_ids->packet_id) != packet->seq) {
        return; /* the id was read before the generation was known, at another bit position */
    }
    if (has_id) {
        ue_cursor_report_generated(c, UE_F_PACKET_ID, at, ue_cursor_pos(c) - at, ue_seq_display(packet_ids->packet_id));
    }
    if (packet_ids == NULL || !packet_ids->has_acked_before) {
        return;
    }
    if (x->profile.packet == UE_PACKET_LEGACY) {
        report_legacy_acks(c, x, packet_ids);
    } else {
        report_acks(c, packet_ids, packet, at + 32);
    }
}
