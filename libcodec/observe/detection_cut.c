/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/detection_cut.h"

#include "libcodec/observe/detection_evidence.h"

static bool contradicts(const struct ue_context *context, const struct ue_detection_head *head) {
    return !ue_profile_match_cut(context, head->bytes, head->size_bytes, head->captured_bytes, head->is_shortened);
}

void ue_detection_observe_cut(struct ue_detection *detection, unsigned side, const struct ue_detection_head *head) {
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
