/* SPDX-License-Identifier: MIT */
#include "libcodec/flow.h"

#include "libcodec/flow_links.h"
#include "libcodec/seq.h"

/* Packets that must agree on who the server is: one may fit the wrong reading by chance. */
#define SERVER_VOTES 3
/* Share of datagrams that a profile must fit: 95 of 100. */
#define FIT_PART 19
#define FIT_WHOLE 20
/* Datagrams with bunches that must fit before a single survivor counts as certain. */
#define CERTAIN_FITS 5
/* A sequence that moves further between two datagrams of a direction is not believed. */
#define SEQ_STEP_MAX 1024

static const uint16_t variant_packet_bytes[] = {0, 512, 1024, 1028, 2048, 4096, 8192};
#define PACKET_SIZES (sizeof variant_packet_bytes / sizeof *variant_packet_bytes)
_Static_assert(UE_VARIANT_COUNT == 2 * PACKET_SIZES, "each packet size with the stock and the larger sequence bound");
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

static enum ue_direction direction_of(const struct ue_flow *flow, unsigned side) {
    if (flow->server_side < 0) {
        return UE_DIRECTION_UNKNOWN;
    }
    return (unsigned)flow->server_side == side ? UE_SERVER_TO_CLIENT : UE_CLIENT_TO_SERVER;
}

static void choose(struct ue_flow *flow, unsigned profile, unsigned variant, uint16_t candidates,
                   enum ue_reason reason) {
    bool ids = ue_flow_ids(flow, profile);
    ue_flow_move_header(flow, profile, ids);
    flow->choice.profile = (uint8_t)profile;
    flow->choice.variant = (uint8_t)variant;
    flow->choice.candidates = candidates;
    flow->choice.reason = (uint8_t)reason;
    flow->choice.features = ue_profile_at(profile)->features;
    flow->choice.ids = ids;
}

static unsigned oldest_of(uint16_t mask) {
    return mask != 0 ? (unsigned)__builtin_ctz(mask) : 0;
}

static bool is_single(uint16_t mask) {
    return mask != 0 && (mask & (mask - 1)) == 0;
}

void ue_flow_init(struct ue_flow *flow, const struct ue_settings *settings, const struct ue_profile *generation,
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
        choose(flow, row, 0, (uint16_t)(1u << row), UE_REASON_GIVEN);
        flow->choice.features = generation->features;
        flow->choice.ids = generation->handshake == UE_HANDSHAKE_V;
        ue_flow_release(flow);
    }
}

void ue_flow_release(struct ue_flow *flow) {
    if (!flow->is_released) {
        if (flow->server_side < 0 && flow->server_votes != 0) {
            flow->server_side = flow->server_votes > 0;
        }
        flow->is_released = true;
        flow->released = flow->choice;
    }
}

const struct ue_choice *ue_flow_choice(const struct ue_flow *flow, const struct ue_frame *frame) {
    return frame->held ? (flow->is_released ? &flow->released : &flow->choice) : &frame->choice;
}

static void context_for(const struct ue_flow *flow, const struct ue_choice *choice, enum ue_direction direction,
                        struct ue_context *context) {
    struct ue_settings settings = variant_settings(&flow->settings, choice->variant);
    const struct ue_profile *profile = flow->custom != NULL ? flow->custom : ue_profile_at(choice->profile);
    ue_context_init(context, profile, &settings);
    context->direction = direction;
    context->ids = choice->ids;
    context->features = choice->features;
}

/* Whether the context made for the last ordinary datagram is the one of this choice, but for the direction. */
static bool is_resolved(const struct ue_flow *flow, const struct ue_choice *choice) {
    const struct ue_choice *made = &flow->resolved_choice;
    return flow->resolved.profile.name != NULL && made->profile == choice->profile &&
           made->variant == choice->variant && made->ids == choice->ids && made->features == choice->features;
}

/* The context of the choice so far. Making one costs more than reading a packet's header with it. */
static const struct ue_context *resolve(struct ue_flow *flow, unsigned side) {
    if (!is_resolved(flow, &flow->choice)) {
        context_for(flow, &flow->choice, UE_DIRECTION_UNKNOWN, &flow->resolved);
        flow->resolved_choice = flow->choice;
    }
    flow->resolved.direction = direction_of(flow, side);
    return &flow->resolved;
}

void ue_flow_context(const struct ue_flow *flow, const struct ue_frame *frame, struct ue_context *context) {
    const struct ue_choice *choice = ue_flow_choice(flow, frame);
    enum ue_direction direction = (enum ue_direction)frame->direction;
    if (direction == UE_DIRECTION_UNKNOWN) {
        direction = direction_of(flow, frame->side);
    }
    if (is_resolved(flow, choice)) {
        *context = flow->resolved;
        context->direction = direction;
    } else {
        context_for(flow, choice, direction, context);
    }
    context->restarting = frame->restarting;
}

/* ---- evidence from ordinary packets ---- */

static bool seq_is_plausible(const struct ue_flow *flow, unsigned row, unsigned side, const struct ue_context *x,
                             const struct ue_verdict *verdict) {
    if (flow->has_seq[row][side]) {
        int32_t step = ue_seq_difference(verdict->seq, flow->last_seq[row][side], UE_PACKET_SEQ_MAX);
        if (step > SEQ_STEP_MAX || step < -SEQ_STEP_MAX) {
            return false;
        }
    }
    if (x->profile.packet == UE_PACKET_LEGACY) {
        return true;
    }
    if (flow->has_seq[row][!side]) {
        int32_t behind = ue_seq_difference(flow->last_seq[row][!side], verdict->ack, UE_PACKET_SEQ_MAX);
        if (behind > SEQ_STEP_MAX || behind < -SEQ_STEP_MAX) {
            return false;
        }
    }
    if (x->profile.packet == UE_PACKET_HISTORY_SEQ) {
        int32_t apart = ue_seq_difference(ue_seq_of(verdict->acked_history_seq), verdict->ack, UE_PACKET_SEQ_MAX);
        return apart <= SEQ_STEP_MAX && apart >= -SEQ_STEP_MAX;
    }
    return true;
}

/* Tries one profile with one variant; with an unknown direction both readings count. */
static bool try_fit(struct ue_flow *flow, unsigned row, unsigned variant, unsigned side, const uint8_t *bytes,
                    size_t size_bytes, struct ue_fit *fit) {
    struct ue_choice choice = flow->choice;
    struct ue_context x;
    choice.profile = (uint8_t)row;
    choice.variant = (uint8_t)variant;
    choice.features = ue_profile_at(row)->features;
    choice.ids = ue_flow_ids(flow, row);
    context_for(flow, &choice, direction_of(flow, side), &x);
    ue_detect_fit(&x, bytes, size_bytes, fit);
    if (!fit->fits && x.direction == UE_DIRECTION_UNKNOWN) {
        x.direction = UE_SERVER_TO_CLIENT;
        ue_detect_fit(&x, bytes, size_bytes, fit);
    }
    return fit->fits && seq_is_plausible(flow, row, side, &x, &fit->verdict);
}

/* A frame-time bit that only one reading of the direction survives tells who the server is. */
static void learn_direction(struct ue_flow *flow, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    struct ue_fit as_client;
    struct ue_fit as_server;
    struct ue_context x;
    if (flow->server_side >= 0) {
        return;
    }
    context_for(flow, &flow->choice, UE_CLIENT_TO_SERVER, &x);
    ue_detect_fit(&x, bytes, size_bytes, &as_client);
    x.direction = UE_SERVER_TO_CLIENT;
    ue_detect_fit(&x, bytes, size_bytes, &as_server);
    if (as_client.fits != as_server.fits && (as_client.verdict.has_frame_time || as_server.verdict.has_frame_time)) {
        bool side_one = (side == 1) == as_server.fits;
        flow->server_votes = (int8_t)(flow->server_votes + (side_one ? 1 : -1));
        if (flow->server_votes >= SERVER_VOTES || flow->server_votes <= -SERVER_VOTES) {
            flow->server_side = side_one;
        }
    }
}

static bool is_possible(const struct ue_flow *flow, unsigned row) {
    return (flow->possible >> row & 1) != 0;
}

/* The profiles that fit well enough under a variant, and none of the others more often; bunches: how often bunches
   supported them. */
static uint16_t survivors(const struct ue_flow *flow, unsigned variant, unsigned *bunches) {
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

static void choose_closest(struct ue_flow *flow) {
    unsigned best = oldest_of(flow->possible);
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        if (is_possible(flow, row) && flow->fits[row][0] > flow->fits[best][0]) {
            best = row;
        }
    }
    choose(flow, best, 0, flow->possible, is_single(flow->possible) ? UE_REASON_HANDSHAKE : UE_REASON_CLOSEST);
}

static void decide(struct ue_flow *flow) {
    if (flow->trials == 0) {
        bool single = is_single(flow->possible);
        choose(flow, oldest_of(flow->possible), 0, flow->possible, single ? UE_REASON_HANDSHAKE : UE_REASON_NONE);
        return;
    }
    unsigned bunches;
    uint16_t mask = survivors(flow, 0, &bunches);
    if (mask != 0) {
        enum ue_reason reason = is_single(flow->possible) ? UE_REASON_HANDSHAKE
                                : is_single(mask)         ? UE_REASON_ONLY_FIT
                                                          : UE_REASON_OLDEST_FIT;
        choose(flow, oldest_of(mask), 0, mask, reason);
        flow->evidence = (uint16_t)bunches;
        return;
    }
    for (unsigned variant = 1; variant < UE_VARIANT_COUNT; variant++) {
        mask = survivors(flow, variant, &bunches);
        if (mask != 0 && bunches >= CERTAIN_FITS) {
            choose(flow, oldest_of(mask), variant, mask, UE_REASON_VARIANT_FIT);
            flow->evidence = (uint16_t)bunches;
            return;
        }
    }
    choose_closest(flow);
}

static bool is_certain(const struct ue_flow *flow) {
    return is_single(flow->possible) || (flow->choice.reason == UE_REASON_ONLY_FIT && flow->evidence >= CERTAIN_FITS);
}

/* Some profile has explained every datagram so far with the stock bounds. */
static bool stock_suffices(const struct ue_flow *flow) {
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        if (is_possible(flow, row) && flow->fits[row][0] == flow->trials) {
            return true;
        }
    }
    return false;
}

/* A variant that has missed so often that UE_FLOW_HOLD datagrams cannot make it survive is tried no more. */
static bool is_hopeless(const struct ue_flow *flow, unsigned row, unsigned variant) {
    unsigned misses = flow->variant_trials - 1u - flow->fits[row][variant];
    return misses * FIT_WHOLE > UE_FLOW_HOLD * (FIT_WHOLE - FIT_PART);
}

/* What a datagram says in one profile. */
struct said {
    bool fits;
    bool is_readable; /* it need not be plausible */
    uint16_t seq, ack;
};

/* Tries one reading and counts what it explains; the numbers are in the same place under every variant. */
static void count_fit(struct ue_flow *flow, unsigned row, unsigned variant, unsigned side, const uint8_t *bytes,
                      size_t size_bytes, struct said *said) {
    struct ue_fit fit;
    bool fits = try_fit(flow, row, variant, side, bytes, size_bytes, &fit);
    flow->fits[row][variant] += fits;
    flow->bunch_fits[row][variant] += fits && fit.has_bunches;
    const struct ue_verdict *verdict = &fit.verdict;
    said->fits |= fit.fits;
    if (verdict->fault.status == UE_OK && !verdict->is_handshake && (!verdict->is_opaque || verdict->is_opened)) {
        said->is_readable = true;
        said->seq = verdict->seq;
        said->ack = verdict->ack;
    }
}

static void try_variants(struct ue_flow *flow, unsigned row, unsigned side, const uint8_t *bytes, size_t size_bytes,
                         struct said *said) {
    for (unsigned variant = 1; variant < UE_VARIANT_COUNT; variant++) {
        if (variant_is_allowed(&flow->settings, variant) && !is_hopeless(flow, row, variant)) {
            count_fit(flow, row, variant, side, bytes, size_bytes, said);
        }
    }
}

/* The numbers that each profile reads; those at a place are those of the oldest that has it there. */
static void note_numbers(struct ue_flow *flow, unsigned side, const struct said said[UE_PROFILE_COUNT]) {
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        if (said[row].fits) {
            flow->last_seq[row][side] = said[row].seq;
            flow->has_seq[row][side] = true;
        }
        if (said[row].is_readable) {
            ue_flow_note_numbers(flow, row, side, said[row].seq, said[row].ack);
        }
    }
}

static void try_all(struct ue_flow *flow, unsigned side, const uint8_t *bytes, size_t size_bytes) {
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
    decide(flow);
    learn_direction(flow, side, bytes, size_bytes);
}

/* Once released, only a datagram that no longer fits reopens the question among the candidates that tied. */
static void reconsider(struct ue_flow *flow, unsigned side, const uint8_t *bytes, size_t size_bytes) {
    struct ue_fit fit;
    if (is_single(flow->choice.candidates) ||
        try_fit(flow, flow->choice.profile, flow->choice.variant, side, bytes, size_bytes, &fit)) {
        return;
    }
    uint16_t left = 0;
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        bool tied = (flow->choice.candidates >> row & 1) != 0;
        if (tied && try_fit(flow, row, flow->choice.variant, side, bytes, size_bytes, &fit)) {
            left |= (uint16_t)(1u << row);
        }
    }
    if (left != 0) {
        choose(flow, oldest_of(left), flow->choice.variant, left,
               is_single(left) ? UE_REASON_ONLY_FIT : UE_REASON_OLDEST_FIT);
    }
}

/* ---- evidence from handshakes ---- */

static void learn_handshake(struct ue_flow *flow, unsigned side, const struct ue_shape *shape) {
    if (shape->direction != UE_DIRECTION_UNKNOWN) {
        bool from_server = shape->direction == UE_SERVER_TO_CLIENT;
        flow->server_side = (int8_t)(from_server ? side : !side);
    } else if (flow->server_side < 0) {
        flow->server_side = (int8_t)side; /* the first of two equal messages is the Challenge */
    }
    if (shape->restart) {
        flow->restarting = true;
    }
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
    decide(flow);
}

/* Up to 4.17 the cookie says nothing about sequences; an Ack, which those releases do not send, rules them out. */
static bool cookie_may_be_bare(const struct ue_flow *flow) {
    uint16_t rows = flow->given ? flow->choice.candidates : flow->possible;
    return ue_profile_at(oldest_of(rows))->handshake == UE_HANDSHAKE_A0;
}

/* The cookie gives the first sequences of both sides (spec 2.7). */
static void learn_sequences(struct ue_flow *flow, const struct ue_shape *shape) {
    if (cookie_may_be_bare(flow) || flow->has_ordinary || flow->restarting || !shape->has_cookie ||
        flow->server_side < 0) {
        return;
    }
    struct ue_sequences first = ue_cookie_sequences(shape->cookie);
    struct ue_side *server = &flow->sides[flow->server_side];
    struct ue_side *client = &flow->sides[!flow->server_side];
    *server = (struct ue_side){true, true, ue_seq_of(first.client - 1), (int64_t)first.server - 1};
    *client = (struct ue_side){true, true, ue_seq_of(first.server - 1), (int64_t)first.client - 1};
    memcpy(flow->first_sides, flow->sides, sizeof flow->sides);
}

/* Before the verdict the bunches may not fit, for example under other bounds, and the header still be the right one. */
static bool header_is_believable(const struct ue_flow *flow, const struct ue_side *side,
                                 const struct ue_verdict *verdict) {
    if (verdict->fault.status == UE_OK) {
        return true;
    }
    int64_t step = ue_seq_expand(verdict->seq, side->last_id, UE_PACKET_SEQ_MAX) - side->last_id;
    return !flow->is_released && side->has_id && step <= SEQ_STEP_MAX && step >= -SEQ_STEP_MAX;
}

/* Nothing that ordinary datagrams say can change the choice any more. */
static bool is_settled(const struct ue_flow *flow) {
    return flow->given || is_single(flow->possible) || (flow->is_released && is_single(flow->choice.candidates));
}

/* Whether sequence or ack are further from the last ones than traffic moves between two datagrams. */
static bool jumps(const struct ue_side *side, const struct ue_verdict *verdict) {
    int32_t step = ue_seq_difference(verdict->seq, ue_seq_of(side->last_id), UE_PACKET_SEQ_MAX);
    int32_t news = side->has_acked ? ue_seq_difference(verdict->ack, side->acked, UE_PACKET_SEQ_MAX) : 0;
    return step > SEQ_STEP_MAX || step < -SEQ_STEP_MAX || news > SEQ_STEP_MAX || news < -SEQ_STEP_MAX;
}

/* Reads the datagram under the choice so far; false when encryption or compression hides the packet. Of a settled flow
   the header is enough, unless it says something unexpected: then the bunches must bear it out. */
static bool check_current(struct ue_flow *flow, unsigned side, const uint8_t *bytes, size_t size_bytes,
                          struct ue_verdict *verdict) {
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

static void feed_ordinary(struct ue_flow *flow, unsigned side, const uint8_t *bytes, size_t size_bytes,
                          struct ue_frame *frame) {
    const struct ue_context *x = &flow->resolved;
    struct ue_verdict verdict;
    flow->has_ordinary = true;
    flow->restarting = false;
    bool visible = check_current(flow, side, bytes, size_bytes, &verdict);
    if (visible && !is_settled(flow)) {
        if (flow->is_released) {
            reconsider(flow, side, bytes, size_bytes);
        } else {
            try_all(flow, side, bytes, size_bytes);
        }
        visible = check_current(flow, side, bytes, size_bytes, &verdict);
    }
    bool is_packet = visible && !verdict.is_handshake && !x->settings.internal_ack;
    if (is_packet && header_is_believable(flow, &flow->sides[side], &verdict)) {
        bool modern = x->profile.packet != UE_PACKET_LEGACY;
        ue_side_link(&flow->sides[side], verdict.seq, verdict.ack, modern, &frame->links);
    }
}

/* Once the family is known, only the handshake bit at its known place decides (spec 2.8). */
static bool has_handshake_bit(const struct ue_flow *flow, const uint8_t *bytes, size_t size_bytes) {
    size_t bit = flow->settings.magic_bits + (size_t)flow->settings.skip_bytes * 8 + (flow->choice.ids ? 5 : 0);
    return bit < size_bytes * 8 && ue_bits_load(bytes, size_bytes, bit, 1) != 0;
}

static bool family_is_known(const struct ue_flow *flow) {
    return flow->given || flow->has_ids_evidence || (flow->is_released && flow->evidence >= CERTAIN_FITS);
}

void ue_flow_feed(struct ue_flow *flow, unsigned side, const uint8_t *bytes, size_t size_bytes,
                  const struct ue_shape *shape, struct ue_frame *frame) {
    *frame = (struct ue_frame){.held = !flow->is_released, .side = (uint8_t)side};
    flow->datagrams++;
    frame->number = (uint8_t)(frame->held ? flow->datagrams : 0);
    bool known = family_is_known(flow);
    bool handshake = known ? has_handshake_bit(flow, bytes, size_bytes) : shape != NULL;
    if (handshake && shape != NULL) {
        learn_handshake(flow, side, shape);
        learn_sequences(flow, shape);
        frame->restarting = flow->restarting;
    } else if (!handshake) {
        feed_ordinary(flow, side, bytes, size_bytes, frame);
    }
    frame->direction = (uint8_t)direction_of(flow, side);
    frame->choice = flow->choice;
    if (is_certain(flow) || flow->datagrams >= UE_FLOW_HOLD) {
        ue_flow_release(flow);
    }
}

void ue_flow_frame_cut(const struct ue_flow *flow, unsigned side, struct ue_frame *frame) {
    *frame = (struct ue_frame){.choice = flow->choice, .held = !flow->is_released, .side = (uint8_t)side};
    if (flow->server_side >= 0) {
        frame->direction = (unsigned)flow->server_side == side ? UE_SERVER_TO_CLIENT : UE_CLIENT_TO_SERVER;
    }
}

bool ue_flow_is_over(const struct ue_flow *flow, const struct ue_shape *shape) {
    bool is_other = flow->has_ids_evidence && (flow->possible & shape->profiles) == 0;
    bool begins = shape->type == UE_HANDSHAKE_INITIAL && !shape->restart && !shape->has_cookie;
    return begins && (flow->has_ordinary || is_other);
}

void ue_flow_adopt(struct ue_flow *flow, const struct ue_flow *earlier) {
    if (!flow->given) {
        uint16_t both = flow->possible & earlier->choice.candidates;
        flow->possible = both != 0 ? both : flow->possible;
        decide(flow);
        flow->released = flow->choice;
    }
    if (earlier->server_side < 0 || flow->server_side < 0) {
        return;
    }
    bool swapped = earlier->server_side != flow->server_side;
    for (unsigned i = 0; i < 2; i++) {
        ue_side_adopt(&flow->sides[i], &earlier->sides[swapped ? !i : i]);
    }
}

const char *ue_reason_text(enum ue_reason reason) {
    static const char *const texts[UE_REASON_COUNT] = {
        [UE_REASON_NONE] = "no evidence yet, oldest possible",
        [UE_REASON_GIVEN] = "given as a setting",
        [UE_REASON_HANDSHAKE] = "only generation with this form of handshake",
        [UE_REASON_ONLY_FIT] = "only generation whose bunches end at the terminator",
        [UE_REASON_OLDEST_FIT] = "oldest of the generations whose bunches end at the terminator",
        [UE_REASON_VARIANT_FIT] = "bunches end at the terminator with other than stock bounds",
        [UE_REASON_CLOSEST] = "no generation fits well; check magic_bits, max_packet, ch_seq_bound, handlers",
    };
    return (size_t)reason < UE_REASON_COUNT ? texts[reason] : "unknown";
}
