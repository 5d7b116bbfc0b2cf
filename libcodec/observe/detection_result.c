/* SPDX-License-Identifier: MIT */
/* The result of the detection, and the contexts of results. */
#include "libcodec/observe/detection_evidence.h"
#include "libcodec/observe/detection_magic.h"
#include "libcodec/observe/detection_packet_ids.h"

enum ue_direction ue_detection_direction(const struct ue_detection *detection, unsigned side) {
    if (detection->server_side < 0) {
        return UE_DIRECTION_UNKNOWN;
    }
    return (unsigned)detection->server_side == side ? UE_SERVER_TO_CLIENT : UE_CLIENT_TO_SERVER;
}

bool ue_detection_is_lone(const struct ue_detection_result *result) {
    return result->reason == UE_DETECTION_REASON_CLOSEST || result->reason == UE_DETECTION_REASON_MAGIC;
}

bool ue_detection_is_guess(const struct ue_detection_result *result) {
    return result->reason == UE_DETECTION_REASON_MOST_MATCH || ue_detection_is_lone(result);
}

void ue_detection_choose(struct ue_detection *detection, unsigned profile, unsigned variant, uint16_t candidates,
                         enum ue_detection_reason reason) {
    bool ids = ue_detection_has_ids(detection, profile);
    ue_detection_move_header(detection, profile, ids);
    detection->result.profile = (uint8_t)profile;
    detection->result.variant = (uint8_t)variant;
    detection->result.candidates = candidates;
    detection->result.netver = 0;
    detection->result.reason =
        !detection->is_given && ue_detection_hides_handshake(detection) ? UE_DETECTION_REASON_MAGIC : (uint8_t)reason;
    detection->result.features = ue_profile_at(profile)->features;
    detection->result.ids = ids;
    detection->result.matches_few = false;
    if (reason != UE_DETECTION_REASON_CUT) {
        detection->uncut = detection->result;
    }
}

void ue_detection_choose_given(struct ue_detection *detection) {
    const struct ue_profile *given = detection->custom;
    unsigned row = (unsigned)ue_profile_index(given);
    ue_detection_choose(detection, row, 0, (uint16_t)(1u << row), UE_DETECTION_REASON_SETTING);
    detection->result.features = given->features;
    detection->result.ids = given->handshake == UE_HANDSHAKE_V && ue_detection_has_ids(detection, row);
}

unsigned ue_profile_mask_oldest(uint16_t mask) {
    return mask != 0 ? (unsigned)__builtin_ctz(mask) : 0;
}

void ue_detection_context_for(const struct ue_detection *detection, const struct ue_detection_result *result,
                              enum ue_direction direction, struct ue_context *context) {
    struct ue_settings settings = ue_detection_variant_settings(&detection->settings, result->variant);
    if (result->is_undecoded) {
        settings.handlers[0] = UE_HANDLER_UNKNOWN;
    }
    bool is_given = detection->custom != NULL && !result->is_undecoded;
    const struct ue_profile *profile = is_given ? detection->custom : ue_profile_at(result->profile);
    ue_context_init(context, profile, &settings);
    context->direction = direction;
    context->ids = result->ids;
    context->features = result->features;
    context->found_netver = result->netver;
    if (detection->custom == NULL && detection->settings.reliable_buffer == 0) {
        context->reliable_limit = ue_profile_reliable_limit(result->candidates);
    }
}

void ue_detection_context_of_row(const struct ue_detection *detection, const struct ue_detection_result *result,
                                 unsigned row, enum ue_direction direction, struct ue_context *context) {
    struct ue_detection_result other = *result;
    other.profile = (uint8_t)row;
    other.netver = row == result->profile ? result->netver : 0;
    other.features = ue_profile_at(row)->features;
    other.ids = ue_detection_has_ids(detection, row);
    ue_detection_context_for(detection, &other, direction, context);
}

bool ue_detection_is_resolved(const struct ue_detection *detection, const struct ue_detection_result *result) {
    const struct ue_detection_result *cached = &detection->resolved_result;
    return detection->resolved.profile.name != NULL && cached->candidates == result->candidates &&
           cached->profile == result->profile && cached->variant == result->variant && cached->ids == result->ids &&
           cached->netver == result->netver && cached->features == result->features &&
           cached->is_undecoded == result->is_undecoded;
}

const struct ue_context *ue_detection_resolve(struct ue_detection *detection, unsigned side) {
    if (!ue_detection_is_resolved(detection, &detection->result)) {
        ue_detection_context_for(detection, &detection->result, UE_DIRECTION_UNKNOWN, &detection->resolved);
        detection->resolved_result = detection->result;
    }
    detection->resolved.direction = ue_detection_direction(detection, side);
    return &detection->resolved;
}
