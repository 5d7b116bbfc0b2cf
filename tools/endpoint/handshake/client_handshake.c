/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/handshake/client_handshake.h"

#include <assert.h>

#include <uerudp/profile_match.h>
#include <uerudp/time_ns.h>

#define RESEND_NS (1000 * UE_NS_PER_MS)
#define FALLBACK_NS (15000 * UE_NS_PER_MS)         /* MIN_COOKIE_LIFETIME */
#define RESTART_INTERVAL_NS (10000 * UE_NS_PER_MS) /* since the last handshake packet */
#define REQUEST_INTERVAL_NS (1100 * UE_NS_PER_MS)
#define SILENCE_NS (1000 * UE_NS_PER_MS)

#define VERSION_MIN_STOCK 3
#define TAIL_BYTES_MAX 16
#define TAIL_BYTES_SPREAD 8
#define TAIL_VALUES 255 /* a tail has no byte 255 */
#define ORIGINAL_RESTART_RESPONSE_BITS 387

/* ---- messages ---- */

struct ue_handshake_versions ue_handshake_versions_of(const struct ue_profile *profile,
                                                      struct ue_handshake_versions wished) {
    if (profile->handshake != UE_HANDSHAKE_V) {
        return (struct ue_handshake_versions){0, 0};
    }
    struct ue_handshake_versions v = wished;
    if (v.max == 0 || v.max > UE_HANDSHAKE_VERSION_WITH_UPGRADE) {
        v.max = profile->features ? UE_HANDSHAKE_VERSION_WITH_UPGRADE : UE_HANDSHAKE_VERSION_WITH_IDS;
    }
    if (v.min == 0) {
        v.min = VERSION_MIN_STOCK;
    }
    v.min = v.min < v.max ? v.min : v.max;
    return v;
}

/* Bits of a versioned message from the handshake bit to the random tail (protocol.md 5.4). */
static size_t versioned_bits(const struct ue_context *x, const struct ue_handshake *h) {
    size_t bits = 2 + 4 * 8;
    if (h->version >= UE_HANDSHAKE_VERSION_WITH_NETWORK) {
        bits += x->features ? 32 + 16 : 32;
    }
    bits += h->has_body ? 1 + 64 + UE_COOKIE_BYTES * 8 : 0;
    return bits + (h->has_orig_cookie ? UE_COOKIE_BYTES * 8 : 0);
}

/* Versions without ids share the first bits with the Original layout; its exact length distinguishes it. */
static size_t tail_bytes(const struct ue_context *x, const struct ue_handshake *h, struct ue_random *random) {
    size_t bytes = TAIL_BYTES_MAX - ue_random_below(random, TAIL_BYTES_SPREAD + 1);
    bool mistakable = h->version < UE_HANDSHAKE_VERSION_WITH_IDS &&
                      versioned_bits(x, h) + bytes * 8 == ORIGINAL_RESTART_RESPONSE_BITS;
    return mistakable ? bytes - 1 : bytes;
}

static void clear_what_is_absent(const struct ue_context *x, struct ue_datagram *message) {
    struct ue_handshake *h = &message->handshake;
    if (!x->ids) {
        message->prefix.session_id = 0;
        message->prefix.client_id = 0;
    }
    if (x->profile.handshake != UE_HANDSHAKE_V) {
        h->min_version = 0;
        h->version = 0;
        h->sent_count = 0;
    }
    if (h->version < UE_HANDSHAKE_VERSION_WITH_NETWORK) {
        h->network_version = 0;
    }
    if (h->version < UE_HANDSHAKE_VERSION_WITH_NETWORK || !x->features) {
        h->features = 0;
    }
}

size_t ue_handshake_datagram_write(const struct ue_context *context, struct ue_datagram *message,
                                   struct ue_random *random, uint8_t *bytes, size_t capacity_bytes) {
    static const uint8_t wrapper[UE_HANDSHAKE_DATAGRAM_BYTES] = {0};
    const struct ue_settings *settings = &context->settings;
    if (settings->skip_bytes > sizeof wrapper) {
        return 0;
    }
    clear_what_is_absent(context, message);
    message->prefix.is_handshake = true;
    message->prefix.magic = settings->magic & (uint32_t)ue_bits_mask(settings->magic_bits);
    message->prefix.wrapper = (struct ue_view){wrapper, 0, (size_t)settings->skip_bytes * 8};
    uint8_t tail[TAIL_BYTES_MAX];
    size_t tail_size = 0;
    if (context->profile.handshake == UE_HANDSHAKE_V) {
        tail_size = tail_bytes(context, &message->handshake, random);
    }
    for (size_t i = 0; i < tail_size; i++) {
        tail[i] = (uint8_t)ue_random_below(random, TAIL_VALUES);
    }
    message->handshake.random = (struct ue_view){tail, 0, tail_size * 8};
    size_t written = 0;
    struct ue_fault fault;
    enum ue_status status = ue_datagram_encode(context, message, bytes, capacity_bytes, &written, &fault);
    message->handshake.random = (struct ue_view){0};
    return status == UE_OK ? written : 0;
}

/* Layouts A to C derive the type from these members; in a versioned message they could contradict it. */
static bool is_consistent(const struct ue_context *x, const struct ue_handshake *h) {
    double time = ue_handshake_timestamp(x, h);
    switch (h->type) {
    case UE_HANDSHAKE_INITIAL: return h->has_body && time == 0;
    case UE_HANDSHAKE_CHALLENGE:
    case UE_HANDSHAKE_RESPONSE: return h->has_body && !h->restart && time > 0;
    case UE_HANDSHAKE_ACK: return h->has_body && !h->restart && time < 0;
    case UE_HANDSHAKE_RESTART_REQUEST: return h->restart;
    case UE_HANDSHAKE_RESTART_RESPONSE: return h->has_orig_cookie && h->restart && time > 0;
    case UE_HANDSHAKE_VERSION_UPGRADE: return !h->restart;
    case UE_HANDSHAKE_TYPE_UNKNOWN: break;
    }
    return false;
}

static void learn_features(struct ue_context *x, const uint8_t *bytes, size_t size_bytes) {
    struct ue_handshake_match shape;
    if (x->profile.handshake == UE_HANDSHAKE_V && ue_profile_match_handshake(&x->settings, bytes, size_bytes, &shape) &&
        shape.features != UE_FEATURES_UNDECIDED) {
        x->features = shape.features == UE_FEATURES_PRESENT;
    }
}

bool ue_handshake_datagram_read(struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                struct ue_datagram *message) {
    struct ue_decode_result result;
    struct ue_handshake *h = &message->handshake;
    *message = (struct ue_datagram){0};
    learn_features(context, bytes, size_bytes);
    if (ue_datagram_decode(context, bytes, size_bytes, message, NULL, &result) != UE_OK || !result.is_handshake) {
        return false;
    }
    if (context->profile.handshake == UE_HANDSHAKE_V && context->ids != (h->version >= UE_HANDSHAKE_VERSION_WITH_IDS)) {
        return false;
    }
    if (!h->has_body && h->restart) {
        h->type = UE_HANDSHAKE_RESTART_REQUEST; /* some senders write another type (protocol.md 5.4) */
    }
    return is_consistent(context, h) && ue_handshake_sender(h->type) == context->direction;
}

/* ---- client ---- */

void ue_client_handshake_init(struct ue_client_handshake *s, const struct ue_context *context,
                              const struct ue_conn_config *config, struct ue_random *random) {
    *s =
        (struct ue_client_handshake){.state = UE_CLIENT_HANDSHAKE_UNINITIALIZED, .context = *context, .random = random};
    struct ue_handshake_versions wished = {config->min_handshake_version, config->max_handshake_version};
    s->versions = ue_handshake_versions_of(&context->profile, wished);
    s->network_version = config->network_version;
    s->network_features = config->network_features;
    s->client_id = config->client_id & 7;
    s->version = s->versions.max;
    s->context.direction = UE_CLIENT_TO_SERVER;
    s->context.ids = s->version >= UE_HANDSHAKE_VERSION_WITH_IDS;
}

/* Sends a message of which only type and body are set. */
static void send(struct ue_client_handshake *s, uint64_t now_ns, const struct ue_handshake *handshake) {
    struct ue_datagram message = {.handshake = *handshake};
    struct ue_handshake *h = &message.handshake;
    message.prefix.session_id = s->session_id;
    message.prefix.client_id = s->client_id;
    h->has_body = true;
    h->restart = s->restarting;
    h->min_version = s->versions.min;
    h->version = s->version;
    h->sent_count = s->sent_count++;
    h->network_version = s->network_version;
    h->features = s->network_features;
    s->pending_bytes = ue_handshake_datagram_write(&s->context, &message, s->random, s->pending, sizeof s->pending);
    s->last_sent_ns = now_ns;
}

static void send_initial(struct ue_client_handshake *s, uint64_t now_ns) {
    struct ue_handshake initial = {.type = UE_HANDSHAKE_INITIAL};
    s->version = s->versions.max;
    send(s, now_ns, &initial);
}

static void send_response(struct ue_client_handshake *s, uint64_t now_ns) {
    struct ue_handshake response = {
        .type = s->restarting ? UE_HANDSHAKE_RESTART_RESPONSE : UE_HANDSHAKE_RESPONSE,
        .secret_id = s->secret_id,
        .timestamp = s->timestamp,
        .has_orig_cookie = s->restarting,
    };
    memcpy(response.cookie, s->challenge, sizeof response.cookie);
    if (s->restarting) {
        memcpy(response.orig_cookie, s->cookie, sizeof response.orig_cookie);
    }
    send(s, now_ns, &response);
}

void ue_client_handshake_start(struct ue_client_handshake *s, uint64_t now_ns) {
    send_initial(s, now_ns);
}

/* endpoint.md 3.1. */
void ue_client_handshake_tick(struct ue_client_handshake *s, uint64_t now_ns) {
    if (now_ns < ue_client_handshake_deadline(s)) {
        return;
    }
    bool is_stale = now_ns - s->last_challenge_ns > FALLBACK_NS;
    if (s->state == UE_CLIENT_HANDSHAKE_INITIALIZED) {
        s->unanswered = !is_stale;
        if (s->unanswered) {
            send_response(s, now_ns);
        }
        return;
    }
    if (is_stale) {
        s->state = UE_CLIENT_HANDSHAKE_UNINITIALIZED;
    }
    if (s->state == UE_CLIENT_HANDSHAKE_LOCAL) {
        send_response(s, now_ns);
    } else {
        send_initial(s, now_ns);
    }
}

/* The engine sends again when more than the interval has passed. */
uint64_t ue_client_handshake_deadline(const struct ue_client_handshake *s) {
    bool is_done = s->state == UE_CLIENT_HANDSHAKE_INITIALIZED && !s->unanswered;
    return is_done ? UINT64_MAX : s->last_sent_ns + RESEND_NS + 1;
}

/* The server chooses the session; the client knows it from the first Challenge on. */
static bool has_own_ids(const struct ue_client_handshake *s, const struct ue_datagram *message) {
    bool knows_session =
        s->state != UE_CLIENT_HANDSHAKE_UNINITIALIZED && message->handshake.type != UE_HANDSHAKE_CHALLENGE;
    return !s->context.ids || (message->prefix.client_id == s->client_id &&
                               (!knows_session || message->prefix.session_id == s->session_id));
}

/* endpoint.md 3.3. */
static enum ue_client_handshake_result finish(struct ue_client_handshake *s, const uint8_t cookie[UE_COOKIE_BYTES]) {
    bool resumed = s->restarting;
    if (!resumed) {
        s->has_cookie = !ue_bytes_zero(cookie, UE_COOKIE_BYTES);
        memcpy(s->cookie, cookie, sizeof s->cookie);
        if (s->context.profile.handshake != UE_HANDSHAKE_A0) {
            s->sequences = ue_cookie_sequences(cookie);
        }
    }
    s->restarting = false;
    s->unanswered = s->context.profile.handshake == UE_HANDSHAKE_A0;
    s->sent_count = 0;
    s->state = UE_CLIENT_HANDSHAKE_INITIALIZED;
    return resumed ? UE_CLIENT_HANDSHAKE_RESUMED : UE_CLIENT_HANDSHAKE_CONNECTED;
}

/* endpoint.md 3.2, 3.4. */
static enum ue_client_handshake_result on_challenge(struct ue_client_handshake *s, uint64_t now_ns,
                                                    const struct ue_context *read_in,
                                                    const struct ue_datagram *message) {
    const struct ue_handshake *h = &message->handshake;
    if (h->version >= UE_HANDSHAKE_VERSION_WITH_NETWORK) {
        s->context.features = read_in->features;
    }
    s->session_id = message->prefix.session_id;
    s->version = h->version;
    s->secret_id = h->secret_id;
    s->timestamp = h->timestamp;
    memcpy(s->challenge, h->cookie, sizeof s->challenge);
    s->last_challenge_ns = now_ns;
    s->state = UE_CLIENT_HANDSHAKE_LOCAL;
    send_response(s, now_ns);
    return s->context.profile.handshake == UE_HANDSHAKE_A0 ? finish(s, s->challenge) : UE_CLIENT_HANDSHAKE_NOTHING;
}

/* Whether a client that was connected for some time may accept that the server lost the connection (endpoint.md 5).
   Since 4.25 a second request soon after the first counts only when nothing else arrives: two paths to the server would
   otherwise alternate (endpoint.md 5.2). */
static bool accepts_restart(const struct ue_client_handshake *s, uint64_t now_ns, uint64_t last_packet_ns) {
    bool guarded = s->context.profile.handshake >= UE_HANDSHAKE_C;
    return s->has_cookie && now_ns - s->last_sent_ns > RESTART_INTERVAL_NS &&
           (!guarded || !s->has_request || now_ns - s->last_request_ns > REQUEST_INTERVAL_NS ||
            now_ns - last_packet_ns > SILENCE_NS);
}

/* endpoint.md 5.3. */
static enum ue_client_handshake_result on_restart_request(struct ue_client_handshake *s, uint64_t now_ns,
                                                          uint64_t last_packet_ns) {
    assert(!s->restarting); /* a handshake that restarts is not initialized */
    bool accepted = accepts_restart(s, now_ns, last_packet_ns);
    s->has_request = true;
    s->last_request_ns = now_ns;
    if (!accepted) {
        return UE_CLIENT_HANDSHAKE_NOTHING;
    }
    s->restarting = true;
    s->state = UE_CLIENT_HANDSHAKE_UNINITIALIZED;
    send_initial(s, now_ns);
    return UE_CLIENT_HANDSHAKE_RESTARTING;
}

static bool speaks(const struct ue_client_handshake *s, const struct ue_handshake *h) {
    return s->versions.min <= h->version && h->version <= s->versions.max;
}

/* endpoint.md 3.2, 3.3, 3.5, 3.6. */
enum ue_client_handshake_result ue_client_handshake_receive(struct ue_client_handshake *s, uint64_t now_ns,
                                                            const uint8_t *bytes, size_t size_bytes,
                                                            uint64_t last_packet_ns) {
    struct ue_datagram message;
    struct ue_context context = s->context;
    const struct ue_handshake *h = &message.handshake;
    context.direction = UE_SERVER_TO_CLIENT;
    if (!ue_handshake_datagram_read(&context, bytes, size_bytes, &message) || !has_own_ids(s, &message)) {
        return UE_CLIENT_HANDSHAKE_NOTHING;
    }
    if (s->state == UE_CLIENT_HANDSHAKE_INITIALIZED) {
        bool is_request = h->type == UE_HANDSHAKE_RESTART_REQUEST;
        return is_request ? on_restart_request(s, now_ns, last_packet_ns) : UE_CLIENT_HANDSHAKE_NOTHING;
    }
    if (h->type == UE_HANDSHAKE_CHALLENGE && speaks(s, h)) {
        return on_challenge(s, now_ns, &context, &message);
    }
    if (h->type == UE_HANDSHAKE_ACK && speaks(s, h)) {
        return finish(s, h->cookie);
    }
    bool outdated = h->type == UE_HANDSHAKE_VERSION_UPGRADE && h->version >= UE_HANDSHAKE_VERSION_WITH_UPGRADE;
    return outdated ? UE_CLIENT_HANDSHAKE_OUTDATED : UE_CLIENT_HANDSHAKE_NOTHING;
}

size_t ue_client_handshake_pop(struct ue_client_handshake *s, uint8_t *bytes) {
    size_t size_bytes = s->pending_bytes;
    memcpy(bytes, s->pending, size_bytes);
    s->pending_bytes = 0;
    return size_bytes;
}
