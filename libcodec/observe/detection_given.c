/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/detection_given.h"

#include "libcodec/base/text_writer.h"
#include "libcodec/observe/detection_evidence.h"
#include "libcodec/observe/detection_handlers.h"

/* Packets of which most do not match, before what the caller gave counts as contradicted. */
#define PACKETS_MIN 8
/* Messages of the handshake that only other generations send, beside other datagrams: one may be damaged. */
#define CONTRARY_MIN 2
/* Packets that confirm handlers: a few may match by chance. */
#define CONFIRMING_MIN 5
/* Packets of which none matches, although each matches without what the caller gave. */
#define ALL_MISSED_MIN 2

static uint16_t rows_of(const struct ue_detection *detection) {
    if (detection->is_given) {
        return (uint16_t)(1u << ue_profile_index(detection->custom));
    }
    return detection->possible;
}

static bool is_compared(const struct ue_detection *detection) {
    return detection->given.automatic != NULL && !detection->is_released;
}

/* ---- datagrams ---- */

static bool sends_form(const struct ue_profile *profile, uint16_t rows) {
    bool is_sent = false;
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        const struct ue_profile *other = ue_profile_at(row);
        is_sent |=
            (rows >> row & 1) != 0 && other->handshake == profile->handshake && other->features == profile->features;
    }
    return is_sent;
}

static void compare_handshake(struct ue_detection *detection, const struct ue_handshake_match *match) {
    struct ue_detection_given *given = &detection->given;
    if (detection->is_given) {
        given->handshakes++;
        given->contrary_handshakes =
            (uint8_t)(given->contrary_handshakes + !sends_form(detection->custom, match->profiles));
    }
}

/* While the direction is not known, a packet may be of either side. */
static bool matches_row(const struct ue_detection *detection, unsigned row, unsigned side, const uint8_t *bytes,
                        size_t size_bytes, bool *is_fault) {
    struct ue_context x;
    struct ue_decode_result result;
    enum ue_direction direction = ue_detection_direction(detection, side);
    ue_detection_context_of_row(detection, &detection->result, row, direction, &x);
    x.ids = detection->is_given ? detection->result.ids : x.ids;
    bool is_match = ue_detection_has_handlers(&x, bytes, size_bytes);
    *is_fault = !is_match && ue_datagram_decode(&x, bytes, size_bytes, NULL, NULL, &result) != UE_OK;
    if (!is_match && direction == UE_DIRECTION_UNKNOWN) {
        x.direction = UE_SERVER_TO_CLIENT;
        is_match = ue_detection_has_handlers(&x, bytes, size_bytes);
    }
    return is_match;
}

void ue_detection_compare_datagram(struct ue_detection *detection, unsigned side, const uint8_t *bytes,
                                   size_t size_bytes, const struct ue_handshake_match *match) {
    struct ue_detection_given *given = &detection->given;
    if (!is_compared(detection)) {
        return;
    }
    if (match != NULL) {
        compare_handshake(detection, match);
        return;
    }
    given->packets++;
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        bool is_fault = false;
        if ((rows_of(detection) >> row & 1) != 0 && !matches_row(detection, row, side, bytes, size_bytes, &is_fault)) {
            given->missed[row]++;
            given->faults[row] = (uint8_t)(given->faults[row] + is_fault);
        }
    }
}

/* ---- the result ---- */

/* The profile that fewest packets do not match. */
static unsigned best_row(const struct ue_detection *detection) {
    uint16_t rows = rows_of(detection);
    unsigned best = ue_profile_mask_oldest(rows);
    for (unsigned row = best + 1; row < UE_PROFILE_COUNT; row++) {
        bool is_better = detection->given.missed[row] < detection->given.missed[best];
        best = (rows >> row & 1) != 0 && is_better ? row : best;
    }
    return best;
}

/* The packets that do not match the result. */
static unsigned misses_of(const struct ue_detection *automatic) {
    const struct ue_detection_result *result = &automatic->result;
    unsigned trials = result->variant == 0 ? automatic->trials : automatic->variant_trials;
    return trials - automatic->fits[result->profile][result->variant];
}

/* Whether each packet matches without what the caller gave, at least this number of them with bunches. */
static bool matches_all(const struct ue_detection *automatic, unsigned bunches_min) {
    return !ue_detection_is_guess(&automatic->result) && automatic->evidence >= bunches_min && automatic->misses == 0 &&
           misses_of(automatic) == 0;
}

/* Handlers that the caller did not give are found like those of a generation that is detected. */
static bool has_found_handlers(const struct ue_detection *detection) {
    enum ue_handler chain[UE_HANDLERS_MAX];
    return !detection->given.has_handlers && ue_detection_find_handlers(detection, chain);
}

/* Bounds of a game that the settings lack are found like those of a generation that is detected. */
static bool has_found_bounds(const struct ue_detection *detection) {
    const struct ue_detection_result *result = &detection->given.automatic->result;
    unsigned row = best_row(detection);
    return detection->is_given && detection->custom == ue_profile_at(row) &&
           result->reason == UE_DETECTION_REASON_VARIANT_MATCH && (result->candidates >> row & 1) != 0;
}

/* Whether the detection without what the caller gave has another result, with evidence. */
static bool has_other(const struct ue_detection *detection) {
    const struct ue_detection *automatic = detection->given.automatic;
    const struct ue_detection_result *other = &automatic->result;
    bool is_found = !ue_detection_is_guess(other) && !other->is_undecoded &&
                    other->reason != UE_DETECTION_REASON_NONE &&
                    (automatic->trials != 0 || automatic->handlers.is_applied);
    bool same_handlers =
        memcmp(automatic->settings.handlers, detection->settings.handlers, sizeof automatic->settings.handlers) == 0;
    return is_found && !(same_handlers && detection->is_given && (other->candidates & rows_of(detection)) != 0);
}

static bool is_worse(const struct ue_detection *detection) {
    const struct ue_detection_given *given = &detection->given;
    unsigned row = best_row(detection);
    unsigned matched = given->automatic->trials - misses_of(given->automatic);
    bool is_contrary = given->contrary_handshakes >= CONTRARY_MIN && matched + given->missed[row] >= given->packets;
    bool is_all = given->faults[row] >= ALL_MISSED_MIN && given->faults[row] == given->packets;
    unsigned bunches_min = is_all ? ALL_MISSED_MIN : UE_DETECTION_CERTAIN_MATCHES;
    bool is_doubtful = given->faults[row] != 0 || (given->missed[row] != 0 && given->contrary_handshakes != 0);
    return (is_doubtful && matches_all(given->automatic, bunches_min) && has_other(detection)) || is_contrary;
}

static bool is_contradicted(const struct ue_detection *detection) {
    const struct ue_detection_given *given = &detection->given;
    bool is_most = given->packets >= PACKETS_MIN && given->missed[best_row(detection)] * 2u > given->packets;
    bool is_alone = given->packets == 0 && given->contrary_handshakes == 1 && given->handshakes == 1;
    return (is_most || is_alone || is_worse(detection)) && !has_found_handlers(detection) &&
           !has_found_bounds(detection);
}

bool ue_detection_given_is_certain(const struct ue_detection *detection) {
    const struct ue_detection_given *given = &detection->given;
    bool is_unequalled = given->missed[best_row(detection)] == 0 && given->contrary_handshakes == 0;
    bool is_confirmed = detection->is_given ? given->automatic->is_released
                                            : ue_detection_is_certain(detection) && given->packets >= CONFIRMING_MIN;
    bool is_decided = given->automatic->is_released && (is_contradicted(detection) || has_found_bounds(detection));
    return (is_confirmed && is_unequalled) || is_decided;
}

static void set_other(struct ue_detection *detection) {
    struct ue_detection_given *given = &detection->given;
    given->has_other = has_other(detection);
    given->other = given->automatic->result;
    memcpy(given->other_handlers, given->automatic->settings.handlers, sizeof given->other_handlers);
}

/* Handshake messages are decoded as those of the generation that is detected. */
static void read_handshake_as_detected(struct ue_detection *detection) {
    const struct ue_detection *automatic = detection->given.automatic;
    detection->result.profile = automatic->result.profile;
    detection->result.ids = automatic->result.ids;
    detection->result.features = automatic->result.features;
    detection->ids = automatic->ids;
    detection->has_ids_evidence = automatic->has_ids_evidence;
    detection->has_packets = automatic->has_packets;
    detection->server_side = automatic->server_side;
}

/* A generation that was not given is that of the diagnosis. */
static void explain(struct ue_detection *detection) {
    if (detection->is_given) {
        detection->result.reason = UE_DETECTION_REASON_CONTRADICTED;
    } else if (detection->given.has_other) {
        detection->result.candidates = detection->given.other.candidates;
        detection->result.matches_few = false;
        detection->result.reason = UE_DETECTION_REASON_WITHOUT_HANDLERS;
    }
}

bool ue_detection_reject_given(struct ue_detection *detection) {
    struct ue_detection_given *given = &detection->given;
    if (is_compared(detection) && !given->is_contradicted && is_contradicted(detection)) {
        given->is_contradicted = true;
        given->is_final = is_worse(detection);
        set_other(detection);
        ue_detection_leave_undecoded(detection);
        read_handshake_as_detected(detection);
        explain(detection);
    } else if (is_compared(detection) && has_found_bounds(detection)) {
        detection->result.variant = given->automatic->result.variant;
    }
    given->automatic = NULL;
    return given->is_contradicted;
}

/* Whether a contradiction stays, whatever packets follow. */
static bool is_lasting(const struct ue_detection *detection) {
    const struct ue_detection_given *given = &detection->given;
    return given->is_final || (given->has_other && given->missed[best_row(detection)] == given->packets);
}

void ue_detection_adopt_contradiction(struct ue_detection *detection, const struct ue_detection *compared) {
    if (compared != detection && compared->given.is_contradicted && is_lasting(compared)) {
        detection->given = compared->given;
        detection->given.is_found_beside = true;
    }
}

void ue_detection_adopt_given(struct ue_detection *detection, const struct ue_detection *earlier) {
    if (earlier->given.is_contradicted && earlier->result.is_undecoded && detection->given.automatic != NULL) {
        detection->given = earlier->given;
        detection->result = detection->released = earlier->result;
        ue_detection_forget_packets(detection);
        detection->is_released = true;
        detection->detection = UE_DETECTION_STATE_CLOSED;
    }
}

bool ue_detection_contradicts(const struct ue_detection *detection, struct ue_detection_contradiction *contradiction) {
    const struct ue_detection_given *given = &detection->given;
    bool is_contradicted = given->is_contradicted && (given->is_found_beside || detection->result.is_undecoded);
    if (is_contradicted && contradiction != NULL) {
        contradiction->datagrams = (unsigned)given->packets + given->handshakes;
        contradiction->missed = (unsigned)given->missed[best_row(detection)] + given->contrary_handshakes;
    }
    return is_contradicted;
}

bool ue_detection_withdrew_contradiction(const struct ue_detection *detection) {
    return detection->given.is_contradicted && !ue_detection_contradicts(detection, NULL);
}

struct ue_detection_contradicted_options ue_detection_contradicted_options(const struct ue_detection *detection) {
    bool is_generation = detection->is_given && detection->given.has_other;
    return (struct ue_detection_contradicted_options){
        .generation = detection->is_given,
        .handlers = detection->given.has_handlers && !is_generation,
    };
}

/* ---- texts ---- */

static void add_handlers(struct ue_text_writer *out, const enum ue_handler handlers[UE_HANDLERS_MAX]) {
    char text[UE_HANDLERS_CHARS];
    ue_text_writer_add(out, "handlers ");
    ue_text_writer_add(out, ue_handlers_text(handlers, text));
}

const char *ue_detection_given_text(const struct ue_detection *detection, char text[UE_DETECTION_SETTINGS_CHARS]) {
    struct ue_text_writer out = {.text = text, .size_bytes = UE_DETECTION_SETTINGS_CHARS};
    char releases[UE_RELEASES_CHARS];
    struct ue_detection_contradicted_options options = ue_detection_contradicted_options(detection);
    if (options.generation) {
        ue_text_writer_add(&out, "generation ");
        ue_text_writer_add(&out, ue_profile_releases(detection->custom, releases));
        ue_text_writer_add(&out, options.handlers ? " with " : "");
    }
    if (options.handlers) {
        add_handlers(&out, detection->settings.handlers);
    }
    ue_text_writer_finish(&out);
    return text;
}

const char *ue_detection_other_text(const struct ue_detection *detection, char text[UE_DETECTION_SETTINGS_CHARS]) {
    struct ue_text_writer out = {.text = text, .size_bytes = UE_DETECTION_SETTINGS_CHARS};
    const struct ue_detection_given *given = &detection->given;
    char releases[UE_RANGE_CHARS];
    if (!given->has_other) {
        return NULL;
    }
    ue_text_writer_add(&out, "generation ");
    ue_text_writer_add(&out, ue_profile_range(given->other.candidates, releases));
    if (given->other_handlers[0] != UE_HANDLER_NONE) {
        ue_text_writer_add(&out, " with ");
        add_handlers(&out, given->other_handlers);
    } else if (!detection->is_given) {
        ue_text_writer_add(&out, " without handlers");
    }
    ue_text_writer_finish(&out);
    return text;
}
