/* SPDX-License-Identifier: MIT */
#include "libcodec/wire/handshake.h"

#include "libcodec/wire/layout_run.h"

static unsigned timestamp_bits(const struct ue_context *x) {
    return x->profile.handshake <= UE_HANDSHAKE_B ? 32 : 64;
}

double ue_handshake_timestamp(const struct ue_context *context, const struct ue_handshake *handshake) {
    struct ue_record record = {.bits = timestamp_bits(context), .number = handshake->timestamp};
    return ue_record_real(&record);
}

uint64_t ue_handshake_timestamp_bits(const struct ue_context *context, double seconds) {
    uint64_t bits = 0;
    if (timestamp_bits(context) == 64) {
        memcpy(&bits, &seconds, sizeof seconds);
        return bits;
    }
    float narrow = (float)seconds;
    uint32_t raw;
    memcpy(&raw, &narrow, sizeof raw);
    return raw;
}

enum ue_direction ue_handshake_sender(enum ue_handshake_type type) {
    switch (type) {
    case UE_HANDSHAKE_INITIAL:
    case UE_HANDSHAKE_RESPONSE:
    case UE_HANDSHAKE_RESTART_RESPONSE: return UE_CLIENT_TO_SERVER;
    case UE_HANDSHAKE_CHALLENGE:
    case UE_HANDSHAKE_ACK:
    case UE_HANDSHAKE_RESTART_REQUEST:
    case UE_HANDSHAKE_VERSION_UPGRADE: return UE_SERVER_TO_CLIENT;
    case UE_HANDSHAKE_TYPE_UNKNOWN: break;
    }
    return UE_DIRECTION_UNKNOWN;
}

struct ue_sequences ue_cookie_sequences(const uint8_t cookie[UE_COOKIE_BYTES]) {
    return (struct ue_sequences){
        .server = (uint16_t)((cookie[0] | cookie[1] << 8) & 16383),
        .client = (uint16_t)((cookie[2] | cookie[3] << 8) & 16383),
    };
}

/* Layouts A to C have no type field: derives the type from direction, presence and timestamp (protocol.md 5.6). Returns
   -1 when no type matches. */
static int infer_type(const struct ue_context *x, const struct ue_handshake *m) {
    bool from_client = x->direction != UE_SERVER_TO_CLIENT;
    bool from_server = x->direction != UE_CLIENT_TO_SERVER;
    if (!m->has_body) {
        return from_server ? UE_HANDSHAKE_RESTART_REQUEST : -1;
    }
    double time = ue_handshake_timestamp(x, m);
    if (time == 0) {
        return from_client && !m->has_orig_cookie ? UE_HANDSHAKE_INITIAL : -1;
    }
    if (time < 0) {
        return from_server && !m->restart ? UE_HANDSHAKE_ACK : -1;
    }
    if (!(time > 0)) {
        return -1;
    }
    if (m->restart) {
        return from_client && m->has_orig_cookie ? UE_HANDSHAKE_RESTART_RESPONSE : -1;
    }
    switch (x->direction) {
    case UE_CLIENT_TO_SERVER: return UE_HANDSHAKE_RESPONSE;
    case UE_SERVER_TO_CLIENT: return UE_HANDSHAKE_CHALLENGE;
    case UE_DIRECTION_UNKNOWN: break;
    }
    return UE_HANDSHAKE_TYPE_UNKNOWN;
}

UE_INLINE void body(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_handshake *m) {
    UINT_IF(m->has_body, m->secret_id, HANDSHAKE_SECRET_ID, 1);
    UINT_IF(m->has_body, m->timestamp, HANDSHAKE_TIMESTAMP, timestamp_bits(x));
    BYTES_IF(m->has_body, m->cookie, HANDSHAKE_COOKIE);
}

/* Layouts A0, A, B and C. Messages have exact sizes, and the number of bits left decides which parts are present. */
UE_INLINE void exact(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_handshake *m) {
    size_t at = ue_cursor_pos(c);
    ABSENT(m->min_version, HANDSHAKE_MIN_VERSION, 0);
    ABSENT(m->version, HANDSHAKE_VERSION, 0);
    ABSENT(m->sent_count, HANDSHAKE_SENT_COUNT, 0);
    ABSENT(m->network_version, HANDSHAKE_NETWORK_VERSION, 0);
    ABSENT(m->features, HANDSHAKE_FEATURES, 0);
    ABSENT_VIEW(m->random, HANDSHAKE_RANDOM);
    if (x->profile.handshake >= UE_HANDSHAKE_B) {
        FLAG(m->restart, HANDSHAKE_RESTART);
        MORE(m->has_body, HANDSHAKE_COOKIE, !m->restart || ue_cursor_left(c) != 0);
        REQUIRE(m->has_body || m->restart, UE_E_CONFLICT, HANDSHAKE_RESTART);
    } else {
        ABSENT(m->restart, HANDSHAKE_RESTART, false);
        ABSENT(m->has_body, HANDSHAKE_COOKIE, true);
    }
    body(op, c, x, m);
    if (m->restart && m->has_body) {
        MORE(m->has_orig_cookie, HANDSHAKE_ORIG_COOKIE, ue_cursor_left(c) != 0);
    } else {
        ABSENT(m->has_orig_cookie, HANDSHAKE_ORIG_COOKIE, false);
    }
    BYTES_IF(m->has_orig_cookie, m->orig_cookie, HANDSHAKE_ORIG_COOKIE);
    if (m->has_orig_cookie && x->profile.handshake == UE_HANDSHAKE_C) {
        MORE(m->has_diagnostics, HANDSHAKE_DIAGNOSTICS, ue_cursor_left(c) != 0);
    } else {
        ABSENT(m->has_diagnostics, HANDSHAKE_DIAGNOSTICS, false);
    }
    BYTES_IF(m->has_diagnostics, m->diagnostics, HANDSHAKE_DIAGNOSTICS);
    int type = infer_type(x, m);
    REQUIRE(type >= 0, UE_E_TYPE, HANDSHAKE_TYPE);
    IMPLIED_FIELD(m->type, HANDSHAKE_TYPE, 8, at, type, m->type != UE_HANDSHAKE_TYPE_UNKNOWN);
}

static bool type_has_body(enum ue_handshake_type type) {
    return type <= UE_HANDSHAKE_ACK || type == UE_HANDSHAKE_RESTART_RESPONSE;
}

/* Handshake versions 1 to 4: version fields, a type, and a random tail of whole bytes. */
UE_INLINE void versioned(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_handshake *m) {
    FLAG(m->restart, HANDSHAKE_RESTART);
    UINT(m->min_version, HANDSHAKE_MIN_VERSION, 8);
    UINT(m->version, HANDSHAKE_VERSION, 8);
    UINT(m->type, HANDSHAKE_TYPE, 8);
    REQUIRE(m->type <= UE_HANDSHAKE_VERSION_UPGRADE, UE_E_TYPE, HANDSHAKE_TYPE);
    UINT(m->sent_count, HANDSHAKE_SENT_COUNT, 8);
    UINT_IF(m->version >= 2, m->network_version, HANDSHAKE_NETWORK_VERSION, 32);
    UINT_IF(m->version >= 2 && x->features, m->features, HANDSHAKE_FEATURES, 16);
    bool possible = type_has_body(m->type);
    MORE(m->has_body, HANDSHAKE_COOKIE, possible && !(m->restart && ue_cursor_left(c) <= UE_HANDSHAKE_RANDOM_BITS_MAX));
    REQUIRE(possible || !m->has_body, UE_E_CONFLICT, HANDSHAKE_TYPE);
    body(op, c, x, m);
    ABSENT(m->has_orig_cookie, HANDSHAKE_ORIG_COOKIE, m->has_body && m->type == UE_HANDSHAKE_RESTART_RESPONSE);
    BYTES_IF(m->has_orig_cookie, m->orig_cookie, HANDSHAKE_ORIG_COOKIE);
    ABSENT(m->has_diagnostics, HANDSHAKE_DIAGNOSTICS, false);
    BYTES_IF(m->has_diagnostics, m->diagnostics, HANDSHAKE_DIAGNOSTICS);
    REST(m->random, HANDSHAKE_RANDOM);
    REQUIRE(m->random.bits % 8 == 0, UE_E_TRAILING, HANDSHAKE_RANDOM);
    REQUIRE(!possible || m->has_body || (m->restart && m->random.bits <= UE_HANDSHAKE_RANDOM_BITS_MAX), UE_E_CONFLICT,
            HANDSHAKE_TYPE);
}

UE_INLINE void layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_handshake *m) {
    BEGIN(HANDSHAKE);
    if (x->profile.handshake == UE_HANDSHAKE_V) {
        versioned(op, c, x, m);
    } else {
        exact(op, c, x, m);
    }
    bool sequences = m->has_body && !m->restart && !x->restarting && m->type != UE_HANDSHAKE_INITIAL &&
                     x->profile.handshake != UE_HANDSHAKE_A0;
    if (sequences && !ue_bytes_zero(m->cookie, sizeof m->cookie)) {
        struct ue_sequences first = ue_cookie_sequences(m->cookie);
        size_t tail_bits = x->profile.handshake == UE_HANDSHAKE_V ? m->random.bits : 0;
        size_t cookie = ue_cursor_pos(c) - tail_bits - sizeof m->cookie * 8;
        GENERATED(HANDSHAKE_SERVER_SEQ, cookie, 16, first.server);
        GENERATED(HANDSHAKE_CLIENT_SEQ, cookie + 16, 16, first.client);
    }
    END(HANDSHAKE, m);
}

UE_DEFINE_RUN(ue_handshake, layout, struct ue_handshake)
