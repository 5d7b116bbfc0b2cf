/* SPDX-License-Identifier: MIT */
#include <uerudp/profile_match.h>

#include "libcodec/wire/handshake.h"
#include "libcodec/wire/prefix_layout.h"

enum { ROW_413, ROW_414, ROW_418, ROW_419, ROW_420, ROW_422, ROW_424, ROW_425, ROW_51, ROW_54, ROW_55, ROW_58 };

#define ROW(name) (1u << ROW_##name)
#define ROWS_LAYOUT_A (ROW(413) | ROW(414) | ROW(418) | ROW(419) | ROW(420))
#define ROWS_WITH_ACK (ROW(418) | ROW(419) | ROW(420))
#define ROWS_LAYOUT_B (ROW(422) | ROW(424))
#define ROWS_FEATURES (ROW(54) | ROW(55) | ROW(58))

#define RANDOM_BITS_MIN 64
#define VERSIONS_AND_TYPE_BITS 24
/* The handshake bit is the first of these, or, after the ids of versions 3 and later, the last. */
#define HEAD_BITS 6
#define TIMESTAMP_MIN 1e-6
#define TIMESTAMP_MAX 1e8
#define NAME_INDEX_MAX 410
#define CLOSE_REASON_KNOWN_MAX 5
#define PACKED_CHANNEL_MAX 32767

/* Exact sizes of the layouts without version fields, in bits after the magic header (protocol.md 5.2 to 5.4). */
static const struct {
    uint16_t bits;
    uint16_t profiles;
    uint8_t row;
} exact_sizes[] = {
    {2, ROWS_LAYOUT_B | ROW(425), ROW_425},
    {194, ROWS_LAYOUT_A, ROW_418},
    {195, ROWS_LAYOUT_B, ROW_422},
    {227, ROW(425), ROW_425},
    {355, ROWS_LAYOUT_B, ROW_422},
    {387, ROW(425), ROW_425},
    {483, ROW(425), ROW_425},
};

/* Length of the payload: the position of the outer terminator; 0 when there is none. */
static size_t payload_bits(const uint8_t *bytes, size_t size_bytes) {
    unsigned last = size_bytes != 0 ? bytes[size_bytes - 1] : 0;
    return last != 0 ? (size_bytes - 1) * 8 + (31 - (unsigned)__builtin_clz(last)) : 0;
}

/* Decodes the datagram as a handshake message of a profile row. */
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

/* Whether timestamp and cookie have values that a sender writes in a message of this type. */
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

static void fill_match(const struct ue_handshake *h, uint16_t profiles, struct ue_handshake_match *match) {
    *match =
        (struct ue_handshake_match){.profiles = profiles, .assumed = profiles, .type = h->type, .restart = h->restart};
    match->direction =
        h->has_body || h->restart == (h->type == UE_HANDSHAKE_RESTART_REQUEST)
            ? ue_handshake_sender(h->type)
            : UE_SERVER_TO_CLIENT; /* a restart request, whatever its type field says (protocol.md 5.4) */
    match->has_body = h->has_body;
    match->has_cookie = h->has_body && !ue_bytes_zero(h->cookie, sizeof h->cookie);
    memcpy(match->cookie, h->cookie, sizeof match->cookie);
    match->has_orig_cookie = h->has_orig_cookie;
    memcpy(match->orig_cookie, h->orig_cookie, sizeof match->orig_cookie);
}

static bool detect_exact(const struct ue_settings *settings, const uint8_t *bytes, size_t end_bit, size_t bits,
                         struct ue_handshake_match *match) {
    for (size_t i = 0; i < sizeof exact_sizes / sizeof *exact_sizes; i++) {
        struct ue_handshake h;
        if (exact_sizes[i].bits != bits ||
            !read_handshake(settings, exact_sizes[i].row, false, false, bytes, end_bit, &h) ||
            !body_is_plausible(exact_sizes[i].row, &h)) {
            continue;
        }
        bool is_ack = h.type == UE_HANDSHAKE_ACK;
        uint16_t profiles = exact_sizes[i].profiles;
        fill_match(&h, is_ack && bits == 194 ? ROWS_WITH_ACK : profiles, match);
        return true;
    }
    return false;
}

/* Whether the version fields and the type, which follow the restart bit, have values of an engine: most datagrams of
   other protocols need no further reading. */
static bool begins_like_versioned(const uint8_t *bytes, size_t at, size_t end_bit, bool ids) {
    if (at + VERSIONS_AND_TYPE_BITS > end_bit) {
        return false;
    }
    uint64_t fields = ue_bits_load(bytes, ue_bits_bytes(end_bit), at, VERSIONS_AND_TYPE_BITS);
    unsigned min_version = fields & 0xff, version = fields >> 8 & 0xff, type = (unsigned)(fields >> 16);
    return min_version <= version && version >= (ids ? 3 : 1) && version <= (ids ? 15 : 2) &&
           type <= UE_HANDSHAKE_VERSION_UPGRADE;
}

static bool rest_fits(const struct ue_handshake *h) {
    return h->random.bits >= RANDOM_BITS_MIN && h->random.bits <= UE_HANDSHAKE_RANDOM_BITS_MAX &&
           (!h->has_body || body_is_plausible(ROW_51, h));
}

static bool tail_is_zero(const struct ue_handshake *h) {
    size_t ignored;
    return !ue_bits_last_set(h->random.base, h->random.bit, h->random.bit + h->random.bits, &ignored);
}

static bool detect_versioned(const struct ue_settings *settings, bool ids, const uint8_t *bytes, size_t end_bit,
                             struct ue_handshake_match *match) {
    if (!begins_like_versioned(bytes, ue_settings_prefix_bits(settings) + (ids ? HEAD_BITS : 1) + 1, end_bit, ids)) {
        return false;
    }
    struct ue_handshake with;
    struct ue_handshake without;
    bool without_reads = read_handshake(settings, ROW_51, ids, false, bytes, end_bit, &without);
    bool with_reads = read_handshake(settings, ROW_54, ids, true, bytes, end_bit, &with);
    bool with_fits = with_reads && rest_fits(&with) && with.version >= 2;
    bool without_fits = without_reads && rest_fits(&without);
    if (!with_fits && !without_fits) {
        return false;
    }
    enum ue_features_seen seen = UE_FEATURES_UNDECIDED;
    if (with_fits != without_fits) {
        seen = with_fits ? UE_FEATURES_PRESENT : UE_FEATURES_ABSENT;
    } else if (with.type == UE_HANDSHAKE_INITIAL && !tail_is_zero(&with)) {
        seen = UE_FEATURES_PRESENT; /* the 16 bits are zero in both layouts, and no engine's random tail begins so */
    }
    bool assume = seen == UE_FEATURES_PRESENT || (seen == UE_FEATURES_UNDECIDED && with.version >= 4);
    uint16_t profiles = seen == UE_FEATURES_PRESENT  ? ROWS_FEATURES
                        : seen == UE_FEATURES_ABSENT ? ROW(51)
                                                     : ROWS_FEATURES | ROW(51);
    fill_match(assume ? &with : &without, profiles, match);
    if (seen != UE_FEATURES_UNDECIDED || with.type != UE_HANDSHAKE_RESTART_REQUEST) {
        match->assumed = assume ? ROWS_FEATURES : ROW(51);
    } /* else unknown: a restart request has the oldest version that the server accepts (endpoint.md 2) */
    match->features = seen;
    match->ids = ids;
    return true;
}

bool ue_profile_match_is_query(const uint8_t *bytes, size_t size_bytes) {
    static const uint8_t mark[] = {0xff, 0xff, 0xff, 0xff};
    return size_bytes >= sizeof mark && memcmp(bytes, mark, sizeof mark) == 0;
}

bool ue_profile_match_handshake(const struct ue_settings *settings, const uint8_t *bytes, size_t size_bytes,
                                struct ue_handshake_match *match) {
    size_t prefix = ue_settings_prefix_bits(settings);
    if (size_bytes * 8 <= prefix) {
        return false;
    }
    size_t left = size_bytes * 8 - prefix;
    uint64_t head = ue_bits_load(bytes, size_bytes, prefix, left < HEAD_BITS ? (unsigned)left : HEAD_BITS);
    bool first = (head & 1) != 0, sixth = (head >> (HEAD_BITS - 1)) != 0;
    size_t end = first || sixth ? payload_bits(bytes, size_bytes) : 0;
    if (end < prefix + 2) {
        return false;
    }
    size_t bits = end - prefix;
    if (first && detect_exact(settings, bytes, end, bits, match)) {
        return true;
    }
    unsigned residue = (unsigned)(bits % 8);
    if (sixth && bits > HEAD_BITS && (residue == 0 || residue == 7)) {
        return detect_versioned(settings, true, bytes, end, match);
    }
    return first && (residue == 3 || residue == 2) && bits > 32 && detect_versioned(settings, false, bytes, end, match);
}

/* ---- packets (protocol.md 17.2) ---- */

struct match_pass {
    const struct ue_context *x;
    bool plausible;
    bool has_bunches;
    bool opens_actor;
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

/* A Hello that opens the control channel must end with its bunch. */
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

static bool bunch_header_is_plausible(const struct ue_context *x, const struct ue_bunch *b) {
    bool legacy = x->profile.packet == UE_PACKET_LEGACY;
    bool on_control = b->channel == 0 && !x->settings.internal_ack;
    if (on_control && !b->reliable) {
        return false; /* all bunches of the control channel are reliable (protocol.md 12) */
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
    return true;
}

static bool opens_actor(const struct ue_bunch *b) {
    bool is_actor = b->has_name ? b->name.hardcoded && b->name.index == UE_NAME_ACTOR : b->ch_type == UE_CHANNEL_ACTOR;
    return b->open && is_actor;
}

static void on_item(void *user, const struct ue_item *item) {
    struct match_pass *pass = user;
    if (!item->is_ack) {
        pass->has_bunches = true;
        pass->opens_actor |= opens_actor(&item->bunch);
        pass->plausible = pass->plausible && bunch_header_is_plausible(pass->x, &item->bunch) &&
                          hello_is_plausible(pass->x, &item->bunch);
    }
}

void ue_profile_match_packet(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                             struct ue_packet_match *fit) {
    struct match_pass pass = {.x = context, .plausible = true};
    struct ue_visitor visitor = {.item = on_item, .user = &pass};
    enum ue_status status = ue_datagram_decode(context, bytes, size_bytes, NULL, &visitor, &fit->result);
    fit->fits = status == UE_OK && fit->result.canonical && !fit->result.is_handshake && pass.plausible;
    fit->has_bunches = pass.has_bunches;
    fit->opens_actor = pass.opens_actor;
}

bool ue_profile_match_cut(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                          size_t captured_bytes, bool is_shortened) {
    size_t captured_bits = captured_bytes * 8;
    struct ue_datagram head;
    struct ue_item_range rest;
    struct ue_item item;
    struct ue_fault fault;
    enum ue_status status = ue_datagram_begin(context, bytes, size_bytes, &head, &rest, &fault);
    if (status != UE_OK || rest.bit > captured_bits || head.prefix.is_handshake || head.handlers.is_opaque) {
        return status == UE_OK || fault.bit >= captured_bits;
    }
    while (rest.bit < captured_bits && ue_datagram_next(context, bytes, &rest, &item, 1, &fault) == 1) {
        const struct ue_bunch *b = &item.bunch;
        bool is_captured = rest.bit - (item.is_ack ? 0 : b->data.bits) <= captured_bits;
        if (is_captured && !item.is_ack && !bunch_header_is_plausible(context, b)) {
            return false;
        }
    }
    bool is_beyond = is_shortened && (fault.status == UE_E_TRUNCATED || fault.status == UE_E_LENGTH);
    return fault.status == UE_OK || fault.bit >= captured_bits || is_beyond;
}
