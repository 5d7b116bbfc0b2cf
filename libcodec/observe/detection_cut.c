/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/detection_cut.h"

#include <uerudp/seq.h>
#include "libcodec/observe/detection_bounds.h"
#include "libcodec/observe/detection_evidence.h"
#include "libcodec/observe/detection_handlers.h"
#include "libcodec/observe/detection_packet_ids.h"

/* ---- the generation ---- */

static bool contradicts(const struct ue_context *context, const struct ue_detection_head *head) {
    return !ue_profile_match_cut(context, head->bytes, head->size_bytes, head->captured_bytes, head->is_shortened);
}

/* Counts the profiles that a cut packet contradicts, and chooses. */
static void observe_cut(struct ue_detection *detection, unsigned side, const struct ue_detection_head *head) {
    enum ue_direction direction = ue_detection_direction(detection, side);
    uint16_t contradicted = 0;
    bool is_decided = detection->result.reason != UE_DETECTION_REASON_CUT && ue_detection_is_single(detection);
    if (detection->is_given || direction == UE_DIRECTION_UNKNOWN || detection->settings.internal_ack || is_decided ||
        ue_detection_is_guess(&detection->result)) {
        return;
    }
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        struct ue_context x;
        ue_detection_context_of_row(detection, &detection->result, row, direction, &x);
        if ((detection->possible >> row & 1) != 0 && contradicts(&x, head)) {
            contradicted |= (uint16_t)(1u << row);
            detection->cut_misses[row] =
                (uint16_t)(detection->cut_misses[row] + (detection->cut_misses[row] < UINT16_MAX));
        }
    }
    if (contradicted != 0 && detection->detection == UE_DETECTION_STATE_OPEN) {
        ue_detection_decide(detection);
    } else if (contradicted != 0 && detection->detection == UE_DETECTION_STATE_CLOSED) {
        ue_detection_choose_uncontradicted(detection);
    }
}

/* ---- packet ids ---- */

/* Whether the packet headers of all generations that may be spoken are at the same position. After the release few
   whole packets that match suffice: these are decoded with the result, too. */
static bool header_position_is_known(const struct ue_detection *detection, const struct ue_detection_result *result) {
    enum ue_header_position chosen = ue_detection_header_position(result->profile, result->ids);
    bool is_matched = detection->is_released && detection->evidence != 0 && !ue_detection_is_guess(result);
    bool is_same = ue_detection_prefix_is_known(detection) || is_matched;
    for (unsigned row = 0; is_same && !detection->is_given && row < UE_PROFILE_COUNT; row++) {
        is_same = (result->candidates >> row & 1) == 0 ||
                  ue_detection_header_position(row, ue_detection_has_ids(detection, row)) == chosen;
    }
    return is_same;
}

static void expand(struct ue_detection_side sides[2], unsigned side, const struct ue_context *x,
                   const struct ue_packet *packet, struct ue_packet_ids *packet_ids) {
    bool is_modern = x->profile.packet != UE_PACKET_LEGACY;
    sides[side].has_unread |= !is_modern; /* acks may have been cut off */
    ue_detection_side_expand(sides, side, packet->seq, is_modern ? packet->ack : -1, is_modern, false, packet_ids);
}

void ue_detection_feed_truncated(struct ue_detection *detection, unsigned side, const struct ue_detection_head *head,
                                 struct ue_decode_state *state) {
    struct ue_packet packet;
    ue_detection_begin_bounds(detection);
    observe_cut(detection, side, head);
    ue_detection_observe_expected(detection, side, head->bytes, head->size_bytes, head->captured_bytes);
    *state = (struct ue_decode_state){
        .result = detection->result, .is_held = !detection->is_released, .side = (uint8_t)side};
    if (detection->server_side >= 0) {
        state->direction = (unsigned)detection->server_side == side ? UE_SERVER_TO_CLIENT : UE_CLIENT_TO_SERVER;
    }
    if (header_position_is_known(detection, &detection->result) &&
        ue_detection_read_header(ue_detection_resolve(detection, side), head->bytes, head->size_bytes,
                                 head->captured_bytes, &packet)) {
        detection->has_packets = true;
        expand(detection->sides, side, &detection->resolved, &packet, &state->packet_ids);
    }
}

/* ---- packet ids at the release ---- */

/* The first packet of a side is near those that were read since. */
static void begin_side(const struct ue_detection_side *known, struct ue_detection_side *side, uint16_t seq) {
    if (!side->has_id && known->has_id) {
        side->has_id = true;
        side->last_id = ue_seq_expand(seq, known->last_id, UE_PACKET_SEQ_MAX) - 1;
    }
}

static bool was_read(const struct ue_decode_state *state, const struct ue_detection_result *result) {
    return state->packet_ids.has_id && ue_detection_header_position(state->result.profile, state->result.ids) ==
                                           ue_detection_header_position(result->profile, result->ids);
}

void ue_detection_reread_cut(struct ue_detection *detection, struct ue_decode_state *state,
                             const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                             size_t captured_bytes) {
    const struct ue_detection_result *result = ue_detection_result_of(detection, state);
    struct ue_detection_side *sides = detection->held_sides;
    struct ue_packet packet;
    struct ue_packet_ids packet_ids;
    if (!detection->has_cut || !state->is_held || !header_position_is_known(detection, result) ||
        !ue_detection_read_header(context, bytes, size_bytes, captured_bytes, &packet)) {
        return;
    }
    for (unsigned side = 0; side < 2; side++) {
        sides[side] = sides[side].has_id ? sides[side] : detection->first_sides[side];
    }
    begin_side(&detection->sides[state->side], &sides[state->side], packet.seq);
    expand(sides, state->side, context, &packet, &packet_ids);
    if (captured_bytes < size_bytes && !was_read(state, result)) {
        state->packet_ids = packet_ids;
    }
    if (!detection->sides[state->side].has_id) {
        detection->sides[state->side] = sides[state->side];
    }
}
