/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/detection_session_start.h"

#include <uerudp/seq.h>
#include "libcodec/observe/detection_packet_ids.h"

static bool has_history(const struct ue_packet *packet) {
    uint32_t words = packet->history_flush;
    for (unsigned i = 0; i < packet->history_words; i++) {
        words |= packet->history[i];
    }
    return words != 0;
}

bool ue_detection_is_opening(const struct ue_context *x, const uint8_t *bytes, size_t size_bytes) {
    struct ue_datagram datagram;
    struct ue_item_range rest;
    struct ue_item item;
    struct ue_fault fault;
    bool is_readable = x->profile.packet != UE_PACKET_LEGACY && !x->settings.internal_ack &&
                       x->direction != UE_SERVER_TO_CLIENT &&
                       ue_datagram_begin(x, bytes, size_bytes, &datagram, &rest, &fault) == UE_OK &&
                       !datagram.prefix.is_handshake && !datagram.handlers.is_opaque;
    if (!is_readable || has_history(&datagram.packet) || ue_datagram_next(x, bytes, &rest, &item, 1, &fault) != 1) {
        return false;
    }
    const struct ue_bunch *bunch = &item.bunch;
    return bunch->reliable && bunch->open && bunch->channel == 0 &&
           bunch->ch_seq == ((datagram.packet.seq + 1u) & (x->ch_seq_bound - 1));
}

/* Whether a sequence numbers the first reliable bunch as that of this session does: then the packet is a copy of the
   first one, perhaps damaged. */
static bool is_same_number(const struct ue_detection_side *client, uint16_t seq, const struct ue_context *x) {
    return client->has_first && ((client->first_seq ^ seq) & (x->ch_seq_bound - 1)) == 0;
}

bool ue_detection_is_other_session(const struct ue_detection *detection, unsigned side, uint16_t seq,
                                   const struct ue_context *context, const uint8_t *bytes, size_t size_bytes) {
    const struct ue_detection_side *client = &detection->sides[side];
    int32_t step = client->has_id ? ue_seq_difference(seq, ue_seq_of(client->last_id), UE_PACKET_SEQ_MAX) : 0;
    return (step > 1 || step < -UE_DETECTION_LATE_MAX) && !is_same_number(client, seq, context) &&
           ue_detection_is_opening(context, bytes, size_bytes);
}

void ue_detection_follow(struct ue_detection *detection, const struct ue_detection *earlier) {
    bool has_first = earlier->sides[0].has_first && earlier->sides[1].has_first;
    if (!earlier->has_packets) { /* it was only tried */
        detection->has_earlier_first = earlier->has_earlier_first;
        memcpy(detection->earlier_first, earlier->earlier_first, sizeof detection->earlier_first);
        return;
    }
    detection->has_earlier_first = has_first;
    for (unsigned side = 0; side < 2; side++) {
        detection->earlier_first[side] = earlier->sides[side].first_seq;
    }
}

bool ue_detection_is_earlier_opening(const struct ue_detection *detection, unsigned side,
                                     const struct ue_decode_result *result, const struct ue_context *context,
                                     const uint8_t *bytes, size_t size_bytes) {
    const struct ue_detection_side *sender = &detection->sides[side];
    bool is_own = sender->has_first && sender->first_seq == result->seq; /* as where all sessions begin with 0 */
    return detection->has_earlier_first && !is_own && result->seq == detection->earlier_first[side] &&
           ue_seq_of(result->ack + 1) == detection->earlier_first[!side] &&
           ue_detection_is_opening(context, bytes, size_bytes);
}
