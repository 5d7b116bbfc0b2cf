/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/detection_packet_ids.h"

#include <uerudp/seq.h>

#include <string.h>

enum ue_header_position ue_detection_header_position(unsigned profile, bool ids) {
    bool is_legacy = ue_profile_at(profile)->packet == UE_PACKET_LEGACY;
    return is_legacy ? UE_HEADER_LEGACY : ids ? UE_HEADER_IDS : UE_HEADER_PLAIN;
}

bool ue_detection_has_ids(const struct ue_detection *flow, unsigned profile) {
    return flow->has_ids_evidence ? flow->ids : ue_profile_at(profile)->handshake == UE_HANDSHAKE_V;
}

/* What lies further back than packets are late proves that a number far ahead was damaged. */
#define LATE_MAX 64

static bool falls_back(const struct ue_detection_side *side, uint16_t ack) {
    return ue_seq_difference(side->acked, ack, UE_PACKET_SEQ_MAX) > LATE_MAX;
}

void ue_detection_side_expand(struct ue_detection_side *side, uint16_t seq, uint16_t ack, bool modern, struct ue_packet_ids *links) {
    int64_t id = side->has_id ? ue_seq_expand(seq, side->last_id, UE_PACKET_SEQ_MAX) : seq;
    *links = (struct ue_packet_ids){id, true, modern && side->has_acked, side->acked};
    bool is_late = side->has_id && id <= side->last_id && side->last_id - id <= LATE_MAX;
    if (!is_late) {
        side->last_id = id;
    }
    side->has_id = true;
    /* A late packet has an old ack, however far the acks moved since: it proves nothing. */
    bool is_moved = ue_seq_newer(ack, side->acked) || (falls_back(side, ack) && !is_late);
    if (modern && (!side->has_acked || is_moved)) {
        side->acked = ack;
        side->has_acked = true;
    }
}

/* Numbers the first so many datagrams as one place has it. */
static struct ue_packet_ids number_first(const struct ue_detection *flow, enum ue_header_position place, unsigned count,
                                    struct ue_detection_side sides[2]) {
    struct ue_packet_ids links = {0};
    memcpy(sides, flow->first_sides, sizeof flow->first_sides);
    for (unsigned i = 0; i < count; i++) {
        const struct ue_detection_header *numbers = &flow->numbers[i];
        links = (struct ue_packet_ids){0};
        if (numbers->is_readable[place]) {
            ue_detection_side_expand(&sides[numbers->side], numbers->seq[place], numbers->ack[place], place != UE_HEADER_LEGACY,
                         &links);
        }
    }
    return links;
}

void ue_detection_move_header(struct ue_detection *flow, unsigned profile, bool ids) {
    enum ue_header_position place = ue_detection_header_position(profile, ids);
    if (!flow->has_ordinary || place == ue_detection_header_position(flow->choice.profile, flow->choice.ids)) {
        return;
    }
    if (flow->is_released) {
        memset(flow->sides, 0, sizeof flow->sides);
    } else {
        number_first(flow, place, flow->datagrams - 1, flow->sides); /* those before the present one */
    }
}

void ue_detection_add_header(struct ue_detection *flow, unsigned profile, unsigned side, uint16_t seq, uint16_t ack) {
    struct ue_detection_header *numbers = &flow->numbers[flow->datagrams - 1];
    enum ue_header_position place = ue_detection_header_position(profile, ue_detection_has_ids(flow, profile));
    numbers->side = (uint8_t)side;
    if (!numbers->is_readable[place]) {
        numbers->is_readable[place] = true;
        numbers->seq[place] = seq;
        numbers->ack[place] = ack;
    }
}

struct ue_packet_ids ue_detection_packet_ids(const struct ue_detection *flow, const struct ue_decode_state *frame) {
    const struct ue_detection_result *choice = ue_detection_result_of(flow, frame);
    enum ue_header_position place = ue_detection_header_position(choice->profile, choice->ids);
    bool is_known = frame->links.has_id && place == ue_detection_header_position(frame->choice.profile, frame->choice.ids);
    struct ue_detection_side sides[2];
    return is_known || frame->number == 0 ? frame->links : number_first(flow, place, frame->number, sides);
}

void ue_detection_side_adopt(struct ue_detection_side *side, const struct ue_detection_side *old) {
    struct ue_detection_side joined = *old;
    if (side->has_id && old->has_id) {
        uint32_t wire = ue_seq_of(side->last_id);
        joined.last_id = ue_seq_expand(wire, old->last_id, UE_PACKET_SEQ_MAX);
    } else if (side->has_id) {
        joined = *side;
    }
    if (side->has_acked) {
        joined.has_acked = true;
        joined.acked = side->acked;
    }
    *side = joined;
}
