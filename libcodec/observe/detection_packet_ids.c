/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/detection_packet_ids.h"

#include <uerudp/seq.h>

#include <string.h>

enum ue_header_place ue_flow_place(unsigned profile, bool ids) {
    bool is_legacy = ue_profile_at(profile)->packet == UE_PACKET_LEGACY;
    return is_legacy ? UE_HEADER_LEGACY : ids ? UE_HEADER_IDS : UE_HEADER_PLAIN;
}

bool ue_flow_ids(const struct ue_flow *flow, unsigned profile) {
    return flow->has_ids_evidence ? flow->ids : ue_profile_at(profile)->handshake == UE_HANDSHAKE_V;
}

/* What lies further back than packets are late proves that a number far ahead was damaged. */
#define LATE_MAX 64

static bool falls_back(const struct ue_side *side, uint16_t ack) {
    return ue_seq_difference(side->acked, ack, UE_PACKET_SEQ_MAX) > LATE_MAX;
}

void ue_side_link(struct ue_side *side, uint16_t seq, uint16_t ack, bool modern, struct ue_links *links) {
    int64_t id = side->has_id ? ue_seq_expand(seq, side->last_id, UE_PACKET_SEQ_MAX) : seq;
    *links = (struct ue_links){id, true, modern && side->has_acked, side->acked};
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
static struct ue_links number_first(const struct ue_flow *flow, enum ue_header_place place, unsigned count,
                                    struct ue_side sides[2]) {
    struct ue_links links = {0};
    memcpy(sides, flow->first_sides, sizeof flow->first_sides);
    for (unsigned i = 0; i < count; i++) {
        const struct ue_flow_numbers *numbers = &flow->numbers[i];
        links = (struct ue_links){0};
        if (numbers->is_readable[place]) {
            ue_side_link(&sides[numbers->side], numbers->seq[place], numbers->ack[place], place != UE_HEADER_LEGACY,
                         &links);
        }
    }
    return links;
}

void ue_flow_move_header(struct ue_flow *flow, unsigned profile, bool ids) {
    enum ue_header_place place = ue_flow_place(profile, ids);
    if (!flow->has_ordinary || place == ue_flow_place(flow->choice.profile, flow->choice.ids)) {
        return;
    }
    if (flow->is_released) {
        memset(flow->sides, 0, sizeof flow->sides);
    } else {
        number_first(flow, place, flow->datagrams - 1, flow->sides); /* those before the present one */
    }
}

void ue_flow_note_numbers(struct ue_flow *flow, unsigned profile, unsigned side, uint16_t seq, uint16_t ack) {
    struct ue_flow_numbers *numbers = &flow->numbers[flow->datagrams - 1];
    enum ue_header_place place = ue_flow_place(profile, ue_flow_ids(flow, profile));
    numbers->side = (uint8_t)side;
    if (!numbers->is_readable[place]) {
        numbers->is_readable[place] = true;
        numbers->seq[place] = seq;
        numbers->ack[place] = ack;
    }
}

struct ue_links ue_flow_links(const struct ue_flow *flow, const struct ue_frame *frame) {
    const struct ue_choice *choice = ue_flow_choice(flow, frame);
    enum ue_header_place place = ue_flow_place(choice->profile, choice->ids);
    bool is_known = frame->links.has_id && place == ue_flow_place(frame->choice.profile, frame->choice.ids);
    struct ue_side sides[2];
    return is_known || frame->number == 0 ? frame->links : number_first(flow, place, frame->number, sides);
}

void ue_side_adopt(struct ue_side *side, const struct ue_side *old) {
    struct ue_side joined = *old;
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
