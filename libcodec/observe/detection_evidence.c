/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/detection_evidence.h"

#include <uerudp/seq.h>
#include "libcodec/observe/detection_packet_ids.h"

/* Packets that must agree on who the server is: one may fit the wrong reading by chance. */
#define SERVER_VOTES 3
/* Share of datagrams that a profile must fit: 95 of 100. */
#define FIT_PART 19
#define FIT_WHOLE 20

static const uint16_t variant_packet_bytes[] = {0, 512, 1024, 1028, 2048, 4096, 8192};
#define PACKET_SIZES (sizeof variant_packet_bytes / sizeof *variant_packet_bytes)
_Static_assert(UE_DETECTION_VARIANT_COUNT == 2 * PACKET_SIZES, "each packet size with the stock and the larger sequence bound");
#define VARIANT_CH_SEQ_BOUND 4096

static struct ue_settings variant_settings(const struct ue_settings *given, unsigned variant) {
    struct ue_settings settings = *given;
    if (variant % PACKET_SIZES != 0) {
        settings.max_packet_bytes = variant_packet_bytes[variant % PACKET_SIZES];
    }
    if (variant / PACKET_SIZES != 0) {
        settings.ch_seq_bound = VARIANT_CH_SEQ_BOUND;
    }
    return settings;
}

/* A setting that the user gave is not varied. */
static bool variant_is_allowed(const struct ue_settings *given, unsigned variant) {
    bool other_size = variant % PACKET_SIZES != 0;
    bool other_bound = variant / PACKET_SIZES != 0;
    return !(other_size && given->max_packet_bytes != 0) && !(other_bound && given->ch_seq_bound != 0);
}

enum ue_direction ue_detection_direction(const struct ue_detection *flow, unsigned side) {
    if (flow->server_side < 0) {
        return UE_DIRECTION_UNKNOWN;
    }
    return (unsigned)flow->server_side == side ? UE_SERVER_TO_CLIENT : UE_CLIENT_TO_SERVER;
}

void ue_detection_choose(struct ue_detection *flow, unsigned profile, unsigned variant, uint16_t candidates,
                    enum ue_detection_reason reason) {
    bool ids = ue_detection_has_ids(flow, profile);
    ue_detection_move_header(flow, profile, ids);
    flow->choice.profile = (uint8_t)profile;
    flow->choice.variant = (uint8_t)variant;
    flow->choice.candidates = candidates;
    flow->choice.reason = (uint8_t)reason;
    flow->choice.features = ue_profile_at(profile)->features;
    flow->choice.ids = ids;
}

unsigned ue_profile_mask_oldest(uint16_t mask) {
    return mask != 0 ? (unsigned)__builtin_ctz(mask) : 0;
}

void ue_detection_context_for(const struct ue_detection *flow, const struct ue_detection_result *choice, enum ue_direction direction,
                         struct ue_context *context) {
    struct ue_settings settings = variant_settings(&flow->settings, choice->variant);
    const struct ue_profile *profile = flow->custom != NULL ? flow->custom : ue_profile_at(choice->profile);
    ue_context_init(context, profile, &settings);
    context->direction = direction;
    context->ids = choice->ids;
    context->features = choice->features;
}

/* ---- evidence from ordinary packets ---- */

static bool seq_is_plausible(const struct ue_detection *flow, unsigned row, unsigned side,
                             const struct ue_decode_result *verdict) {
    enum ue_packet_layout layout = ue_profile_at(row)->packet;
    if (flow->has_seq[row][side]) {
        int32_t step = ue_seq_difference(verdict->seq, flow->last_seq[row][side], UE_PACKET_SEQ_MAX);
        if (step > UE_DETECTION_SEQ_STEP_MAX || step < -UE_DETECTION_SEQ_STEP_MAX) {
            return false;
        }
    }
    if (layout == UE_PACKET_LEGACY) {
        return true;
    }
    if (flow->has_seq[row][!side]) {
        int32_t behind = ue_seq_difference(flow->last_seq[row][!side], verdict->ack, UE_PACKET_SEQ_MAX);
        if (behind > UE_DETECTION_SEQ_STEP_MAX || behind < -UE_DETECTION_SEQ_STEP_MAX) {
            return false;
        }
    }
    if (layout == UE_PACKET_HISTORY_SEQ) {
        int32_t apart = ue_seq_difference(ue_seq_of(verdict->acked_history_seq), verdict->ack, UE_PACKET_SEQ_MAX);
        return apart <= UE_DETECTION_SEQ_STEP_MAX && apart >= -UE_DETECTION_SEQ_STEP_MAX;
    }
    return true;
}

/* Whether all bits of a packet fit one profile with one variant; with an unknown direction both readings count. */
static bool fits_bits(const struct ue_detection *flow, unsigned row, unsigned variant, unsigned side, const uint8_t *bytes,
                      size_t size_bytes, struct ue_packet_match *fit) {
    struct ue_detection_result choice = flow->choice;
    struct ue_context x;
    choice.profile = (uint8_t)row;
    choice.variant = (uint8_t)variant;
    choice.features = ue_profile_at(row)->features;
    choice.ids = ue_detection_has_ids(flow, row);
    ue_detection_context_for(flow, &choice, ue_detection_direction(flow, side), &x);
    ue_profile_match_packet(&x, bytes, size_bytes, fit);
    if (!fit->fits && x.direction == UE_DIRECTION_UNKNOWN) {
        x.direction = UE_SERVER_TO_CLIENT;
        ue_profile_match_packet(&x, bytes, size_bytes, fit);
    }
    return fit->fits;
}

/* A frame-time bit that only one reading of the direction survives tells who the server is. */
static void learn_direction(struct ue_detection *flow, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    struct ue_packet_match as_client;
    struct ue_packet_match as_server;
    struct ue_context x;
    if (flow->server_side >= 0) {
        return;
    }
    ue_detection_context_for(flow, &flow->choice, UE_CLIENT_TO_SERVER, &x);
    ue_profile_match_packet(&x, bytes, size_bytes, &as_client);
    x.direction = UE_SERVER_TO_CLIENT;
    ue_profile_match_packet(&x, bytes, size_bytes, &as_server);
    if (as_client.fits != as_server.fits && (as_client.verdict.has_frame_time || as_server.verdict.has_frame_time)) {
        bool side_one = (side == 1) == as_server.fits;
        flow->server_votes = (int8_t)(flow->server_votes + (side_one ? 1 : -1));
        if (flow->server_votes >= SERVER_VOTES || flow->server_votes <= -SERVER_VOTES) {
            flow->server_side = side_one;
        }
    }
}

static bool is_possible(const struct ue_detection *flow, unsigned row) {
    return (flow->possible >> row & 1) != 0;
}

/* The profiles that fit well enough under a variant, and none of the others more often; bunches: how often bunches
   supported them. */
static uint16_t survivors(const struct ue_detection *flow, unsigned variant, unsigned *bunches) {
    unsigned trials = variant == 0 ? flow->trials : flow->variant_trials;
    uint16_t mask = 0;
    unsigned most = 0;
    *bunches = 0;
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        unsigned fits = flow->fits[row][variant];
        if (!is_possible(flow, row) || fits < most || fits * FIT_WHOLE < trials * FIT_PART) {
            continue;
        }
        mask = fits > most ? 0 : mask;
        most = fits;
        mask |= (uint16_t)(1u << row);
        *bunches = flow->bunch_fits[row][variant];
    }
    return mask;
}

/* After the release another profile must fit half of the packets to be closer than the chosen one. */
static void choose_closest(struct ue_detection *flow) {
    bool is_single = ue_profile_same_wire(flow->possible);
    bool keeps = flow->is_released && is_possible(flow, flow->choice.profile);
    unsigned best = keeps ? flow->choice.profile : ue_profile_mask_oldest(flow->possible);
    unsigned variant = keeps ? flow->choice.variant : 0;
    unsigned most =
        keeps && flow->fits[best][variant] < flow->trials / 2 ? flow->trials / 2u : flow->fits[best][variant];
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        if (is_possible(flow, row) && flow->fits[row][0] > most) {
            best = row;
            variant = 0;
            most = flow->fits[row][0];
        }
    }
    ue_detection_choose(flow, best, variant, flow->possible, is_single ? UE_DETECTION_REASON_HANDSHAKE : UE_DETECTION_REASON_CLOSEST);
}

void ue_detection_decide(struct ue_detection *flow) {
    if (flow->trials == 0) {
        bool single = ue_profile_same_wire(flow->possible);
        ue_detection_choose(flow, ue_profile_mask_oldest(flow->possible), 0, flow->possible,
                       single ? UE_DETECTION_REASON_HANDSHAKE : UE_DETECTION_REASON_NONE);
        return;
    }
    unsigned bunches;
    uint16_t mask = survivors(flow, 0, &bunches);
    if (mask != 0) {
        enum ue_detection_reason reason = ue_profile_same_wire(flow->possible) ? UE_DETECTION_REASON_HANDSHAKE
                                : ue_profile_same_wire(mask)         ? UE_DETECTION_REASON_ONLY_MATCH
                                                                     : UE_DETECTION_REASON_OLDEST_MATCH;
        ue_detection_choose(flow, ue_profile_mask_oldest(mask), 0, mask, reason);
        flow->evidence = (uint16_t)bunches;
        return;
    }
    for (unsigned variant = 1; variant < UE_DETECTION_VARIANT_COUNT; variant++) {
        mask = survivors(flow, variant, &bunches);
        if (mask != 0 && bunches >= UE_DETECTION_CERTAIN_MATCHES) {
            ue_detection_choose(flow, ue_profile_mask_oldest(mask), variant, mask, UE_DETECTION_REASON_VARIANT_MATCH);
            flow->evidence = (uint16_t)bunches;
            return;
        }
    }
    choose_closest(flow);
}

bool ue_detection_is_certain(const struct ue_detection *flow) {
    const struct ue_detection_result *choice = &flow->choice;
    if (ue_profile_same_wire(flow->possible)) { /* a handshake says nothing of a game's own bounds */
        return flow->given || flow->bunch_fits[choice->profile][choice->variant] != 0;
    }
    return choice->reason == UE_DETECTION_REASON_ONLY_MATCH && flow->evidence >= UE_DETECTION_CERTAIN_MATCHES;
}

/* Some profile has explained every datagram so far with the stock bounds. */
static bool stock_suffices(const struct ue_detection *flow) {
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        if (is_possible(flow, row) && flow->fits[row][0] == flow->trials) {
            return true;
        }
    }
    return false;
}

/* A variant that has missed so often that UE_DETECTION_HELD_MAX datagrams cannot make it survive is tried no more. */
static bool is_hopeless(const struct ue_detection *flow, unsigned row, unsigned variant) {
    unsigned misses = flow->variant_trials - 1u - flow->fits[row][variant];
    return misses * FIT_WHOLE > UE_DETECTION_HELD_MAX * (FIT_WHOLE - FIT_PART);
}

/* What a datagram says in one profile. */
struct said {
    bool fits;
    bool is_readable; /* it need not be plausible */
    uint16_t seq, ack;
};

/* Tries one reading and counts what it explains; the numbers are in the same place under every variant. */
static void count_fit(struct ue_detection *flow, unsigned row, unsigned variant, unsigned side, const uint8_t *bytes,
                      size_t size_bytes, struct said *said) {
    struct ue_packet_match fit;
    bool fits =
        fits_bits(flow, row, variant, side, bytes, size_bytes, &fit) && seq_is_plausible(flow, row, side, &fit.verdict);
    flow->fits[row][variant] += fits;
    flow->bunch_fits[row][variant] += fits && fit.has_bunches;
    const struct ue_decode_result *verdict = &fit.verdict;
    said->fits |= fit.fits;
    if (verdict->fault.status == UE_OK && !verdict->is_handshake && (!verdict->is_opaque || verdict->is_opened)) {
        said->is_readable = true;
        said->seq = verdict->seq;
        said->ack = verdict->ack;
    }
}

static void try_variants(struct ue_detection *flow, unsigned row, unsigned side, const uint8_t *bytes, size_t size_bytes,
                         struct said *said) {
    for (unsigned variant = 1; variant < UE_DETECTION_VARIANT_COUNT; variant++) {
        if (variant_is_allowed(&flow->settings, variant) && !is_hopeless(flow, row, variant)) {
            count_fit(flow, row, variant, side, bytes, size_bytes, said);
        }
    }
}

/* The numbers that each profile reads; those at a place are those of the oldest that has it there. */
static void note_numbers(struct ue_detection *flow, unsigned side, const struct said said[UE_PROFILE_COUNT]) {
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        if (said[row].fits) {
            flow->last_seq[row][side] = said[row].seq;
            flow->has_seq[row][side] = true;
        }
        if (said[row].is_readable && !flow->is_released) {
            ue_detection_add_header(flow, row, side, said[row].seq, said[row].ack);
        }
    }
}

/* Tries all profiles that are possible, and counts what they explain. */
static void count_all(struct ue_detection *flow, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    struct said said[UE_PROFILE_COUNT] = {{0}};
    flow->trials++;
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        if (is_possible(flow, row)) {
            count_fit(flow, row, 0, side, bytes, size_bytes, &said[row]);
        }
    }
    bool vary = !stock_suffices(flow);
    flow->variant_trials += vary;
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        if (vary && is_possible(flow, row)) {
            try_variants(flow, row, side, bytes, size_bytes, &said[row]);
        }
    }
    note_numbers(flow, side, said);
}

void ue_detection_try_packet(struct ue_detection *flow, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    count_all(flow, side, bytes, size_bytes);
    ue_detection_decide(flow);
    learn_direction(flow, side, bytes, size_bytes);
}

/* ---- after the release ---- */

/* A packet that fails counts as much as eight that fit, and sixteen in a row withdraw the detection result; so does one
   in seven, in the long run: generations that differ only in partial bunches read most packets of each other. */
#define MISS_WEIGHT 8
#define MISSES_MAX 128
/* Packets that a second detection reads at least. */
#define TRIALS_MIN 16
/* A detection that found nothing is tried again after 64 packets, then after 128, and so on to 8192. */
#define PAUSE_SHIFT_MAX 7
/* Of a settled flow one packet in 16 is read to its end. */
#define WATCH_STEP 16

static void reopen(struct ue_detection *flow) {
    flow->detection = UE_DETECTION_STATE_REOPENED;
    flow->misses = 0;
    flow->trials = 0;
    flow->variant_trials = 0;
    flow->evidence = 0;
    memset(flow->fits, 0, sizeof flow->fits);
    memset(flow->bunch_fits, 0, sizeof flow->bunch_fits);
    memset(flow->has_seq, 0, sizeof flow->has_seq);
}

static bool has_tried_enough(const struct ue_detection *flow) {
    unsigned bunches;
    bool is_one = ue_profile_same_wire(survivors(flow, 0, &bunches));
    return flow->trials >= UE_DETECTION_HELD_MAX || (flow->trials >= TRIALS_MIN && is_one && bunches >= UE_DETECTION_CERTAIN_MATCHES);
}

static void close_detection(struct ue_detection *flow) {
    flow->detection = UE_DETECTION_STATE_CLOSED;
    if (flow->choice.reason == UE_DETECTION_REASON_CLOSEST) {
        flow->pause = (uint16_t)(UE_DETECTION_HELD_MAX << flow->failures);
        flow->failures += flow->failures < PAUSE_SHIFT_MAX;
    } else {
        flow->failures = 0;
    }
}

/* A second detection leaves the choice as it is until it has read enough. */
static void try_again(struct ue_detection *flow, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    count_all(flow, side, bytes, size_bytes);
    bool is_enough = has_tried_enough(flow);
    if (is_enough || flow->detection == UE_DETECTION_STATE_OPEN) {
        ue_detection_decide(flow);
        learn_direction(flow, side, bytes, size_bytes);
    }
    if (is_enough) {
        close_detection(flow);
    }
}

static bool is_at_chosen_place(const struct ue_detection *flow, unsigned row) {
    return ue_detection_header_position(row, ue_detection_has_ids(flow, row)) == ue_detection_header_position(flow->choice.profile, flow->choice.ids);
}

/* Generations that explained all packets so far equally well, and of which one does not explain this packet. They have
   the header in one place: elsewhere a single packet may fit by chance. */
static bool narrow_tie(struct ue_detection *flow, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    struct ue_packet_match fit;
    uint16_t left = 0;
    if (flow->choice.reason == UE_DETECTION_REASON_CLOSEST || ue_profile_same_wire(flow->choice.candidates)) {
        return false;
    }
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        if ((flow->choice.candidates >> row & 1) != 0 && is_at_chosen_place(flow, row) &&
            fits_bits(flow, row, flow->choice.variant, side, bytes, size_bytes, &fit)) {
            left |= (uint16_t)(1u << row);
        }
    }
    if (left != 0) {
        enum ue_detection_reason reason = flow->choice.variant != 0    ? UE_DETECTION_REASON_VARIANT_MATCH
                                : ue_profile_same_wire(left) ? UE_DETECTION_REASON_ONLY_MATCH
                                                             : UE_DETECTION_REASON_OLDEST_MATCH;
        ue_detection_choose(flow, ue_profile_mask_oldest(left), flow->choice.variant, left, reason);
    }
    return left != 0;
}

/* Whether this packet is read, rather than taken to be like the others. */
static bool is_watched(const struct ue_detection *flow) {
    bool is_single = ue_profile_same_wire(flow->possible) || ue_profile_same_wire(flow->choice.candidates);
    return !is_single || flow->misses != 0 || flow->datagrams % WATCH_STEP == 0;
}

static void watch_choice(struct ue_detection *flow, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    struct ue_packet_match fit;
    if (fits_bits(flow, flow->choice.profile, flow->choice.variant, side, bytes, size_bytes, &fit)) {
        flow->misses -= flow->misses != 0;
    } else if (!narrow_tie(flow, side, bytes, size_bytes)) {
        flow->misses += flow->misses < MISSES_MAX ? MISS_WEIGHT : 0;
    }
}

void ue_detection_check_packet(struct ue_detection *flow, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    bool is_closed = flow->detection == UE_DETECTION_STATE_CLOSED;
    flow->pause -= flow->pause != 0;
    if (is_closed && is_watched(flow)) {
        watch_choice(flow, side, bytes, size_bytes);
    }
    bool is_doubtful = flow->choice.reason == UE_DETECTION_REASON_CLOSEST || flow->misses >= MISSES_MAX;
    if (is_closed && is_doubtful && flow->pause == 0) {
        reopen(flow);
    }
    if (flow->detection != UE_DETECTION_STATE_CLOSED) {
        try_again(flow, side, bytes, size_bytes);
    }
}
