/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/detection_evidence.h"

#include <uerudp/seq.h>
#include "libcodec/observe/detection_bounds.h"
#include "libcodec/observe/detection_session_start.h"
#include "libcodec/observe/detection_packet_ids.h"

/* Packets that must agree on which side is the server: one can match the wrong direction by chance. */
#define SERVER_VOTES 3
/* Share of the datagrams that a profile must match: 19 of 20. */
#define MATCH_SHARE 19
#define MATCH_TOTAL 20
/* Minimum number of packets of a repeated detection, and before a generation can match too few. */
#define TRIALS_MIN 16

/* ---- evidence from packets ---- */

static bool seq_is_plausible(const struct ue_detection *detection, unsigned row, unsigned side,
                             const struct ue_decode_result *result) {
    enum ue_packet_layout layout = ue_profile_at(row)->packet;
    if (detection->has_seq[row][side]) {
        int32_t step = ue_seq_difference(result->seq, detection->last_seq[row][side], UE_PACKET_SEQ_MAX);
        if (step > UE_DETECTION_SEQ_STEP_MAX || step < -UE_DETECTION_SEQ_STEP_MAX) {
            return false;
        }
    }
    if (layout == UE_PACKET_LEGACY) {
        return true;
    }
    if (detection->has_seq[row][!side]) {
        int32_t behind = ue_seq_difference(detection->last_seq[row][!side], (uint16_t)result->ack, UE_PACKET_SEQ_MAX);
        if (behind > UE_DETECTION_SEQ_STEP_MAX || behind < -UE_DETECTION_SEQ_STEP_MAX) {
            return false;
        }
    }
    if (layout == UE_PACKET_HISTORY_SEQ) {
        int32_t apart =
            ue_seq_difference(ue_seq_of(result->acked_history_seq), (uint16_t)result->ack, UE_PACKET_SEQ_MAX);
        return apart <= UE_DETECTION_SEQ_STEP_MAX && apart >= -UE_DETECTION_SEQ_STEP_MAX;
    }
    return true;
}

/* What a packet shows about its sender. */
enum sender { SENDER_UNKNOWN, SENDER_CLIENT, SENDER_SERVER };

/* Whether a packet matches a context; in either direction while the direction is unknown. Then *sender: the side with
   which alone the frame-time bit is followed by what it announces, or the server if it opens the channel of an actor.
 */
static bool matches_context(const struct ue_context *x, const uint8_t *bytes, size_t size_bytes,
                            struct ue_packet_match *fit, enum sender *sender) {
    *sender = SENDER_UNKNOWN;
    ue_profile_match_packet(x, bytes, size_bytes, fit);
    if (x->direction != UE_DIRECTION_UNKNOWN) {
        return fit->fits;
    }
    if (fit->result.has_frame_time) {
        struct ue_context from_server = *x;
        struct ue_packet_match as_server;
        from_server.direction = UE_SERVER_TO_CLIENT;
        ue_profile_match_packet(&from_server, bytes, size_bytes, &as_server);
        if (fit->fits != as_server.fits) {
            *sender = as_server.fits ? SENDER_SERVER : SENDER_CLIENT;
            *fit = as_server.fits ? as_server : *fit;
        }
    } else if (fit->fits && fit->opens_actor) {
        *sender = SENDER_SERVER;
    }
    return fit->fits;
}

static struct ue_context context_of_row(const struct ue_detection *detection, unsigned row, unsigned variant,
                                        unsigned side) {
    struct ue_detection_result result = detection->result;
    struct ue_context x;
    result.variant = (uint8_t)variant;
    result.is_undecoded = false;
    ue_detection_context_of_row(detection, &result, row, ue_detection_direction(detection, side), &x);
    return x;
}

/* Whether a packet matches a profile with a variant. */
static bool matches(const struct ue_detection *detection, unsigned row, unsigned variant, unsigned side,
                    const uint8_t *bytes, size_t size_bytes, struct ue_packet_match *fit, enum sender *sender) {
    struct ue_context x = context_of_row(detection, row, variant, side);
    return matches_context(&x, bytes, size_bytes, fit, sender);
}

/* Counts what a packet shows about its sender, read as one profile. Returns false when it contradicts most packets
   before it: then the profile, or the packet, is wrong. */
static bool add_vote(struct ue_detection *detection, unsigned row, unsigned side, enum sender sender) {
    int8_t *votes = &detection->server_votes[row];
    int vote = sender == SENDER_UNKNOWN ? 0 : (sender == SENDER_SERVER) == (side == 1) ? 1 : -1;
    bool is_contradiction = vote * *votes < 0;
    int sum = *votes + vote;
    *votes = (int8_t)(sum > SERVER_VOTES ? SERVER_VOTES : sum < -SERVER_VOTES ? -SERVER_VOTES : sum);
    return !is_contradiction;
}

static void learn_server(struct ue_detection *detection) {
    int votes = detection->server_votes[detection->result.profile];
    bool is_sure = votes == SERVER_VOTES || votes == -SERVER_VOTES;
    if (detection->server_side < 0 && is_sure && detection->evidence >= UE_DETECTION_CERTAIN_MATCHES) {
        detection->server_side = votes > 0;
    }
}

static bool is_possible(const struct ue_detection *detection, unsigned row) {
    return detection->is_given ? row == ue_profile_index(detection->custom) : (detection->possible >> row & 1) != 0;
}

/* The profiles that match well enough with a variant, and most often. *bunches: number of matches with bunches. */
static uint16_t best_profiles(const struct ue_detection *detection, unsigned variant, unsigned *bunches) {
    unsigned trials = variant == 0 ? detection->trials : detection->variant_trials;
    uint16_t mask = 0;
    unsigned most = 0;
    *bunches = 0;
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        unsigned fits = detection->fits[row][variant];
        if (!is_possible(detection, row) || fits < most || fits * MATCH_TOTAL < trials * MATCH_SHARE) {
            continue;
        }
        mask = fits > most ? 0 : mask;
        most = fits;
        mask |= (uint16_t)(1u << row);
        *bunches = detection->bunch_fits[row][variant];
    }
    return mask;
}

/* The oldest of those profiles that decode most datagrams: an implausible datagram may hold what the tests of
   plausibility do not know, but one that cannot be decoded is not of the profile. */
static unsigned oldest_decoding(const struct ue_detection *detection, uint16_t mask) {
    unsigned best = ue_profile_mask_oldest(mask);
    for (unsigned row = best + 1; row < UE_PROFILE_COUNT; row++) {
        bool is_better = (mask >> row & 1) != 0 && detection->faults[row] < detection->faults[best];
        best = is_better ? row : best;
    }
    return best;
}

/* One cut packet may be damaged or foreign: a profile is excluded if this many more cut packets contradict it than
   the one that fewest contradict. */
#define CUT_MARGIN 2

static uint16_t without_contradicted(const struct ue_detection *detection, uint16_t mask) {
    unsigned least = UINT16_MAX;
    uint16_t left = 0;
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        bool is_less = (mask >> row & 1) != 0 && detection->cut_misses[row] < least;
        least = is_less ? detection->cut_misses[row] : least;
    }
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        left |= (uint16_t)((detection->cut_misses[row] < least + CUT_MARGIN) << row);
    }
    return left & mask;
}

void ue_detection_choose_uncontradicted(struct ue_detection *detection) {
    const struct ue_detection_result uncut = detection->uncut;
    uint16_t left = without_contradicted(detection, uncut.candidates);
    if (left == uncut.candidates) {
        ue_detection_choose(detection, uncut.profile, uncut.variant, left, (enum ue_detection_reason)uncut.reason);
    } else {
        ue_detection_choose(detection, oldest_decoding(detection, left), uncut.variant, left, UE_DETECTION_REASON_CUT);
    }
}

/* The possible profiles that match as often as one of them. */
static uint16_t equally_good(const struct ue_detection *detection, unsigned chosen, unsigned variant) {
    uint16_t mask = 0;
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        if (is_possible(detection, row) && detection->fits[row][variant] == detection->fits[chosen][variant]) {
            mask |= (uint16_t)(1u << row);
        }
    }
    return mask;
}

/* After the release another profile must match half of the packets to replace the chosen one. */
static void choose_closest(struct ue_detection *detection) {
    bool is_single = ue_profile_same_wire(detection->possible);
    bool keeps = detection->is_released && is_possible(detection, detection->result.profile);
    unsigned best = keeps ? detection->result.profile : ue_profile_mask_oldest(detection->possible);
    unsigned variant = keeps ? detection->result.variant : 0;
    unsigned most = keeps && detection->fits[best][variant] < detection->trials / 2 ? detection->trials / 2u
                                                                                    : detection->fits[best][variant];
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        if (is_possible(detection, row) && detection->fits[row][0] > most) {
            best = row;
            variant = 0;
            most = detection->fits[row][0];
        }
    }
    bool is_most = detection->fits[best][variant] * 2u > detection->trials;
    ue_detection_choose(detection, best, variant,
                        is_most ? equally_good(detection, best, variant) : detection->possible,
                        is_single ? UE_DETECTION_REASON_HANDSHAKE
                        : is_most ? UE_DETECTION_REASON_MOST_MATCH
                                  : UE_DETECTION_REASON_CLOSEST);
    detection->result.matches_few =
        !is_single && detection->trials >= TRIALS_MIN && detection->fits[best][variant] < detection->trials / 2;
}

/* Packets only show whether they match the generation that the caller gave. */
static void decide_given(struct ue_detection *detection) {
    unsigned bunches;
    if (detection->trials != 0 && best_profiles(detection, 0, &bunches) != 0) {
        ue_detection_choose_given(detection);
        detection->evidence = (uint16_t)bunches;
    }
}

void ue_detection_decide(struct ue_detection *detection) {
    if (detection->is_given) {
        decide_given(detection);
        return;
    }
    if (detection->trials == 0) {
        bool single = ue_profile_same_wire(detection->possible);
        ue_detection_choose(detection, ue_profile_mask_oldest(detection->possible), 0, detection->possible,
                            single ? UE_DETECTION_REASON_HANDSHAKE : UE_DETECTION_REASON_NONE);
        return;
    }
    if (ue_detection_choose_bounds(detection)) {
        return;
    }
    unsigned bunches;
    uint16_t mask = best_profiles(detection, 0, &bunches);
    if (mask != 0) {
        unsigned best = oldest_decoding(detection, mask);
        enum ue_detection_reason reason = ue_profile_same_wire(detection->possible) ? UE_DETECTION_REASON_HANDSHAKE
                                          : ue_profile_same_wire(mask)              ? UE_DETECTION_REASON_ONLY_MATCH
                                          : best == ue_profile_mask_oldest(mask)    ? UE_DETECTION_REASON_OLDEST_MATCH
                                                                                 : UE_DETECTION_REASON_DECODING_MATCH;
        detection->uncut =
            (struct ue_detection_result){.candidates = mask, .profile = (uint8_t)best, .reason = (uint8_t)reason};
        ue_detection_choose_uncontradicted(detection);
        detection->evidence = (uint16_t)bunches;
        return;
    }
    for (unsigned variant = 1; variant < UE_DETECTION_VARIANT_COUNT; variant++) {
        mask = best_profiles(detection, variant, &bunches);
        if (mask != 0 && bunches >= UE_DETECTION_CERTAIN_MATCHES) {
            ue_detection_choose(detection, ue_profile_mask_oldest(mask), variant, mask,
                                UE_DETECTION_REASON_VARIANT_MATCH);
            detection->evidence = (uint16_t)bunches;
            return;
        }
    }
    choose_closest(detection);
}

bool ue_detection_is_certain(const struct ue_detection *detection) {
    const struct ue_detection_result *result = &detection->result;
    if (ue_profile_same_wire(detection->possible)) { /* a handshake does not show a game's own bounds */
        return detection->is_given || detection->bunch_fits[result->profile][result->variant] != 0;
    }
    return result->reason == UE_DETECTION_REASON_ONLY_MATCH && detection->evidence >= UE_DETECTION_CERTAIN_MATCHES;
}

bool ue_detection_settings_suffice(const struct ue_detection *detection) {
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        if (is_possible(detection, row) && detection->fits[row][0] == detection->trials) {
            return true;
        }
    }
    return false;
}

/* Whether a variant has missed so often that it cannot reach the required share within UE_DETECTION_HELD_MAX datagrams:
   then it is no longer tried. */
static bool is_hopeless(const struct ue_detection *detection, unsigned row, unsigned variant) {
    unsigned misses = detection->variant_trials - 1u - detection->fits[row][variant];
    return misses * MATCH_TOTAL > UE_DETECTION_HELD_MAX * (MATCH_TOTAL - MATCH_SHARE);
}

/* A datagram as one profile reads it. */
struct decode_attempt {
    bool fits;
    bool is_readable; /* also when it is not plausible */
    uint16_t seq;
    int32_t ack;
};

/* Tries one profile with one variant and counts a match. Sequence and ack have the same position in every variant. */
static void try_profile(struct ue_detection *detection, unsigned row, unsigned variant, unsigned side,
                        const uint8_t *bytes, size_t size_bytes, struct decode_attempt *attempt) {
    struct ue_packet_match fit;
    enum sender sender;
    bool fits = matches(detection, row, variant, side, bytes, size_bytes, &fit, &sender) &&
                seq_is_plausible(detection, row, side, &fit.result) && add_vote(detection, row, side, sender);
    detection->fits[row][variant] += fits;
    if (fits && fit.has_bunches) {
        detection->bunch_fits[row][variant]++;
    }
    const struct ue_decode_result *result = &fit.result;
    detection->faults[row] = (uint8_t)(detection->faults[row] + (variant == 0 && result->fault.status != UE_OK));
    attempt->fits |= fit.fits;
    if (result->fault.status == UE_OK && !result->is_handshake && (!result->is_opaque || result->is_opened)) {
        attempt->is_readable = true;
        attempt->seq = result->seq;
        attempt->ack = result->ack;
    }
}

static void try_variants(struct ue_detection *detection, unsigned row, unsigned side, const uint8_t *bytes,
                         size_t size_bytes, struct decode_attempt *attempt) {
    for (unsigned variant = 1; variant < UE_DETECTION_VARIANT_COUNT; variant++) {
        if (ue_detection_variant_is_allowed(&detection->settings, variant) && !is_hopeless(detection, row, variant)) {
            try_profile(detection, row, variant, side, bytes, size_bytes, attempt);
        }
    }
}

/* Stores sequence and ack as each profile reads them, oldest profile first. */
static void store_headers(struct ue_detection *detection, unsigned side, const uint8_t *bytes, size_t size_bytes,
                          const struct decode_attempt attempt[UE_PROFILE_COUNT]) {
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        if (attempt[row].fits) {
            detection->last_seq[row][side] = attempt[row].seq;
            detection->has_seq[row][side] = true;
        }
        if (attempt[row].is_readable && !detection->is_released) {
            struct ue_context x = context_of_row(detection, row, 0, side);
            bool begins = ue_detection_is_opening(&x, bytes, size_bytes);
            ue_detection_add_header(detection, detection->datagrams, row, side, attempt[row].seq, attempt[row].ack,
                                    begins);
        }
    }
}

/* Tries all possible profiles and counts their matches. */
static void try_all(struct ue_detection *detection, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    struct decode_attempt attempt[UE_PROFILE_COUNT] = {{0}};
    detection->trials++;
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        if (is_possible(detection, row)) {
            try_profile(detection, row, 0, side, bytes, size_bytes, &attempt[row]);
        }
    }
    bool vary = !detection->is_given && !ue_detection_settings_suffice(detection);
    detection->variant_trials += vary;
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        if (vary && is_possible(detection, row)) {
            try_variants(detection, row, side, bytes, size_bytes, &attempt[row]);
        }
    }
    store_headers(detection, side, bytes, size_bytes, attempt);
}

void ue_detection_try_packet(struct ue_detection *detection, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    try_all(detection, side, bytes, size_bytes);
    ue_detection_decide(detection);
    learn_server(detection);
}

/* ---- after the release ---- */

/* A packet that does not match weighs as much as eight that match. Sixteen in a row restart the detection, and so does
   one in seven over time: generations that differ only in partial bunches match most packets of each other. */
#define MISS_WEIGHT 8
#define MISSES_MAX 128
/* A detection without a match is repeated after 64 packets, then after 128, and so on up to 8192. */
#define PAUSE_SHIFT_MAX 7
/* When the result is final, one packet in 16 is decoded to its end. */
#define WATCH_STEP 16

void ue_detection_restart(struct ue_detection *detection) {
    detection->misses = 0;
    detection->trials = 0;
    detection->variant_trials = 0;
    detection->evidence = 0;
    memset(detection->fits, 0, sizeof detection->fits);
    memset(detection->bunch_fits, 0, sizeof detection->bunch_fits);
    memset(detection->faults, 0, sizeof detection->faults);
    memset(detection->cut_misses, 0, sizeof detection->cut_misses);
    memset(detection->bound_misses, 0, sizeof detection->bound_misses);
    memset(detection->has_seq, 0, sizeof detection->has_seq);
    memset(detection->server_votes, 0, sizeof detection->server_votes);
}

static void reopen(struct ue_detection *detection) {
    detection->detection = UE_DETECTION_STATE_REOPENED;
    ue_detection_restart(detection);
}

static bool has_tried_enough(const struct ue_detection *detection) {
    unsigned bunches;
    bool is_one = ue_profile_same_wire(best_profiles(detection, 0, &bunches));
    return detection->trials >= UE_DETECTION_HELD_MAX ||
           (detection->trials >= TRIALS_MIN && is_one && bunches >= UE_DETECTION_CERTAIN_MATCHES);
}

static void close_detection(struct ue_detection *detection) {
    detection->detection = UE_DETECTION_STATE_CLOSED;
    if (ue_detection_is_guess(&detection->result) || detection->result.is_undecoded) {
        detection->pause = (uint16_t)(UE_DETECTION_HELD_MAX << detection->failures);
        if (detection->failures < PAUSE_SHIFT_MAX) {
            detection->failures++;
        }
    } else {
        detection->failures = 0;
    }
}

/* A repeated detection does not change the result before it has tried enough packets. */
static void repeat_detection(struct ue_detection *detection, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    try_all(detection, side, bytes, size_bytes);
    bool is_enough = has_tried_enough(detection);
    if (is_enough || detection->detection == UE_DETECTION_STATE_OPEN) {
        ue_detection_decide(detection);
        learn_server(detection);
    }
    if (is_enough) {
        close_detection(detection);
    }
}

void ue_detection_retry_undecoded(struct ue_detection *detection, unsigned side, const uint8_t *bytes,
                                  size_t size_bytes) {
    if (detection->given.is_final) {
        return;
    }
    if (detection->pause != 0) {
        detection->pause--;
        return;
    }
    if (detection->detection != UE_DETECTION_STATE_REOPENED) {
        reopen(detection);
    }
    try_all(detection, side, bytes, size_bytes);
    if (!has_tried_enough(detection)) {
        return;
    }
    struct ue_detection tried = *detection;
    ue_detection_decide(&tried);
    if (tried.evidence >= UE_DETECTION_CERTAIN_MATCHES) {
        *detection = tried;
        detection->result.is_undecoded = false;
        memset(detection->sides, 0, sizeof detection->sides);
    } else {
        ue_detection_restart(detection);
    }
    close_detection(detection);
}

static bool has_chosen_position(const struct ue_detection *detection, unsigned row) {
    return ue_detection_header_position(row, ue_detection_has_ids(detection, row)) ==
           ue_detection_header_position(detection->result.profile, detection->result.ids);
}

/* Removes the candidates that do not match this packet. Only candidates with the header position of the result are
   tried, because a single packet can match at another position by chance. */
static bool narrow_candidates(struct ue_detection *detection, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    struct ue_packet_match fit;
    enum sender sender;
    uint16_t left = 0;
    if (ue_detection_is_guess(&detection->result) || ue_profile_same_wire(detection->result.candidates)) {
        return false;
    }
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        if ((detection->result.candidates >> row & 1) != 0 && has_chosen_position(detection, row) &&
            matches(detection, row, detection->result.variant, side, bytes, size_bytes, &fit, &sender)) {
            left |= (uint16_t)(1u << row);
        }
    }
    if (left != 0) {
        enum ue_detection_reason reason = detection->result.variant != 0 ? UE_DETECTION_REASON_VARIANT_MATCH
                                          : ue_profile_same_wire(left)   ? UE_DETECTION_REASON_ONLY_MATCH
                                                                         : UE_DETECTION_REASON_OLDEST_MATCH;
        ue_detection_choose(detection, ue_profile_mask_oldest(left), detection->result.variant, left, reason);
    }
    return left != 0;
}

/* Evaluated twice for each packet, so that profiles are compared only when the masks change. */
bool ue_detection_is_single(struct ue_detection *detection) {
    uint16_t possible = detection->possible;
    uint16_t candidates = detection->result.candidates;
    if (detection->compared_masks[0] != possible || detection->compared_masks[1] != candidates) {
        detection->compared_masks[0] = possible;
        detection->compared_masks[1] = candidates;
        detection->is_single = ue_profile_same_wire(possible) || ue_profile_same_wire(candidates);
    }
    return detection->is_single;
}

/* Whether this packet is compared with the result. */
static bool is_due(struct ue_detection *detection) {
    return !ue_detection_is_single(detection) || detection->misses != 0 || detection->datagrams % WATCH_STEP == 0;
}

static void compare_with_result(struct ue_detection *detection, unsigned side, const uint8_t *bytes,
                                size_t size_bytes) {
    struct ue_packet_match fit;
    enum sender sender;
    if (matches_context(ue_detection_resolve(detection, side), bytes, size_bytes, &fit, &sender)) {
        if (detection->misses != 0) {
            detection->misses--;
        }
    } else if (!narrow_candidates(detection, side, bytes, size_bytes) && detection->misses < MISSES_MAX) {
        detection->misses = (uint8_t)(detection->misses + MISS_WEIGHT);
    }
}

void ue_detection_check_packet(struct ue_detection *detection, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    bool is_closed = detection->detection == UE_DETECTION_STATE_CLOSED;
    if (detection->pause != 0) {
        detection->pause--;
    }
    if (is_closed && is_due(detection)) {
        compare_with_result(detection, side, bytes, size_bytes);
    }
    bool is_in_doubt = ue_detection_is_guess(&detection->result) || detection->misses >= MISSES_MAX;
    if (is_closed && is_in_doubt && detection->pause == 0) {
        reopen(detection);
    }
    if (detection->detection != UE_DETECTION_STATE_CLOSED) {
        repeat_detection(detection, side, bytes, size_bytes);
    }
}
