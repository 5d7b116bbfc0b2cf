/* SPDX-License-Identifier: MIT */
#include <uerudp/server.h>

#include "tools/endpoint/base/memory_share.h"
#include "tools/endpoint/handshake/client_handshake.h"

#include "tools/endpoint/handshake/cookie.h"
#include <uerudp/profile_match.h>
#include "tools/endpoint/handshake/restart_quota.h"

#define UPGRADES_MAX 512
#define UPGRADE_WINDOW_NS UINT64_C(300000000000)
#define ACK_SECRET_ID 1 /* whatever secret was used */
#define ACK_SECONDS (-1.0)

struct ue_listener {
    struct ue_share share;
    struct ue_listener_config config; /* seed is not kept */
    struct ue_context context;        /* server to client, as this side writes by itself */
    struct ue_handshake_versions versions;
    struct ue_random random;
    struct ue_cookies cookies;
    struct ue_restart_quota restart_quota;
    uint8_t sent_count;       /* of messages that answer no handshake packet */
    uint64_t upgrades_end_ns; /* of the span for which upgrades are counted */
    uint32_t upgrades_left;
    struct ue_listener_counters counters;
    struct ue_refusal refusal; /* of the newest datagram */
};

/* One datagram on its way through. */
struct call {
    struct ue_listener *l;
    uint64_t now_ns;
    const struct ue_host *address;
    struct ue_context context;  /* server to client, as this client speaks */
    struct ue_datagram message; /* the client's message */
    uint8_t version;            /* for the reply */
    uint8_t *reply;
    size_t *reply_bytes;
};

struct ue_listener *ue_listener_new(const struct ue_allocator *allocator, const struct ue_listener_config *config,
                                    uint64_t now_ns) {
    if (config->profile == NULL) {
        return NULL;
    }
    struct ue_share share;
    ue_share_init(&share, allocator, SIZE_MAX);
    struct ue_listener *l = ue_share_alloc(&share, sizeof *l);
    if (l == NULL) {
        return NULL;
    }
    *l = (struct ue_listener){.share = share, .config = *config};
    l->config.seed = NULL;
    l->config.session_id &= 3;
    l->versions = ue_handshake_versions_of(config->profile,
                                           (struct ue_handshake_versions){config->min_version, config->max_version});
    ue_context_init(&l->context, config->profile, &config->settings);
    l->context.direction = UE_SERVER_TO_CLIENT;
    l->context.ids = l->versions.max >= UE_HANDSHAKE_VERSION_WITH_IDS;
    ue_random_init(&l->random, config->seed);
    ue_restart_quota_init(&l->restart_quota, config->restart_requests_per_second, config->restart_requests_per_machine,
                          &l->random);
    if (!ue_cookies_init(&l->cookies, &l->context, &l->random, now_ns)) {
        ue_share_free_block(&share, l);
        return NULL;
    }
    return l;
}

void ue_listener_free(struct ue_listener *l) {
    if (l != NULL) {
        struct ue_share share = l->share;
        ue_cookies_free(&l->cookies);
        ue_share_free_block(&share, l);
    }
}

const struct ue_listener_counters *ue_listener_counters(const struct ue_listener *l) {
    return &l->counters;
}

struct ue_refusal ue_listener_refusal(const struct ue_listener *l) {
    return l->refusal;
}

/* ---- replies ---- */

/* Writes a message of which the caller has set type and contents. */
static enum ue_listener_result reply(struct call *call, uint8_t version, struct ue_datagram *message) {
    struct ue_listener *l = call->l;
    struct ue_handshake *h = &message->handshake;
    message->prefix.session_id = l->config.session_id;
    message->prefix.client_id = call->message.prefix.client_id;
    h->min_version = l->versions.min;
    h->version = version;
    h->network_version = l->config.network_version;
    h->features = l->config.network_features;
    *call->reply_bytes =
        ue_handshake_datagram_write(&call->context, message, &l->random, call->reply, UE_LISTENER_REPLY_BYTES);
    return *call->reply_bytes != 0 ? UE_LISTENER_REPLY : UE_LISTENER_NOTHING;
}

/* endpoint.md 2.1. */
static enum ue_listener_result reply_challenge(struct call *call) {
    struct ue_datagram message = {.handshake = {.type = UE_HANDSHAKE_CHALLENGE, .has_body = true}};
    message.handshake.sent_count = call->message.handshake.sent_count;
    ue_cookies_create(&call->l->cookies, call->now_ns, call->address, &message.handshake);
    return reply(call, call->version, &message);
}

/* An address without connection sends packets: perhaps a client whose address changed (endpoint.md 2.4). */
static enum ue_listener_result reply_restart_request(struct call *call) {
    struct ue_listener *l = call->l;
    if (!ue_restart_quota_spend(&l->restart_quota, call->now_ns, call->address)) {
        l->counters.restart_requests_withheld++;
        return UE_LISTENER_NOTHING;
    }
    struct ue_datagram message = {.handshake = {.type = UE_HANDSHAKE_RESTART_REQUEST, .restart = true}};
    message.handshake.sent_count = l->sent_count++;
    l->counters.restart_requests++;
    uint8_t version = l->versions.min;
    if (call->context.ids && version < UE_HANDSHAKE_VERSION_WITH_IDS) {
        version = UE_HANDSHAKE_VERSION_WITH_IDS;
    }
    return reply(call, version, &message);
}

static bool may_upgrade(struct ue_listener *l, uint64_t now_ns) {
    if (now_ns >= l->upgrades_end_ns) {
        l->upgrades_end_ns = now_ns + UPGRADE_WINDOW_NS;
        l->upgrades_left = UPGRADES_MAX;
    }
    if (l->upgrades_left == 0) {
        return false;
    }
    l->upgrades_left--;
    return true;
}

static struct ue_refusal version_refusal(const struct ue_handshake *h, bool has_versions) {
    return (struct ue_refusal){.reason = UE_REFUSAL_VERSION,
                               .has_versions = has_versions,
                               .min_version = h->min_version,
                               .version = h->version,
                               .has_network_version = has_versions && h->version >= UE_HANDSHAKE_VERSION_WITH_NETWORK,
                               .network_version = h->network_version};
}

/* endpoint.md 2.3. */
static enum ue_listener_result refuse_version(struct call *call) {
    struct ue_listener *l = call->l;
    const struct ue_handshake *h = &call->message.handshake;
    l->counters.bad_versions++;
    l->refusal = version_refusal(h, true);
    bool understands =
        h->version >= UE_HANDSHAKE_VERSION_WITH_UPGRADE && l->versions.max >= UE_HANDSHAKE_VERSION_WITH_UPGRADE;
    if (h->type != UE_HANDSHAKE_INITIAL || !understands || !may_upgrade(l, call->now_ns)) {
        return UE_LISTENER_NOTHING;
    }
    struct ue_datagram message = {.handshake = {.type = UE_HANDSHAKE_VERSION_UPGRADE}};
    message.handshake.sent_count = l->sent_count++;
    l->counters.upgrades++;
    return reply(call, l->versions.max, &message);
}

/* endpoint.md 2.2. */
static size_t write_ack(const struct ue_context *context, const struct ue_accepted *accepted, uint8_t sent_count,
                        struct ue_random *random, uint8_t *bytes) {
    if (context->profile.handshake == UE_HANDSHAKE_A0) {
        return 0;
    }
    struct ue_datagram message = {
        .prefix = {.session_id = accepted->session_id, .client_id = accepted->client_id},
        .handshake = {.type = UE_HANDSHAKE_ACK,
                      .min_version = accepted->min_version,
                      .version = accepted->version,
                      .sent_count = sent_count,
                      .network_version = accepted->network_version,
                      .features = accepted->network_features,
                      .has_body = true,
                      .secret_id = ACK_SECRET_ID,
                      .timestamp = ue_handshake_timestamp_bits(context, ACK_SECONDS)},
    };
    memcpy(message.handshake.cookie, accepted->cookie, sizeof accepted->cookie);
    return ue_handshake_datagram_write(context, &message, random, bytes, UE_LISTENER_REPLY_BYTES);
}

size_t ue_listener_ack(const struct ue_context *context, const struct ue_accepted *accepted, uint8_t *reply_to) {
    struct ue_context x = *context;
    x.direction = UE_SERVER_TO_CLIENT;
    x.ids = accepted->version >= UE_HANDSHAKE_VERSION_WITH_IDS;
    x.features = accepted->features;
    uint8_t seed[UE_SEED_BYTES] = {0}; /* only the tail comes from it, which nobody reads */
    struct ue_random random;
    memcpy(seed, accepted->cookie, sizeof accepted->cookie);
    ue_random_init(&random, seed);
    return write_ack(&x, accepted, 0, &random, reply_to);
}

/* ---- what comes in ---- */

/* Sets the version of the reply; false: this side supports no version of the client (endpoint.md 2.6). Versions before
   and after the ids (3) cannot read each other's messages, so nothing here compares them. */
static bool agree_on_version(struct call *call) {
    const struct ue_listener *l = call->l;
    const struct ue_handshake *h = &call->message.handshake;
    const struct ue_handshake_versions own = l->versions;
    call->version = h->version < own.max ? h->version : own.max;
    if (l->context.profile.handshake != UE_HANDSHAKE_V) {
        return true;
    }
    bool same_network = !l->config.enforce_network_version || h->version < UE_HANDSHAKE_VERSION_WITH_NETWORK ||
                        h->network_version == l->config.network_version;
    return h->min_version >= own.min && h->min_version <= own.max && h->min_version <= h->version && same_network;
}

static enum ue_listener_result refuse_message(struct ue_listener *l, uint64_t *counter, enum ue_refusal_reason reason) {
    ++*counter;
    l->refusal.reason = reason;
    return UE_LISTENER_NOTHING;
}

/* endpoint.md 2.2. */
static enum ue_listener_result on_response(struct call *call, struct ue_accepted *accepted) {
    struct ue_listener *l = call->l;
    const struct ue_handshake *h = &call->message.handshake;
    switch (ue_cookies_check(&l->cookies, call->now_ns, call->address, h)) {
    case UE_COOKIE_VALID: break;
    case UE_COOKIE_OLD: return refuse_message(l, &l->counters.old_cookies, UE_REFUSAL_OLD_COOKIE);
    case UE_COOKIE_BAD: return refuse_message(l, &l->counters.bad_cookies, UE_REFUSAL_BAD_COOKIE);
    }
    l->counters.accepted++;
    *accepted = (struct ue_accepted){
        .version = call->version,
        .min_version = l->versions.min,
        .network_version = l->config.network_version,
        .features = call->context.features,
        .network_features = l->config.network_features,
        .restarted = h->has_orig_cookie,
        .session_id = call->context.ids ? l->config.session_id : 0,
        .client_id = call->message.prefix.client_id,
    };
    memcpy(accepted->cookie, h->has_orig_cookie ? h->orig_cookie : h->cookie, sizeof accepted->cookie);
    if (l->context.profile.handshake != UE_HANDSHAKE_A0 && !accepted->restarted) {
        accepted->sequences = ue_cookie_sequences(h->cookie);
    }
    *call->reply_bytes = write_ack(&call->context, accepted, h->sent_count, &l->random, call->reply);
    return UE_LISTENER_ACCEPT;
}

static enum ue_listener_result on_handshake(struct call *call, struct ue_accepted *accepted) {
    struct ue_listener *l = call->l;
    enum ue_handshake_type type = call->message.handshake.type;
    l->counters.initials += type == UE_HANDSHAKE_INITIAL;
    l->counters.responses += type == UE_HANDSHAKE_RESPONSE;
    l->counters.restarts += type == UE_HANDSHAKE_RESTART_RESPONSE;
    if (!agree_on_version(call)) {
        return refuse_version(call);
    }
    if (type == UE_HANDSHAKE_INITIAL) {
        return reply_challenge(call);
    }
    if (call->context.ids && call->message.prefix.session_id != l->config.session_id) {
        return refuse_message(l, &l->counters.wrong_session, UE_REFUSAL_SESSION);
    }
    return on_response(call, accepted);
}

static enum ue_listener_result on_packet(struct call *call, bool may_restart) {
    struct ue_listener *l = call->l;
    if (l->context.profile.handshake < UE_HANDSHAKE_B || !may_restart) {
        return UE_LISTENER_NOTHING;
    }
    if (call->context.ids && call->message.prefix.session_id != l->config.session_id) {
        l->counters.wrong_session++;
        return UE_LISTENER_NOTHING;
    }
    return reply_restart_request(call);
}

/* Reads the prefix only. */
static bool read_prefix(const struct ue_context *x, const uint8_t *bytes, size_t size_bytes, struct ue_prefix *prefix) {
    size_t at = (size_t)x->settings.skip_bytes * 8;
    size_t need = at + x->settings.magic_bits + (x->ids ? 5 : 0) + 1;
    size_t end;
    *prefix = (struct ue_prefix){0};
    if (size_bytes == 0 || !ue_bits_last_set(bytes, (size_bytes - 1) * 8, size_bytes * 8, &end) || end < need) {
        return false;
    }
    prefix->magic = (uint32_t)ue_bits_load(bytes, size_bytes, at, x->settings.magic_bits);
    at += x->settings.magic_bits;
    if (x->ids) {
        prefix->session_id = (uint8_t)ue_bits_load(bytes, size_bytes, at, 2);
        prefix->client_id = (uint8_t)ue_bits_load(bytes, size_bytes, at + 2, 3);
    }
    prefix->is_handshake = ue_bits_load(bytes, size_bytes, need - 1, 1) != 0;
    return true;
}

static bool is_own_magic(const struct ue_listener *l, const struct ue_prefix *prefix) {
    const struct ue_settings *settings = &l->context.settings;
    return !l->config.verify_magic || prefix->magic == (settings->magic & ue_bits_mask(settings->magic_bits));
}

/* A packet does not show whether ids precede it: where both forms are allowed, a handshake message shows the form. */
static bool has_ids(const struct ue_listener *l, const uint8_t *bytes, size_t size_bytes) {
    struct ue_handshake_match shape;
    bool both = l->versions.min < UE_HANDSHAKE_VERSION_WITH_IDS && l->context.ids;
    return l->context.ids &&
           !(both && ue_profile_match_handshake(&l->context.settings, bytes, size_bytes, &shape) && !shape.ids);
}

/* Whether it is an Initial in a form that this side does not support: of another layout, or with or without ids where
   this side has them otherwise. It cannot be answered; the refusal says what the client supports. */
static bool refuse_other_form(struct ue_listener *l, const uint8_t *bytes, size_t size_bytes) {
    struct ue_handshake_match shape;
    if (!ue_profile_match_handshake(&l->context.settings, bytes, size_bytes, &shape) ||
        shape.type != UE_HANDSHAKE_INITIAL) {
        return false;
    }
    bool same_layout = false;
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        bool is_possible = (shape.profiles >> row & 1) != 0;
        same_layout |= is_possible && ue_profile_at(row)->handshake == l->context.profile.handshake;
    }
    bool both = l->versions.min < UE_HANDSHAKE_VERSION_WITH_IDS && l->context.ids;
    if (same_layout && (both || shape.ids == l->context.ids)) {
        return false;
    }
    struct ue_datagram message = {0};
    struct ue_context context = l->context;
    context.direction = UE_CLIENT_TO_SERVER;
    context.ids = shape.ids;
    bool has_versions = same_layout && l->context.profile.handshake == UE_HANDSHAKE_V &&
                        ue_handshake_datagram_read(&context, bytes, size_bytes, &message);
    l->counters.bad_versions++;
    l->refusal = version_refusal(&message.handshake, has_versions);
    return true;
}

/* endpoint.md 2.5. */
enum ue_listener_result ue_listener_receive(struct ue_listener *l, uint64_t now_ns, const struct ue_host *address,
                                            bool may_restart, const uint8_t *bytes, size_t size_bytes,
                                            uint8_t *reply_to, size_t *reply_bytes, struct ue_accepted *accepted) {
    struct call call = {.l = l, .now_ns = now_ns, .address = address, .reply = reply_to, .reply_bytes = reply_bytes};
    struct ue_prefix prefix;
    *reply_bytes = 0;
    l->refusal = (struct ue_refusal){0};
    if (refuse_other_form(l, bytes, size_bytes)) {
        return UE_LISTENER_NOTHING;
    }
    call.context = l->context;
    call.context.ids = has_ids(l, bytes, size_bytes);
    if (!read_prefix(&call.context, bytes, size_bytes, &prefix) || !is_own_magic(l, &prefix)) {
        l->counters.malformed++;
        return UE_LISTENER_NOTHING;
    }
    if (!prefix.is_handshake) {
        call.message.prefix = prefix;
        return on_packet(&call, may_restart);
    }
    call.context.direction = UE_CLIENT_TO_SERVER;
    if (!ue_handshake_datagram_read(&call.context, bytes, size_bytes, &call.message)) {
        l->counters.malformed++;
        return UE_LISTENER_NOTHING;
    }
    call.context.direction = UE_SERVER_TO_CLIENT;
    return on_handshake(&call, accepted);
}
