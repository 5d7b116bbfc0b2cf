/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/detection_cut.h"

#include "libcodec/observe/detection_evidence.h"

static bool contradicts(const struct ue_context *context, const struct ue_detection_head *head) {
    return !ue_profile_match_cut(context, head->bytes, head->size_bytes, head->captured_bytes, head->is_shortened);
}

/* When packets no longer change the result, they still remove candidates. */
static void narrow_candidates(struct ue_detection *detection) {
    uint16_t left = ue_detection_fewest_cut_misses(detection, detection->result.candidates);
    if (left != detection->result.candidates) {
        ue_detection_choose(detection, ue_profile_mask_oldest(left), detection->result.variant, left,
                            UE_DETECTION_REASON_CUT);
    }
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
        narrow_candidates(detection);
    }
}
