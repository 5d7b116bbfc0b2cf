/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/detection_bounds.h"

#include "libcodec/observe/detection_evidence.h"

/* How many more packets contradict bounds than those of the settings, when they are no longer tried. */
#define MISSES_MORE_MAX 4

/* Whether a packet matches a candidate of a result with a variant. Then *has_bunches says whether it has bunches. */
static bool matches(const struct ue_detection *detection, const struct ue_detection_result *result, unsigned variant,
                    enum ue_direction direction, const uint8_t *bytes, size_t size_bytes, bool *has_bunches) {
    struct ue_detection_result other = *result;
    other.variant = (uint8_t)variant;
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        struct ue_context x;
        struct ue_packet_match match;
        if ((result->candidates >> row & 1) == 0) {
            continue;
        }
        ue_detection_context_of_row(detection, &other, row, direction, &x);
        ue_profile_match_packet(&x, bytes, size_bytes, &match);
        if (match.fits) {
            *has_bunches = match.has_bunches;
            return true;
        }
    }
    return false;
}

static bool is_tried(const struct ue_detection *detection, unsigned variant) {
    const uint16_t *misses = detection->bound_misses;
    return misses[variant] < misses[0] + MISSES_MORE_MAX &&
           ue_detection_variant_is_allowed(&detection->settings, variant);
}

static bool has_other_bounds(const struct ue_detection *detection) {
    bool has_others = false;
    for (unsigned variant = 1; variant < UE_DETECTION_VARIANT_COUNT; variant++) {
        has_others |= is_tried(detection, variant);
    }
    return detection->has_cut && !detection->is_given && has_others;
}

bool ue_detection_choose_bounds(struct ue_detection *detection) {
    const uint16_t *misses = detection->bound_misses;
    const uint16_t candidates = detection->uncut.candidates;
    unsigned best = 0;
    for (unsigned variant = 1; variant < UE_DETECTION_VARIANT_COUNT; variant++) {
        bool is_less = misses[variant] < misses[best];
        best = is_less && ue_detection_variant_is_allowed(&detection->settings, variant) ? variant : best;
    }
    if (misses[best] + UE_DETECTION_CERTAIN_MATCHES > misses[0]) {
        return false;
    }
    ue_detection_choose(detection, ue_profile_mask_oldest(candidates), best, candidates,
                        UE_DETECTION_REASON_VARIANT_MATCH);
    detection->evidence = (uint16_t)(misses[0] - misses[best]);
    return true;
}

static void count_miss(uint16_t *misses) {
    *misses = (uint16_t)(*misses + (*misses < UINT16_MAX - MISSES_MORE_MAX));
}

/* Packets that match no possible profile with a variant, so far as it was tried. */
static uint16_t count_misses(const struct ue_detection *detection, unsigned variant) {
    unsigned trials = variant == 0 ? detection->trials : detection->variant_trials, most = 0;
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        bool is_more = (detection->possible >> row & 1) != 0 && detection->fits[row][variant] > most;
        most = is_more ? detection->fits[row][variant] : most;
    }
    return (uint16_t)(trials > most ? trials - most : 0);
}

void ue_detection_begin_bounds(struct ue_detection *detection) {
    for (unsigned variant = 0; !detection->has_cut && variant < UE_DETECTION_VARIANT_COUNT; variant++) {
        detection->bound_misses[variant] = count_misses(detection, variant);
    }
    detection->has_cut = true;
}

void ue_detection_observe_bounds(struct ue_detection *detection, unsigned side, const uint8_t *bytes,
                                 size_t size_bytes) {
    const struct ue_detection_result *result = &detection->result;
    enum ue_direction direction = ue_detection_direction(detection, side);
    bool has_bunches = true;
    if (result->variant != 0 || result->is_undecoded || !has_other_bounds(detection)) {
        return;
    }
    bool is_match = matches(detection, result, 0, direction, bytes, size_bytes, &has_bunches);
    if (is_match && !has_bunches) {
        return; /* whatever the bounds are */
    }
    for (unsigned variant = 1; variant < UE_DETECTION_VARIANT_COUNT; variant++) {
        if (is_tried(detection, variant) &&
            !matches(detection, result, variant, direction, bytes, size_bytes, &has_bunches)) {
            count_miss(&detection->bound_misses[variant]);
        }
    }
    if (!is_match) {
        count_miss(&detection->bound_misses[0]);
        ue_detection_choose_bounds(detection);
    }
}

bool ue_detection_matches_other_bounds(const struct ue_detection *detection, const struct ue_detection_result *result,
                                       enum ue_direction direction, const uint8_t *bytes, size_t size_bytes) {
    const uint16_t *misses = detection->bound_misses;
    bool is_match = false, has_bunches;
    for (unsigned variant = 1; !is_match && variant < UE_DETECTION_VARIANT_COUNT; variant++) {
        is_match = misses[variant] < misses[0] && ue_detection_variant_is_allowed(&detection->settings, variant) &&
                   matches(detection, result, variant, direction, bytes, size_bytes, &has_bunches);
    }
    return is_match;
}
