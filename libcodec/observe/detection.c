/* SPDX-License-Identifier: MIT */
#include <uerudp/detection.h>

#include <uerudp/seq.h>
#include "libcodec/base/fnv1a.h"
#include "libcodec/observe/detection_bounds.h"
#include "libcodec/observe/detection_evidence.h"
#include "libcodec/observe/detection_given.h"
#include "libcodec/observe/detection_handlers.h"
#include "libcodec/observe/detection_magic.h"
#include "libcodec/observe/detection_session_start.h"
#include "libcodec/observe/detection_packet_ids.h"
#include "libcodec/observe/detection_replay.h"
#include "libcodec/observe/detection_spawn.h"

void ue_detection_init(struct ue_detection *detection, const struct ue_settings *settings,
                       const struct ue_profile *generation, int server_side) {
    memset(detection, 0, sizeof *detection);
    detection->settings = *settings;
    detection->server_side = detection->given_side = (int8_t)server_side;
    detection->possible = UE_PROFILE_ALL;
    detection->result.candidates = UE_PROFILE_ALL;
    if (generation != NULL) {
        detection->custom = generation;
        detection->is_given = true;
        ue_detection_choose_given(detection);
        ue_detection_release(detection);
    }
}

bool ue_detection_compare_given(struct ue_detection *detection, struct ue_detection *automatic) {
    struct ue_settings settings = detection->settings;
    bool has_unknown = false;
    for (size_t i = 0; i < UE_HANDLERS_MAX; i++) {
        has_unknown |= settings.handlers[i] == UE_HANDLER_UNKNOWN;
    }
    bool has_handlers = settings.handlers[0] != UE_HANDLER_NONE;
    if (has_unknown || (!detection->is_given && !has_handlers)) {
        return false;
    }
    if (!detection->is_given) {
        memset(settings.handlers, 0, sizeof settings.handlers);
    }
    ue_detection_init(automatic, &settings, NULL, detection->given_side);
    detection->given.automatic = automatic;
    detection->given.has_handlers = has_handlers;
    detection->is_released = false;
    detection->detection = UE_DETECTION_STATE_OPEN;
    return true;
}

void ue_detection_release(struct ue_detection *detection) {
    if (!detection->is_released) {
        if (!ue_detection_reject_given(detection)) {
            ue_detection_apply_handlers(detection);
        }
        int votes = detection->server_votes[detection->result.profile];
        if (detection->server_side < 0 && votes != 0) {
            detection->server_side = votes > 0;
        }
        bool is_enough =
            detection->is_given || ue_detection_is_certain(detection) || detection->trials >= UE_DETECTION_HELD_MAX;
        detection->detection = is_enough ? UE_DETECTION_STATE_CLOSED : UE_DETECTION_STATE_OPEN;
        detection->is_released = true;
        detection->released = detection->result;
    }
}

const struct ue_detection_result *ue_detection_result_of(const struct ue_detection *detection,
                                                         const struct ue_decode_state *state) {
    return state->is_held ? (detection->is_released ? &detection->released : &detection->result) : &state->result;
}

void ue_detection_context(const struct ue_detection *detection, const struct ue_decode_state *state,
                          struct ue_context *context) {
    const struct ue_detection_result *result = ue_detection_result_of(detection, state);
    enum ue_direction direction = (enum ue_direction)state->direction;
    if (direction == UE_DIRECTION_UNKNOWN) {
        direction = ue_detection_direction(detection, state->side);
    }
    if (ue_detection_is_resolved(detection, result)) {
        *context = detection->resolved;
        context->direction = direction;
    } else {
        ue_detection_context_for(detection, result, direction, context);
    }
    context->restarting = state->restarting;
}

struct ue_packet_ids ue_detection_packet_ids(const struct ue_detection *detection,
                                             const struct ue_decode_state *state) {
    if (state->number == 0) {
        return state->packet_ids;
    }
    const struct ue_detection_result *result = ue_detection_result_of(detection, state);
    if (detection->settings.internal_ack) {
        return (struct ue_packet_ids){.has_id = true, .packet_id = state->number - 1};
    }
    enum ue_header_position position = ue_detection_header_position(result->profile, result->ids);
    bool is_known = !(detection->handlers.is_applied && state->is_held) && state->packet_ids.has_id &&
                    position == ue_detection_header_position(state->result.profile, state->result.ids);
    struct ue_detection_side sides[2];
    return is_known ? state->packet_ids : ue_detection_expand_first(detection, position, state->number, sides);
}

/* ---- evidence from handshakes ---- */

static void learn_handshake(struct ue_detection *detection, unsigned side, const struct ue_handshake_match *match) {
    if (match->direction != UE_DIRECTION_UNKNOWN) {
        bool from_server = match->direction == UE_SERVER_TO_CLIENT;
        detection->server_side = (int8_t)(from_server ? side : !side);
    } else if (detection->server_side < 0) {
        detection->server_side = (int8_t)side; /* the first of two equal messages is the Challenge */
    }
    if (match->restart) {
        detection->restarting = true;
    }
    detection->has_proof |= match->has_body || match->ids;
    detection->has_ids_evidence = true;
    detection->has_sure_form |= !match->restart;
    detection->ids = match->ids;
    if (detection->is_given || detection->result.reason == UE_DETECTION_REASON_WITHOUT_HANDLERS) {
        bool is_detected = detection->result.is_undecoded;
        detection->result.ids = match->ids && (is_detected || detection->custom->handshake == UE_HANDSHAKE_V);
        return;
    }
    uint16_t common = detection->possible & match->profiles;
    detection->possible = common != 0 ? common : match->profiles;
    if ((detection->possible & match->assumed) != 0) {
        detection->possible &= match->assumed;
    }
    ue_detection_decide(detection);
}

/* Whether the cookie may hold no first sequences, as up to 4.17. An Ack, which these releases do not send, excludes
   them. */
static bool cookie_may_be_bare(const struct ue_detection *detection) {
    uint16_t rows = detection->is_given ? detection->result.candidates : detection->possible;
    return ue_profile_at(ue_profile_mask_oldest(rows))->handshake == UE_HANDSHAKE_A0;
}

/* The cookie holds the first sequences of both sides (protocol.md 5.7). */
static void learn_sequences(struct ue_detection *detection, const struct ue_handshake_match *match) {
    if (cookie_may_be_bare(detection) || detection->has_packets || detection->restarting || !match->has_cookie ||
        detection->server_side < 0) {
        return;
    }
    struct ue_sequences first = ue_cookie_sequences(match->cookie);
    ue_detection_set_first(detection->sides, !detection->server_side, first.client, first.server);
    memcpy(detection->first_sides, detection->sides, sizeof detection->sides);
}

/* Number of datagrams after a handshake message of which none has a packet's prefix, or the form of such a message. */
#define CONTRADICTIONS_MAX 8

/* A magic header can look like the handshake bit, so that all datagrams seem to be handshake messages. Then the form of
   the first ones was chance. */
static void contradict_handshake(struct ue_detection *detection) {
    if (detection->is_given || detection->is_confirmed || ++detection->contradictions < CONTRADICTIONS_MAX) {
        return;
    }
    detection->contradictions = 0;
    detection->has_ids_evidence = detection->has_sure_form = false;
    detection->has_proof = detection->restarting = false;
    detection->server_side = detection->given_side;
    detection->possible = UE_PROFILE_ALL;
    memset(detection->sides, 0, sizeof detection->sides);
    memset(detection->first_sides, 0, sizeof detection->first_sides);
    memset(detection->held_sides, 0, sizeof detection->held_sides);
    ue_detection_decide(detection);
}

/* Before the release the header can be correct although the bunches do not match, for example with other bounds. */
static bool header_is_plausible(const struct ue_detection *detection, const struct ue_detection_side *side,
                                const struct ue_decode_result *result) {
    if (result->fault.status == UE_OK) {
        return true;
    }
    int64_t step = ue_seq_expand(result->seq, side->last_id, UE_PACKET_SEQ_MAX) - side->last_id;
    return !detection->is_released && side->has_id && step <= UE_DETECTION_SEQ_STEP_MAX &&
           step >= -UE_DETECTION_SEQ_STEP_MAX;
}

/* Whether a header is enough, because packets are expected to match the result; ue_detection_check_packet compares some
   of them anyway, and all of them while several generations match. */
static bool header_suffices(struct ue_detection *detection) {
    bool is_closed = detection->detection == UE_DETECTION_STATE_CLOSED;
    bool matches = is_closed && !ue_detection_is_guess(&detection->result);
    return detection->is_given || (detection->is_released && (matches || ue_detection_is_single(detection)));
}

/* Whether sequence or ack differ from the last ones by more than traffic advances between two datagrams. */
static bool jumps(const struct ue_detection_side *side, const struct ue_decode_result *result) {
    int32_t step = ue_seq_difference(result->seq, ue_seq_of(side->last_id), UE_PACKET_SEQ_MAX);
    int32_t ack_step = side->has_acked && result->ack >= 0
                           ? ue_seq_difference((uint16_t)result->ack, side->acked, UE_PACKET_SEQ_MAX)
                           : 0;
    return step > UE_DETECTION_SEQ_STEP_MAX || step < -UE_DETECTION_SEQ_STEP_MAX ||
           ack_step > UE_DETECTION_SEQ_STEP_MAX || ack_step < -UE_DETECTION_SEQ_STEP_MAX;
}

/* Decodes the header of a packet. Returns false when the header alone does not suffice, as up to 4.21, whose acks are
   items. */
static bool decode_header(const struct ue_context *x, const uint8_t *bytes, size_t size_bytes,
                          struct ue_datagram_start *start, struct ue_decode_result *result) {
    const struct ue_datagram *head = &start->datagram;
    struct ue_fault fault;
    if (x->profile.packet == UE_PACKET_LEGACY ||
        ue_datagram_begin(x, bytes, size_bytes, &start->datagram, &start->rest, &fault) != UE_OK ||
        head->prefix.is_handshake || head->handlers.is_opaque) {
        return false;
    }
    start->is_valid = true;
    *result = (struct ue_decode_result){
        .seq = head->packet.seq,
        .ack = head->packet.ack,
        .acked_history_seq = head->packet.acked_history_seq,
        .has_frame_time = head->packet.has_frame_time,
    };
    return true;
}

/* Decodes the datagram with the current result. Returns false when encryption or compression hides the packet. When the
   result is final, the header is enough, unless it is unexpected: then the bunches must be valid, too. */
static bool decode_current(struct ue_detection *detection, unsigned side, const uint8_t *bytes, size_t size_bytes,
                           struct ue_decode_result *result) {
    const struct ue_context *x = ue_detection_resolve(detection, side);
    bool header_is_enough = header_suffices(detection) && detection->sides[side].has_id;
    struct ue_datagram_start own, *start = detection->start != NULL ? detection->start : &own;
    start->is_valid = false;
    if (!header_is_enough || !decode_header(x, bytes, size_bytes, start, result) ||
        jumps(&detection->sides[side], result)) {
        ue_datagram_decode(x, bytes, size_bytes, NULL, NULL, result);
    }
    return result->closed_by == UE_HANDLER_NONE;
}

/* Whether settings that are missing are searched in this datagram. */
static bool is_early(const struct ue_detection *detection) {
    return detection->datagrams <= UE_DETECTION_HELD_MAX;
}

/* Whether a packet was encrypted by a handler that decryptors know. */
static bool is_encrypted(const struct ue_decode_result *result) {
    enum ue_handler handler = result->closed_by;
    return result->is_opened || handler == UE_HANDLER_AESGCM || handler == UE_HANDLER_AESGCM_BYTES ||
           handler == UE_HANDLER_AES_ECB;
}

static void count_packet(struct ue_detection *detection, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    if (detection->is_released) {
        ue_detection_check_packet(detection, side, bytes, size_bytes);
    } else {
        ue_detection_try_packet(detection, side, bytes, size_bytes);
    }
}

/* Packets of a replay have no header; a reader counts them (protocol.md 8). */
static void count_replay_packet(struct ue_detection_side *side, struct ue_packet_ids *packet_ids) {
    side->last_id = side->has_id ? side->last_id + 1 : 0;
    side->has_id = true;
    *packet_ids = (struct ue_packet_ids){.has_id = true, .packet_id = side->last_id};
}

static void process_packet(struct ue_detection *detection, unsigned side, const uint8_t *bytes, size_t size_bytes,
                           struct ue_decode_state *state) {
    const struct ue_context *x = &detection->resolved;
    struct ue_decode_result result;
    bool visible = decode_current(detection, side, bytes, size_bytes, &result);
    if (visible && ue_detection_is_earlier_opening(detection, side, &result, x, bytes, size_bytes)) {
        state->number = 0; /* no evidence */
        return;
    }
    if (visible && ue_detection_is_other_session(detection, side, result.seq, x, bytes, size_bytes)) {
        state->is_other_session = true;
        return;
    }
    detection->has_packets = true;
    detection->is_confirmed |= detection->has_ids_evidence;
    detection->restarting = false;
    detection->sides[side].has_unread |= !visible;
    if (detection->is_released && detection->result.is_undecoded) {
        ue_detection_retry_undecoded(detection, side, bytes, size_bytes);
        visible = !detection->result.is_undecoded && decode_current(detection, side, bytes, size_bytes, &result);
    } else if (visible && !detection->is_given) {
        count_packet(detection, side, bytes, size_bytes);
        if (!detection->is_released || !ue_detection_is_resolved(detection, &detection->result)) {
            visible = decode_current(detection, side, bytes, size_bytes, &result);
        }
    }
    if (ue_detection_observe_replay(detection, side, bytes, size_bytes)) {
        visible = decode_current(detection, side, bytes, size_bytes, &result);
    }
    if (visible) {
        ue_detection_observe_spawns(detection, x, bytes, size_bytes);
    }
    /* Without handlers or generation in the settings, a release before the last of these datagrams means that packets
       match. */
    if (is_early(detection) &&
        (!detection->is_released || detection->is_given || detection->settings.handlers[0] != UE_HANDLER_NONE)) {
        ue_detection_observe_handlers(detection, side, bytes, size_bytes);
    }
    if (visible && detection->has_cut) {
        ue_detection_observe_bounds(detection, side, bytes, size_bytes);
    }
    if (x->settings.decryptor != NULL && is_encrypted(&result)) {
        detection->encrypted++;
        detection->decrypted += result.is_opened;
    }
    if (visible && x->settings.internal_ack) {
        count_replay_packet(&detection->sides[side], &state->packet_ids);
        return;
    }
    bool is_packet = visible && !result.is_handshake;
    if (is_packet && header_is_plausible(detection, &detection->sides[side], &result)) {
        bool modern = x->profile.packet != UE_PACKET_LEGACY;
        bool begins =
            !detection->sides[0].has_id && !detection->sides[1].has_id && ue_detection_is_opening(x, bytes, size_bytes);
        ue_detection_side_expand(detection->sides, side, result.seq, result.ack, modern, begins, &state->packet_ids);
    }
}

/* Once the layout of the prefix is known, the handshake bit at its position decides (protocol.md 17.1). */
static bool has_handshake_bit(const struct ue_detection *detection, const uint8_t *bytes, size_t size_bytes) {
    size_t bit = ue_settings_prefix_bits(&detection->settings) + (detection->result.ids ? 5 : 0);
    return bit < size_bytes * 8 && ue_bits_load(bytes, size_bytes, bit, 1) != 0;
}

bool ue_detection_prefix_is_known(const struct ue_detection *detection) {
    return detection->is_given || detection->has_ids_evidence ||
           (detection->is_released && detection->evidence >= UE_DETECTION_CERTAIN_MATCHES);
}

/* Returns whether this is the Initial of the other side: something returns what a client sends, and is no server. */
static bool learn_initial(struct ue_detection *detection, unsigned side, const uint8_t *bytes, size_t size_bytes,
                          const struct ue_handshake_match *match) {
    if (match == NULL || match->type != UE_HANDSHAKE_INITIAL) {
        detection->initial_hashes[0] = detection->initial_hashes[1] = 0;
        return false;
    }
    uint32_t hash = ue_fnv1a_hash(bytes, size_bytes);
    bool is_same = hash != 0 && detection->initial_hashes[!side] == hash;
    detection->initial_hashes[side] = is_same ? 0 : hash;
    return is_same;
}

static bool is_certain(const struct ue_detection *detection) {
    bool is_compared = detection->given.automatic != NULL;
    return is_compared ? ue_detection_given_is_certain(detection) : ue_detection_is_certain(detection);
}

void ue_detection_feed(struct ue_detection *detection, unsigned side, const uint8_t *bytes, size_t size_bytes,
                       const struct ue_handshake_match *match, struct ue_decode_state *state) {
    *state = (struct ue_decode_state){.is_held = !detection->is_released, .side = (uint8_t)side};
    detection->datagrams++;
    if (detection->start != NULL) {
        detection->start->is_valid = false;
    }
    state->number = (uint8_t)(state->is_held ? detection->datagrams : 0);
    if (match != NULL && ue_detection_hides_handshake(detection)) {
        match = NULL;
    }
    if (is_early(detection)) {
        ue_detection_observe_magic(detection, side, bytes, size_bytes);
    }
    bool known = ue_detection_prefix_is_known(detection);
    bool handshake = known ? has_handshake_bit(detection, bytes, size_bytes) : match != NULL;
    handshake = handshake && !detection->settings.internal_ack; /* replays have neither prefix nor handshake */
    state->is_echo = learn_initial(detection, side, bytes, size_bytes, handshake ? match : NULL);
    if (state->is_echo) {
        state->number = 0; /* no evidence */
    } else if (handshake && match != NULL) {
        learn_handshake(detection, side, match);
        learn_sequences(detection, match);
        state->restarting = detection->restarting;
    } else if (detection->settings.magic_bits == 0 && detection->settings.skip_bytes == 0 &&
               ue_profile_match_is_query(bytes, size_bytes)) {
        state->number = 0; /* no evidence */
    } else if (!handshake) {
        process_packet(detection, side, bytes, size_bytes, state);
    } else if (detection->has_ids_evidence) {
        contradict_handshake(detection);
    } else if (detection->is_released && !detection->is_given) {
        ue_detection_check_packet(detection, side, bytes, size_bytes); /* may be a packet of another generation */
    }
    state->direction = (uint8_t)ue_detection_direction(detection, side);
    if (state->number != 0 && !state->is_other_session) {
        ue_detection_compare_datagram(detection, side, bytes, size_bytes, match);
    }
    state->result = detection->result;
    if (!detection->is_released && (is_certain(detection) || detection->datagrams >= UE_DETECTION_HELD_MAX)) {
        ue_detection_release(detection);
    }
}

/* While what the caller gave is compared, a handshake message may have been read as a packet. */
bool ue_detection_is_new_connection(const struct ue_detection *detection, const struct ue_handshake_match *match) {
    const struct ue_detection *reader = detection->given.automatic != NULL ? detection->given.automatic : detection;
    bool is_other = reader->has_ids_evidence && (reader->possible & match->profiles) == 0;
    bool begins = match->type == UE_HANDSHAKE_INITIAL && !match->restart && !match->has_cookie;
    return begins && (reader->has_packets || is_other);
}

void ue_detection_begin_session(struct ue_detection *detection, const struct ue_detection *earlier) {
    const struct ue_decryptor *decryptor = detection->settings.decryptor;
    const struct ue_detection *automatic = detection->given.automatic;
    *detection = *earlier;
    if (earlier->given.is_found_beside) {
        detection->given = (struct ue_detection_given){0}; /* this session is compared anew */
    }
    detection->given.automatic = earlier->given.automatic != NULL ? automatic : NULL;
    detection->settings.decryptor = detection->resolved.settings.decryptor = decryptor;
    detection->datagrams--; /* it is fed again */
    ue_detection_follow(detection, earlier);
    detection->has_packets = detection->restarting = false;
    memset(detection->sides, 0, sizeof detection->sides);
    memset(detection->first_sides, 0, sizeof detection->first_sides);
    memset(detection->held_sides, 0, sizeof detection->held_sides);
    memset(detection->headers, 0, sizeof detection->headers);
    memset(detection->has_seq, 0, sizeof detection->has_seq);
}

void ue_detection_adopt(struct ue_detection *detection, const struct ue_detection *earlier) {
    ue_detection_adopt_handlers(detection, earlier);
    ue_detection_adopt_given(detection, earlier);
    if (!detection->is_given) {
        uint16_t common = detection->possible & earlier->result.candidates;
        detection->possible = common != 0 ? common : detection->possible;
        ue_detection_decide(detection);
        detection->released = detection->result;
    }
    if (earlier->server_side < 0 || detection->server_side < 0) {
        return;
    }
    bool swapped = earlier->server_side != detection->server_side;
    for (unsigned i = 0; i < 2; i++) {
        ue_detection_side_adopt(&detection->sides[i], &earlier->sides[swapped ? !i : i]);
    }
}

bool ue_detection_find_magic(const struct ue_detection *detection, unsigned *bits, uint32_t *value) {
    bool is_explained = detection->has_ids_evidence && !ue_detection_is_guess(&detection->result);
    *bits = ue_detection_magic_bits(detection);
    if (*bits == 0 || detection->magic.datagrams < UE_DETECTION_MAGIC_MIN || is_explained) {
        return false;
    }
    *value = detection->magic.bits & (uint32_t)ue_bits_mask(*bits);
    return true;
}

uint16_t ue_detection_named_profiles(const struct ue_detection *detection, const struct ue_detection_result *result) {
    uint16_t chosen = (uint16_t)(1u << result->profile);
    uint16_t named = ue_detection_is_lone(result) ? chosen : result->candidates;
    return detection->custom != NULL ? 0 : named;
}

const char *ue_detection_generations(const struct ue_detection *detection, const struct ue_detection_result *result,
                                     char text[UE_RANGE_CHARS]) {
    return detection->custom != NULL ? ue_profile_releases(detection->custom, text)
                                     : ue_profile_range(ue_detection_named_profiles(detection, result), text);
}

const char *ue_detection_reason_text(enum ue_detection_reason reason) {
    static const char *const texts[UE_DETECTION_REASON_COUNT] = {
        [UE_DETECTION_REASON_NONE] = "no packet tells them apart yet, oldest possible",
        [UE_DETECTION_REASON_SETTING] = "given as a setting",
        [UE_DETECTION_REASON_CONTRADICTED] = "given as a setting that the first datagrams contradict",
        [UE_DETECTION_REASON_WITHOUT_HANDLERS] =
            "detected without the given handlers, which the first datagrams contradict",
        [UE_DETECTION_REASON_HANDSHAKE] = "only generation with this form of handshake",
        [UE_DETECTION_REASON_DECODING_MATCH] =
            "of the generations whose bunches end at the terminator, the oldest that decodes most datagrams",
        [UE_DETECTION_REASON_ONLY_MATCH] = "only generation whose bunches end at the terminator",
        [UE_DETECTION_REASON_OLDEST_MATCH] = "oldest of the generations whose bunches end at the terminator",
        [UE_DETECTION_REASON_CUT] =
            "of those that fewest cut packets contradict, or one more, the oldest that decodes most datagrams",
        [UE_DETECTION_REASON_SPAWN] = "generation whose form fits most actor spawns",
        [UE_DETECTION_REASON_VARIANT_MATCH] = "bunches end at the terminator with other than stock bounds",
        [UE_DETECTION_REASON_MOST_MATCH] = "it fits most packets that were tried, not all",
        [UE_DETECTION_REASON_MAGIC] = "a handshake may follow a magic header; check magic_bits",
        [UE_DETECTION_REASON_CLOSEST] = "no generation fits well; check magic_bits, max_packet, ch_seq_bound, handlers",
    };
    return (size_t)reason < UE_DETECTION_REASON_COUNT ? texts[reason] : "unknown";
}
