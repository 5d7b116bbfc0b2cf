/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/detection_packet_ids.h"

#include <uerudp/seq.h>

#include <string.h>

enum ue_header_position ue_detection_header_position(unsigned profile, bool ids) {
    bool is_legacy = ue_profile_at(profile)->packet == UE_PACKET_LEGACY;
    return is_legacy ? UE_HEADER_LEGACY : ids ? UE_HEADER_IDS : UE_HEADER_PLAIN;
}

bool ue_detection_has_ids(const struct ue_detection *detection, unsigned profile) {
    return detection->has_ids_evidence ? detection->ids : ue_profile_at(profile)->handshake == UE_HANDSHAKE_V;
}

bool ue_detection_read_header(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                              size_t captured_bytes, struct ue_packet *packet) {
    struct ue_datagram datagram;
    struct ue_item_range rest;
    struct ue_fault fault;
    bool is_read = ue_datagram_begin(context, bytes, size_bytes, &datagram, &rest, &fault) == UE_OK &&
                   !datagram.prefix.is_handshake && !datagram.handlers.is_opaque && !context->settings.internal_ack &&
                   rest.bit <= captured_bytes * 8;
    if (is_read) {
        *packet = datagram.packet;
    }
    return is_read;
}

static bool falls_back(const struct ue_detection_side *side, uint16_t ack) {
    return ue_seq_difference(side->acked, ack, UE_PACKET_SEQ_MAX) > UE_DETECTION_LATE_MAX;
}

/* Further than this, a packet does not confirm the ack of the one before it. */
#define STEP_MAX 1024

/* Whether an ack is far ahead of all that the other side is known to have sent, and the packet before it did not
   acknowledge as much: the header may be damaged or forged, or the capture lacks packets. */
static bool is_suspect(struct ue_detection_side *side, const struct ue_detection_side *other, uint16_t ack) {
    bool is_ahead = side->has_acked && other->has_id &&
                    ue_seq_difference(ack, ue_seq_of(other->last_id), UE_PACKET_SEQ_MAX) > UE_DETECTION_LATE_MAX &&
                    ue_seq_difference(ack, side->acked, UE_PACKET_SEQ_MAX) > UE_DETECTION_LATE_MAX;
    int32_t step = ue_seq_difference(ack, side->suspect, UE_PACKET_SEQ_MAX);
    bool is_confirmed = side->has_suspect && step >= 0 && step <= STEP_MAX;
    side->has_suspect = is_ahead && !is_confirmed;
    side->suspect = ack;
    return side->has_suspect;
}

void ue_detection_set_first(struct ue_detection_side sides[2], unsigned client, uint16_t client_seq,
                            uint16_t server_seq) {
    uint16_t first[2];
    first[client] = client_seq;
    first[!client] = server_seq;
    for (unsigned side = 0; side < 2; side++) {
        sides[side] = (struct ue_detection_side){.has_id = true,
                                                 .has_acked = true,
                                                 .has_first = true,
                                                 .acked = ue_seq_of(first[!side] - 1),
                                                 .first_seq = first[side],
                                                 .last_id = (int64_t)first[side] - 1};
    }
}

void ue_detection_side_expand(struct ue_detection_side sides[2], unsigned sender, uint16_t seq, int32_t ack,
                              bool modern, bool begins, struct ue_packet_ids *ids) {
    bool is_first = begins && !sides[0].has_id && !sides[1].has_id;
    if (is_first) {
        ue_detection_set_first(sides, sender, seq, ue_seq_of(ack + 1));
    }
    struct ue_detection_side *side = &sides[sender];
    int64_t id = side->has_id ? ue_seq_expand(seq, side->last_id, UE_PACKET_SEQ_MAX) : seq;
    bool is_late = side->has_id && id <= side->last_id && side->last_id - id <= UE_DETECTION_LATE_MAX;
    bool is_ignored = !modern && is_late; /* like all acks of a late packet up to 4.21 */
    bool has_ack = ack >= 0 && !is_ignored;
    side->has_unread |= side->has_id && !is_late && id != side->last_id + 1;
    *ids = (struct ue_packet_ids){id, true, has_ack && side->has_acked, side->acked, side->has_unread, is_first};
    bool is_held = has_ack && is_suspect(side, &sides[!sender], (uint16_t)ack);
    if (is_held) {
        ids->acked_before = (uint16_t)ack; /* it reports nothing */
        side->has_unread |= !modern;       /* nor does a later packet, what it skips because of that */
    } else if (has_ack) {
        side->has_unread = false;
    }
    if (!is_late) {
        side->last_id = id;
    }
    side->has_id = true;
    /* The ack of a late packet is old, however far the acks have advanced since. */
    bool is_moved =
        has_ack && (ue_seq_newer((uint16_t)ack, side->acked) || (falls_back(side, (uint16_t)ack) && !is_late));
    if (has_ack && !is_held && (!side->has_acked || is_moved)) {
        side->acked = (uint16_t)ack;
        side->has_acked = true;
    }
}

struct ue_packet_ids ue_detection_expand_first(const struct ue_detection *detection, enum ue_header_position position,
                                               unsigned count, struct ue_detection_side sides[2]) {
    struct ue_packet_ids ids = {0};
    memcpy(sides, detection->first_sides, sizeof detection->first_sides);
    for (unsigned i = 0; i < count; i++) {
        const struct ue_detection_header *header = &detection->headers[i];
        ids = (struct ue_packet_ids){0};
        if ((header->readable >> position & 1) != 0) {
            ue_detection_side_expand(sides, header->side, header->seq[position], header->ack[position],
                                     position != UE_HEADER_LEGACY, (header->begins >> position & 1) != 0, &ids);
        }
    }
    return ids;
}

void ue_detection_move_header(struct ue_detection *detection, unsigned profile, bool ids) {
    enum ue_header_position position = ue_detection_header_position(profile, ids);
    if (!detection->has_packets || detection->settings.internal_ack ||
        position == ue_detection_header_position(detection->result.profile, detection->result.ids)) {
        return;
    }
    if (detection->is_released) {
        memset(detection->sides, 0, sizeof detection->sides);
    } else {
        ue_detection_expand_first(detection, position, detection->datagrams - 1,
                                  detection->sides); /* the datagrams before the current one */
    }
}

void ue_detection_add_header(struct ue_detection *detection, unsigned number, unsigned profile, unsigned side,
                             uint16_t seq, int32_t ack, bool begins) {
    struct ue_detection_header *header = &detection->headers[number - 1];
    enum ue_header_position position = ue_detection_header_position(profile, ue_detection_has_ids(detection, profile));
    header->side = (uint8_t)side;
    header->begins = (uint8_t)(header->begins | begins << position);
    if ((header->readable >> position & 1) == 0) {
        header->readable = (uint8_t)(header->readable | 1u << position);
        header->seq[position] = seq;
        header->ack[position] = (int16_t)ack;
    }
}

void ue_detection_side_adopt(struct ue_detection_side *side, const struct ue_detection_side *old) {
    struct ue_detection_side merged = *old;
    if (side->has_id && old->has_id) {
        uint32_t wire = ue_seq_of(side->last_id);
        merged.last_id = ue_seq_expand(wire, old->last_id, UE_PACKET_SEQ_MAX);
    } else if (side->has_id) {
        merged = *side;
    }
    if (side->has_acked) {
        merged.has_acked = true;
        merged.acked = side->acked;
    }
    *side = merged;
}
