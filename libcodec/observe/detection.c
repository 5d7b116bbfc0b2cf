/* SPDX-License-Identifier: MIT */
#include <uerudp/detection.h>

#include <uerudp/seq.h>
#include "libcodec/observe/detection_evidence.h"
#include "libcodec/observe/detection_magic.h"
#include "libcodec/observe/detection_packet_ids.h"
#include "libcodec/observe/detection_spawn.h"

void ue_detection_init(struct ue_detection *flow, const struct ue_settings *settings, const struct ue_profile *generation,
                  int server_side) {
    memset(flow, 0, sizeof *flow);
    flow->settings = *settings;
    flow->server_side = (int8_t)server_side;
    flow->possible = UE_PROFILE_ALL;
    flow->choice.candidates = UE_PROFILE_ALL;
    if (generation != NULL) {
        unsigned row = (unsigned)ue_profile_index(generation);
        flow->custom = generation;
        flow->given = true;
        ue_detection_choose(flow, row, 0, (uint16_t)(1u << row), UE_DETECTION_REASON_SETTING);
        flow->choice.features = generation->features;
        flow->choice.ids = generation->handshake == UE_HANDSHAKE_V;
        ue_detection_release(flow);
    }
}

void ue_detection_release(struct ue_detection *flow) {
    if (!flow->is_released) {
        if (flow->server_side < 0 && flow->server_votes != 0) {
            flow->server_side = flow->server_votes > 0;
        }
        bool is_enough = flow->given || ue_detection_is_certain(flow) || flow->trials >= UE_DETECTION_HELD_MAX;
        flow->detection = is_enough ? UE_DETECTION_STATE_CLOSED : UE_DETECTION_STATE_OPEN;
        flow->is_released = true;
        flow->released = flow->choice;
    }
}

const struct ue_detection_result *ue_detection_result_of(const struct ue_detection *flow, const struct ue_decode_state *frame) {
    return frame->held ? (flow->is_released ? &flow->released : &flow->choice) : &frame->choice;
}

/* Whether the context made for the last ordinary datagram is the one of this choice, but for the direction. */
static bool is_resolved(const struct ue_detection *flow, const struct ue_detection_result *choice) {
    const struct ue_detection_result *made = &flow->resolved_choice;
    return flow->resolved.profile.name != NULL && made->profile == choice->profile &&
           made->variant == choice->variant && made->ids == choice->ids && made->features == choice->features;
}

/* The context of the choice so far. Making one costs more than reading a packet's header with it. */
static const struct ue_context *resolve(struct ue_detection *flow, unsigned side) {
    if (!is_resolved(flow, &flow->choice)) {
        ue_detection_context_for(flow, &flow->choice, UE_DIRECTION_UNKNOWN, &flow->resolved);
        flow->resolved_choice = flow->choice;
    }
    flow->resolved.direction = ue_detection_direction(flow, side);
    return &flow->resolved;
}

void ue_detection_context(const struct ue_detection *flow, const struct ue_decode_state *frame, struct ue_context *context) {
    const struct ue_detection_result *choice = ue_detection_result_of(flow, frame);
    enum ue_direction direction = (enum ue_direction)frame->direction;
    if (direction == UE_DIRECTION_UNKNOWN) {
        direction = ue_detection_direction(flow, frame->side);
    }
    if (is_resolved(flow, choice)) {
        *context = flow->resolved;
        context->direction = direction;
    } else {
        ue_detection_context_for(flow, choice, direction, context);
    }
    context->restarting = frame->restarting;
}

/* ---- evidence from handshakes ---- */

static void learn_handshake(struct ue_detection *flow, unsigned side, const struct ue_handshake_match *shape) {
    if (shape->direction != UE_DIRECTION_UNKNOWN) {
        bool from_server = shape->direction == UE_SERVER_TO_CLIENT;
        flow->server_side = (int8_t)(from_server ? side : !side);
    } else if (flow->server_side < 0) {
        flow->server_side = (int8_t)side; /* the first of two equal messages is the Challenge */
    }
    if (shape->restart) {
        flow->restarting = true;
    }
    flow->has_proof |= shape->has_body || shape->ids;
    flow->has_ids_evidence = true;
    flow->ids = shape->ids;
    if (flow->given) {
        flow->choice.ids = shape->ids && flow->custom->handshake == UE_HANDSHAKE_V;
        return;
    }
    uint16_t both = flow->possible & shape->profiles;
    flow->possible = both != 0 ? both : shape->profiles;
    if ((flow->possible & shape->assumed) != 0) {
        flow->possible &= shape->assumed;
    }
    ue_detection_decide(flow);
}

/* Up to 4.17 the cookie says nothing about sequences; an Ack, which those releases do not send, rules them out. */
static bool cookie_may_be_bare(const struct ue_detection *flow) {
    uint16_t rows = flow->given ? flow->choice.candidates : flow->possible;
    return ue_profile_at(ue_profile_mask_oldest(rows))->handshake == UE_HANDSHAKE_A0;
}

/* The cookie gives the first sequences of both sides (protocol.md 5.7). */
static void learn_sequences(struct ue_detection *flow, const struct ue_handshake_match *shape) {
    if (cookie_may_be_bare(flow) || flow->has_ordinary || flow->restarting || !shape->has_cookie ||
        flow->server_side < 0) {
        return;
    }
    struct ue_sequences first = ue_cookie_sequences(shape->cookie);
    struct ue_detection_side *server = &flow->sides[flow->server_side];
    struct ue_detection_side *client = &flow->sides[!flow->server_side];
    *server = (struct ue_detection_side){true, true, ue_seq_of(first.client - 1), (int64_t)first.server - 1};
    *client = (struct ue_detection_side){true, true, ue_seq_of(first.server - 1), (int64_t)first.client - 1};
    memcpy(flow->first_sides, flow->sides, sizeof flow->sides);
}

/* Before the verdict the bunches may not fit, for example under other bounds, and the header still be the right one. */
static bool header_is_believable(const struct ue_detection *flow, const struct ue_detection_side *side,
                                 const struct ue_decode_result *verdict) {
    if (verdict->fault.status == UE_OK) {
        return true;
    }
    int64_t step = ue_seq_expand(verdict->seq, side->last_id, UE_PACKET_SEQ_MAX) - side->last_id;
    return !flow->is_released && side->has_id && step <= UE_DETECTION_SEQ_STEP_MAX && step >= -UE_DETECTION_SEQ_STEP_MAX;
}

/* Nothing that ordinary datagrams say can change the choice any more. */
static bool is_settled(const struct ue_detection *flow) {
    bool is_one = ue_profile_same_wire(flow->possible) || ue_profile_same_wire(flow->choice.candidates);
    return flow->given || (flow->is_released && is_one);
}

/* Whether sequence or ack are further from the last ones than traffic moves between two datagrams. */
static bool jumps(const struct ue_detection_side *side, const struct ue_decode_result *verdict) {
    int32_t step = ue_seq_difference(verdict->seq, ue_seq_of(side->last_id), UE_PACKET_SEQ_MAX);
    int32_t news = side->has_acked ? ue_seq_difference(verdict->ack, side->acked, UE_PACKET_SEQ_MAX) : 0;
    return step > UE_DETECTION_SEQ_STEP_MAX || step < -UE_DETECTION_SEQ_STEP_MAX || news > UE_DETECTION_SEQ_STEP_MAX ||
           news < -UE_DETECTION_SEQ_STEP_MAX;
}

/* Reads the datagram under the choice so far; false when encryption or compression hides the packet. Of a settled flow
   the header is enough, unless it says something unexpected: then the bunches must bear it out. */
static bool check_current(struct ue_detection *flow, unsigned side, const uint8_t *bytes, size_t size_bytes,
                          struct ue_decode_result *verdict) {
    const struct ue_context *x = resolve(flow, side);
    bool enough = is_settled(flow) && flow->sides[side].has_id;
    if (enough) {
        ue_datagram_check_header(x, bytes, size_bytes, verdict);
    }
    if (!enough || jumps(&flow->sides[side], verdict)) {
        ue_datagram_check(x, bytes, size_bytes, NULL, verdict);
    }
    return verdict->closed_by == UE_HANDLER_NONE;
}

/* Whether packets count: a given generation is believed, and so is a handshake before the release. */
static bool is_evidence(const struct ue_detection *flow) {
    return !flow->given && (flow->is_released || !is_settled(flow));
}

static void learn_packet(struct ue_detection *flow, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    if (flow->is_released) {
        ue_detection_check_packet(flow, side, bytes, size_bytes);
    } else {
        ue_detection_try_packet(flow, side, bytes, size_bytes);
    }
}

static void feed_ordinary(struct ue_detection *flow, unsigned side, const uint8_t *bytes, size_t size_bytes,
                          struct ue_decode_state *frame) {
    const struct ue_context *x = &flow->resolved;
    struct ue_decode_result verdict;
    flow->has_ordinary = true;
    flow->restarting = false;
    bool visible = check_current(flow, side, bytes, size_bytes, &verdict);
    if (visible && is_evidence(flow)) {
        learn_packet(flow, side, bytes, size_bytes);
        if (!flow->is_released || !is_resolved(flow, &flow->choice)) {
            visible = check_current(flow, side, bytes, size_bytes, &verdict);
        }
    }
    if (visible && !flow->given) {
        ue_detection_observe_spawns(flow, x, bytes, size_bytes);
    }
    bool is_packet = visible && !verdict.is_handshake && !x->settings.internal_ack;
    if (is_packet && header_is_believable(flow, &flow->sides[side], &verdict)) {
        bool modern = x->profile.packet != UE_PACKET_LEGACY;
        ue_detection_side_expand(&flow->sides[side], verdict.seq, verdict.ack, modern, &frame->links);
    }
}

/* Once the family is known, only the handshake bit at its known place decides (protocol.md 17.1). */
static bool has_handshake_bit(const struct ue_detection *flow, const uint8_t *bytes, size_t size_bytes) {
    size_t bit = flow->settings.magic_bits + (size_t)flow->settings.skip_bytes * 8 + (flow->choice.ids ? 5 : 0);
    return bit < size_bytes * 8 && ue_bits_load(bytes, size_bytes, bit, 1) != 0;
}

static bool family_is_known(const struct ue_detection *flow) {
    return flow->given || flow->has_ids_evidence || (flow->is_released && flow->evidence >= UE_DETECTION_CERTAIN_MATCHES);
}

void ue_detection_feed(struct ue_detection *flow, unsigned side, const uint8_t *bytes, size_t size_bytes,
                  const struct ue_handshake_match *shape, struct ue_decode_state *frame) {
    *frame = (struct ue_decode_state){.held = !flow->is_released, .side = (uint8_t)side};
    flow->datagrams++;
    frame->number = (uint8_t)(frame->held ? flow->datagrams : 0);
    if (shape == NULL) {
        ue_detection_observe_magic(flow, side, bytes, size_bytes);
    }
    bool known = family_is_known(flow);
    bool handshake = known ? has_handshake_bit(flow, bytes, size_bytes) : shape != NULL;
    if (handshake && shape != NULL) {
        learn_handshake(flow, side, shape);
        learn_sequences(flow, shape);
        frame->restarting = flow->restarting;
    } else if (flow->settings.magic_bits == 0 && flow->settings.skip_bytes == 0 &&
               ue_profile_match_is_query(bytes, size_bytes)) {
        frame->number = 0; /* nothing to learn */
    } else if (!handshake) {
        feed_ordinary(flow, side, bytes, size_bytes, frame);
    } else if (flow->is_released && is_evidence(flow) && !flow->has_ids_evidence) {
        ue_detection_check_packet(flow, side, bytes, size_bytes); /* may be an ordinary packet of another generation */
    }
    frame->direction = (uint8_t)ue_detection_direction(flow, side);
    frame->choice = flow->choice;
    if (ue_detection_is_certain(flow) || flow->datagrams >= UE_DETECTION_HELD_MAX) {
        ue_detection_release(flow);
    }
}

void ue_detection_feed_truncated(const struct ue_detection *flow, unsigned side, struct ue_decode_state *frame) {
    *frame = (struct ue_decode_state){.choice = flow->choice, .held = !flow->is_released, .side = (uint8_t)side};
    if (flow->server_side >= 0) {
        frame->direction = (unsigned)flow->server_side == side ? UE_SERVER_TO_CLIENT : UE_CLIENT_TO_SERVER;
    }
}

bool ue_detection_is_new_connection(const struct ue_detection *flow, const struct ue_handshake_match *shape) {
    bool is_other = flow->has_ids_evidence && (flow->possible & shape->profiles) == 0;
    bool begins = shape->type == UE_HANDSHAKE_INITIAL && !shape->restart && !shape->has_cookie;
    return begins && (flow->has_ordinary || is_other);
}

void ue_detection_adopt(struct ue_detection *flow, const struct ue_detection *earlier) {
    if (!flow->given) {
        uint16_t both = flow->possible & earlier->choice.candidates;
        flow->possible = both != 0 ? both : flow->possible;
        ue_detection_decide(flow);
        flow->released = flow->choice;
    }
    if (earlier->server_side < 0 || flow->server_side < 0) {
        return;
    }
    bool swapped = earlier->server_side != flow->server_side;
    for (unsigned i = 0; i < 2; i++) {
        ue_detection_side_adopt(&flow->sides[i], &earlier->sides[swapped ? !i : i]);
    }
}

const char *ue_detection_generations(const struct ue_detection *flow, const struct ue_detection_result *choice, char text[UE_RANGE_CHARS]) {
    if (flow->custom != NULL) {
        return ue_profile_releases(flow->custom, text);
    }
    uint16_t chosen = (uint16_t)(1u << choice->profile);
    return ue_profile_range(choice->reason == UE_DETECTION_REASON_CLOSEST ? chosen : choice->candidates, text);
}

const char *ue_detection_reason_text(enum ue_detection_reason reason) {
    static const char *const texts[UE_DETECTION_REASON_COUNT] = {
        [UE_DETECTION_REASON_NONE] = "no evidence yet, oldest possible",
        [UE_DETECTION_REASON_SETTING] = "given as a setting",
        [UE_DETECTION_REASON_HANDSHAKE] = "only generation with this form of handshake",
        [UE_DETECTION_REASON_ONLY_MATCH] = "only generation whose bunches end at the terminator",
        [UE_DETECTION_REASON_OLDEST_MATCH] = "oldest of the generations whose bunches end at the terminator",
        [UE_DETECTION_REASON_SPAWN] = "only generation whose spawn data ends with its message",
        [UE_DETECTION_REASON_VARIANT_MATCH] = "bunches end at the terminator with other than stock bounds",
        [UE_DETECTION_REASON_CLOSEST] = "no generation fits well; check magic_bits, max_packet, ch_seq_bound, handlers",
    };
    return (size_t)reason < UE_DETECTION_REASON_COUNT ? texts[reason] : "unknown";
}
