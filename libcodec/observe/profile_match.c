/* SPDX-License-Identifier: MIT */
#include <uerudp/profile_match.h>

#include "libcodec/wire/layouts.h"

enum { ROW_413, ROW_414, ROW_418, ROW_419, ROW_420, ROW_422, ROW_424, ROW_425, ROW_51, ROW_54, ROW_55, ROW_58 };

#define ROW(name) (1u << ROW_##name)
#define ROWS_LAYOUT_A (ROW(413) | ROW(414) | ROW(418) | ROW(419) | ROW(420))
#define ROWS_WITH_ACK (ROW(418) | ROW(419) | ROW(420))
#define ROWS_LAYOUT_B (ROW(422) | ROW(424))
#define ROWS_FEATURES (ROW(54) | ROW(55) | ROW(58))

#define HANDSHAKE_BITS_MAX 608 /* 76 bytes: a restart response with everything (protocol.md 5.2 to 5.4) */
#define RANDOM_BITS_MIN 64
#define TIMESTAMP_MIN 1e-6
#define TIMESTAMP_MAX 1e8
#define NAME_INDEX_MAX 410
#define CLOSE_REASON_KNOWN_MAX 5
#define PACKED_CHANNEL_MAX 32767

/* Exact sizes of the layouts without version fields, in bits behind the magic header (protocol.md 5.2 to 5.4). */
static const struct {
    uint16_t bits;
    uint16_t profiles;
    uint8_t row;
} exact_sizes[] = {
    {2, ROWS_LAYOUT_B | ROW(425), ROW_425}, {194, ROWS_LAYOUT_A, ROW_418}, {195, ROWS_LAYOUT_B, ROW_422},
    {227, ROW(425), ROW_425},          {355, ROWS_LAYOUT_B, ROW_422},      {387, ROW(425), ROW_425},
    {483, ROW(425), ROW_425},
};

/* Where the payload ends: the position of the outer terminator; 0 when there is none. */
static size_t payload_bits(const uint8_t *bytes, size_t size_bytes) {
    size_t at = 0;
    bool found = size_bytes != 0 && ue_bits_last_set(bytes, (size_bytes - 1) * 8, size_bytes * 8, &at);
    return found ? at : 0;
}

/* Reads the datagram as a handshake of the given profile row. */
static bool read_handshake(const struct ue_settings *settings, size_t row, bool ids, bool features,
                           const uint8_t *bytes, size_t end_bit, struct ue_handshake *handshake) {
    struct ue_context x;
    struct ue_prefix prefix;
    struct ue_cursor c;
    ue_context_init(&x, ue_profile_at(row), settings);
    x.ids = ids;
    x.features = features;
    ue_cursor_init_read(&c, bytes, 0, end_bit);
    ue_prefix_run(UE_DECODE, &c, &x, &prefix);
    if (!ue_cursor_ok(&c) || !prefix.is_handshake) {
        return false;
    }
    ue_handshake_run(UE_DECODE, &c, &x, handshake);
    return ue_cursor_ok(&c) && ue_cursor_left(&c) == 0;
}

static double timestamp_of(size_t row, const struct ue_handshake *handshake) {
    struct ue_context x;
    ue_context_init(&x, ue_profile_at(row), NULL);
    return ue_handshake_timestamp(&x, handshake);
}

/* Whether timestamp and cookie are such as a sender of this type writes. */
static bool body_is_plausible(size_t row, const struct ue_handshake *h) {
    double time = timestamp_of(row, h);
    switch (h->type) {
    case UE_HANDSHAKE_INITIAL:
        return h->timestamp == 0 && h->secret_id == 0 && ue_bytes_zero(h->cookie, sizeof h->cookie);
    case UE_HANDSHAKE_ACK: return time == -1.0;
    case UE_HANDSHAKE_CHALLENGE:
    case UE_HANDSHAKE_RESPONSE:
    case UE_HANDSHAKE_RESTART_RESPONSE:
    case UE_HANDSHAKE_TYPE_UNKNOWN: return time >= TIMESTAMP_MIN && time < TIMESTAMP_MAX;
    case UE_HANDSHAKE_RESTART_REQUEST:
    case UE_HANDSHAKE_VERSION_UPGRADE: return true;
    }
    return false;
}

static void shape_from(const struct ue_handshake *h, uint16_t profiles, struct ue_handshake_match *shape) {
    *shape = (struct ue_handshake_match){.profiles = profiles, .assumed = profiles, .type = h->type, .restart = h->restart};
    shape->direction = h->has_body || h->restart == (h->type == UE_HANDSHAKE_RESTART_REQUEST)
                           ? ue_handshake_sender(h->type)
                           : UE_SERVER_TO_CLIENT; /* a restart request whatever its type says (protocol.md 5.4) */
    shape->has_body = h->has_body;
    shape->has_cookie = h->has_body && !ue_bytes_zero(h->cookie, sizeof h->cookie);
    memcpy(shape->cookie, h->cookie, sizeof shape->cookie);
    shape->has_orig_cookie = h->has_orig_cookie;
    memcpy(shape->orig_cookie, h->orig_cookie, sizeof shape->orig_cookie);
}

static bool detect_exact(const struct ue_settings *settings, const uint8_t *bytes, size_t end_bit, size_t bits,
                         struct ue_handshake_match *shape) {
    for (size_t i = 0; i < sizeof exact_sizes / sizeof *exact_sizes; i++) {
        struct ue_handshake h;
        if (exact_sizes[i].bits != bits ||
            !read_handshake(settings, exact_sizes[i].row, false, false, bytes, end_bit, &h) ||
            !body_is_plausible(exact_sizes[i].row, &h)) {
            continue;
        }
        bool is_ack = h.type == UE_HANDSHAKE_ACK;
        uint16_t profiles = exact_sizes[i].profiles;
        shape_from(&h, is_ack && bits == 194 ? ROWS_WITH_ACK : profiles, shape);
        return true;
    }
    return false;
}

static bool versioned_fits(const struct ue_settings *settings, bool ids, bool features, const uint8_t *bytes,
                           size_t end_bit, struct ue_handshake *h) {
    return read_handshake(settings, features ? ROW_54 : ROW_51, ids, features, bytes, end_bit, h) &&
           h->min_version <= h->version && h->version <= 15 && (ids ? h->version >= 3 : h->version <= 2) &&
           h->version >= 1 && h->random.bits >= RANDOM_BITS_MIN && h->random.bits <= UE_HANDSHAKE_RANDOM_BITS_MAX &&
           (!h->has_body || body_is_plausible(ROW_51, h));
}

static bool tail_is_zero(const struct ue_handshake *h) {
    size_t ignored;
    return !ue_bits_last_set(h->random.base, h->random.bit, h->random.bit + h->random.bits, &ignored);
}

static bool detect_versioned(const struct ue_settings *settings, bool ids, const uint8_t *bytes, size_t end_bit,
                             struct ue_handshake_match *shape) {
    struct ue_handshake with;
    struct ue_handshake without;
    bool can = versioned_fits(settings, ids, true, bytes, end_bit, &with) && with.version >= 2;
    bool cannot = versioned_fits(settings, ids, false, bytes, end_bit, &without);
    if (!can && !cannot) {
        return false;
    }
    enum ue_features_seen seen = UE_FEATURES_UNDECIDED;
    if (can != cannot) {
        seen = can ? UE_FEATURES_PRESENT : UE_FEATURES_ABSENT;
    } else if (with.type == UE_HANDSHAKE_INITIAL && !tail_is_zero(&with)) {
        seen = UE_FEATURES_PRESENT; /* both readings see only zeros, and no engine's tail begins with sixteen of them */
    }
    bool assume = seen == UE_FEATURES_PRESENT || (seen == UE_FEATURES_UNDECIDED && with.version >= 4);
    uint16_t profiles = seen == UE_FEATURES_PRESENT  ? ROWS_FEATURES
                        : seen == UE_FEATURES_ABSENT ? ROW(51)
                                                     : ROWS_FEATURES | ROW(51);
    shape_from(assume ? &with : &without, profiles, shape);
    if (seen != UE_FEATURES_UNDECIDED || with.type != UE_HANDSHAKE_RESTART_REQUEST) {
        shape->assumed = assume ? ROWS_FEATURES : ROW(51);
    } /* else it is in the oldest version that the server speaks (endpoint.md 21.1), whatever its engine */
    shape->features = seen;
    shape->ids = ids;
    return true;
}

/* What stands in front of the handshake bit, or of the ids. */
static size_t lead_bits(const struct ue_settings *settings) {
    return settings->magic_bits + (size_t)settings->skip_bytes * 8;
}

bool ue_profile_match_is_too_long(const struct ue_settings *settings, size_t size_bytes) {
    return size_bytes * 8 > lead_bits(settings) + HANDSHAKE_BITS_MAX;
}

bool ue_profile_match_is_query(const uint8_t *bytes, size_t size_bytes) {
    static const uint8_t mark[] = {0xff, 0xff, 0xff, 0xff};
    return size_bytes >= sizeof mark && memcmp(bytes, mark, sizeof mark) == 0;
}

bool ue_profile_match_handshake(const struct ue_settings *settings, const uint8_t *bytes, size_t size_bytes,
                         struct ue_handshake_match *shape) {
    size_t lead = lead_bits(settings);
    size_t end = ue_profile_match_is_too_long(settings, size_bytes) ? 0 : payload_bits(bytes, size_bytes);
    if (end < lead + 2) {
        return false;
    }
    size_t bits = end - lead;
    bool first = ue_bits_load(bytes, size_bytes, lead, 1) != 0;
    if (first && detect_exact(settings, bytes, end, bits, shape)) {
        return true;
    }
    bool sixth = bits > 6 && ue_bits_load(bytes, size_bytes, lead + 5, 1) != 0;
    unsigned residue = (unsigned)(bits % 8);
    if (sixth && (residue == 0 || residue == 7)) {
        return detect_versioned(settings, true, bytes, end, shape);
    }
    return first && (residue == 3 || residue == 2) && bits > 32 && detect_versioned(settings, false, bytes, end, shape);
}

static bool feed_initial(struct ue_protocol_proof *binding, bool from_side_one, const struct ue_handshake_match *shape) {
    bool again = (binding->initial_profiles & shape->profiles) != 0 && binding->initial_from_side_one == from_side_one;
    binding->initials = again ? binding->initials + 1 : 1;
    binding->initial_profiles = again ? binding->initial_profiles & shape->profiles : shape->profiles;
    binding->initial_from_side_one = from_side_one;
    binding->packets = 0;
    binding->patience = UE_PROTOCOL_PROOF_DATAGRAMS_MAX;
    return binding->initials >= UE_PROTOCOL_PROOF_INITIALS;
}

/* Whether the message belongs to the one with the same cookie, and is not that message again. */
static bool confirms(const struct ue_protocol_proof *binding, bool from_side_one, const struct ue_handshake_match *shape) {
    bool same = binding->has_cookie && memcmp(binding->cookie, shape->cookie, sizeof binding->cookie) == 0;
    bool answered = from_side_one != binding->from_side_one || shape->type == UE_HANDSHAKE_ACK;
    return same && answered && shape->ids == binding->versioned && shape->type != binding->type;
}

static void remember(struct ue_protocol_proof *binding, bool from_side_one, const struct ue_handshake_match *shape) {
    binding->has_cookie = true;
    binding->from_side_one = from_side_one;
    binding->versioned = shape->ids;
    binding->type = (uint8_t)shape->type;
    memcpy(binding->cookie, shape->cookie, sizeof binding->cookie);
}

bool ue_protocol_proof_add_handshake(struct ue_protocol_proof *binding, unsigned side, const struct ue_handshake_match *shape) {
    bool from_side_one = side != 0;
    if (shape->has_body && shape->type == UE_HANDSHAKE_INITIAL) {
        return feed_initial(binding, from_side_one, shape);
    }
    if (!shape->has_cookie) {
        return false;
    }
    if ((binding->initial_profiles & shape->profiles) != 0 || confirms(binding, from_side_one, shape)) {
        return true;
    }
    if (shape->type != UE_HANDSHAKE_ACK) {
        remember(binding, from_side_one, shape);
    }
    return false;
}

/* ---- ordinary packets (protocol.md 17.2) ---- */

struct fit_walk {
    const struct ue_context *x;
    bool plausible;
    bool has_bunches;
};

static bool text_is_printable(struct ue_text text) {
    unsigned width = text.wide ? 16 : 8;
    for (size_t at = 0; at < text.units.bits; at += width) {
        uint64_t unit = ue_view_load(text.units, at, width);
        if (unit < 32 || unit == 127) {
            return false;
        }
    }
    return text.units.bits != 0;
}

static bool name_is_plausible(const struct ue_bunch *b) {
    if (!b->name.hardcoded) {
        return text_is_printable(b->name.text);
    }
    bool control = b->name.index == UE_NAME_CONTROL;
    return b->name.index != 0 && b->name.index <= NAME_INDEX_MAX && control == (b->channel == 0);
}

/* A Hello opens the control channel; with or without a token it must end with the bunch. */
static bool hello_is_plausible(const struct ue_context *x, const struct ue_bunch *b) {
    struct ue_message message;
    struct ue_fault fault;
    size_t bit = 0;
    bool opens = b->open && ue_bunch_has_messages(x, b) && b->data.bits >= 8;
    if (!opens || ue_view_load(b->data, 0, 8) != UE_MESSAGE_HELLO) {
        return true;
    }
    unsigned least = x->profile.hello >= 1 ? UE_HELLO_FEATURES : UE_HELLO_ENCRYPTION_TOKEN;
    return ue_message_decode(x, b->data, &bit, &message, &fault) == UE_OK && bit == b->data.bits &&
           message.param_count >= least;
}

static bool bunch_is_plausible(const struct ue_context *x, const struct ue_bunch *b) {
    bool legacy = x->profile.packet == UE_PACKET_LEGACY;
    bool on_control = b->channel == 0 && !x->settings.internal_ack;
    if (on_control && !b->reliable) {
        return false; /* all of the control channel is reliable (protocol.md 12) */
    }
    if (b->control != (b->open || b->close) || b->close_reason > CLOSE_REASON_KNOWN_MAX ||
        b->channel >= PACKED_CHANNEL_MAX) {
        return false;
    }
    if (b->partial_final && (b->partial_initial || b->partial_exports_final)) {
        return false;
    }
    if (b->has_name && !name_is_plausible(b)) {
        return false;
    }
    bool typed = legacy && (b->reliable || b->open);
    if (typed && (b->ch_type < UE_CHANNEL_CONTROL || b->ch_type > UE_CHANNEL_VOICE ||
                  (b->ch_type == UE_CHANNEL_CONTROL) != (b->channel == 0))) {
        return false;
    }
    return hello_is_plausible(x, b);
}

static void visit(void *user, const struct ue_item *item) {
    struct fit_walk *walk = user;
    if (!item->is_ack) {
        walk->has_bunches = true;
        walk->plausible = walk->plausible && bunch_is_plausible(walk->x, &item->bunch);
    }
}

void ue_profile_match_packet(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes, struct ue_packet_match *fit) {
    struct fit_walk walk = {.x = context, .plausible = true};
    struct ue_visitor visitor = {.item = visit, .user = &walk};
    enum ue_status status = ue_datagram_check(context, bytes, size_bytes, &visitor, &fit->verdict);
    fit->fits = status == UE_OK && fit->verdict.canonical && !fit->verdict.is_handshake && walk.plausible;
    fit->has_bunches = walk.has_bunches;
}

/* ---- proof by ordinary packets ---- */

bool ue_protocol_proof_needs_packets(const struct ue_protocol_proof *binding) {
    return binding->patience != 0;
}

static bool packet_fits(size_t row, const struct ue_settings *settings, enum ue_direction direction,
                        const uint8_t *bytes, size_t size_bytes) {
    struct ue_context x;
    struct ue_packet_match fit;
    ue_context_init(&x, ue_profile_at(row), settings);
    x.direction = direction;
    ue_profile_match_packet(&x, bytes, size_bytes, &fit);
    return fit.fits && fit.has_bunches;
}

bool ue_protocol_proof_add_packet(struct ue_protocol_proof *binding, const struct ue_settings *settings, unsigned side,
                            const uint8_t *bytes, size_t size_bytes) {
    bool from_client = (side != 0) == binding->initial_from_side_one;
    uint16_t fitting = 0;
    binding->patience--;
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        if ((binding->initial_profiles >> row & 1) != 0 &&
            packet_fits(row, settings, from_client ? UE_CLIENT_TO_SERVER : UE_SERVER_TO_CLIENT, bytes, size_bytes)) {
            fitting |= (uint16_t)(1u << row);
        }
    }
    if (fitting == 0) {
        return false;
    }
    binding->initial_profiles = fitting;
    return ++binding->packets >= UE_PROTOCOL_PROOF_PACKETS;
}
