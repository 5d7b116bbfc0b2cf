/* SPDX-License-Identifier: MIT */
/* The life of a connection: creation, handshake, the way up (endpoint.md 1, 32). */
#include "tools/endpoint/core/connection.h"

#define SECOND_NS UINT64_C(1000000000)
#define MAX_CHANNELS 32767
#define MEMORY_LIMIT_BYTES ((size_t)4 << 20)
#define MAX_EVENTS 65536
#define MAX_DATAGRAMS 4096
#define MAX_QUEUED_CONTROL 32768
#define PARTIAL_MAX_BYTES 65536
#define NET_SPEED 100000

void ue_conn_set_hook(struct ue_conn *c, ue_bunch_hook *hook, void *user) {
    c->hook = hook;
    c->hook_user = user;
}

static void fill_size(size_t *value, size_t otherwise) {
    *value = *value != 0 ? *value : otherwise;
}

static void fill_u32(uint32_t *value, uint32_t otherwise) {
    *value = *value != 0 ? *value : otherwise;
}

static void fill_ns(uint64_t *value, uint64_t otherwise) {
    *value = *value != 0 ? *value : otherwise;
}

static void fill_defaults(struct ue_conn_config *config) {
    config->settings.internal_ack |= config->driver == UE_DRIVER_DEMO;
    config->any_channel |= config->no_login;
    fill_u32(&config->max_channels, MAX_CHANNELS);
    if (config->max_channels > config->profile->channel_bound) {
        config->max_channels = config->profile->channel_bound; /* no more can be written */
    }
    fill_size(&config->memory_limit_bytes, MEMORY_LIMIT_BYTES);
    fill_u32(&config->max_events, MAX_EVENTS);
    fill_u32(&config->max_datagrams, MAX_DATAGRAMS);
    fill_u32(&config->partial_max_bytes, PARTIAL_MAX_BYTES);
    fill_ns(&config->keep_alive_ns, SECOND_NS / 5);
    fill_ns(&config->connect_timeout_ns, 60 * SECOND_NS);
    fill_ns(&config->timeout_ns, 60 * SECOND_NS);
    if (config->net_speed == 0) {
        config->net_speed = NET_SPEED;
    }
}

static void init_contexts(struct ue_conn *c) {
    bool is_server = ue_conn_is_server(c);
    const struct ue_handshake_versions wished = {c->config.min_handshake_version, c->config.max_handshake_version};
    ue_context_init(&c->out_context, c->config.profile, &c->config.settings);
    if (c->config.profile->handshake == UE_HANDSHAKE_V) {
        c->out_context.ids = ue_handshake_versions_of(c->config.profile, wished).max >= UE_HANDSHAKE_VERSION_WITH_IDS;
    }
    c->in_context = c->out_context;
    c->out_context.direction = is_server ? UE_SERVER_TO_CLIENT : UE_CLIENT_TO_SERVER;
    c->in_context.direction = ue_direction_reverse(c->out_context.direction);
}

/* Encrypts when it has a key and the handlers say so. False: they say it in a way that cannot be spoken. */
static bool init_seal(struct ue_conn *c) {
    const enum ue_handler *handlers = c->config.settings.handlers;
    for (size_t i = 0; i < UE_HANDLERS_MAX && c->config.key != NULL; i++) {
        if (handlers[i] == UE_HANDLER_AESGCM) {
            c->seal =
                i == 0 ? ue_encryption_new(c->config.key) : NULL; /* within another component's bits: not offered */
            return c->seal != NULL;
        }
    }
    return true;
}

static void init_notify(struct ue_conn *c, uint16_t in, uint16_t out) {
    if (!ue_conn_is_legacy(c)) {
        ue_notify_init(&c->notify, c->config.profile->acks, in, out, &c->share);
    }
}

static bool init_parts(struct ue_conn *c) {
    ue_outbox_init(&c->datagrams, &c->share, c->config.max_datagrams);
    ue_outbox_init(&c->events, &c->share, c->config.max_events);
    ue_outbox_init(&c->control_queue, &c->share, MAX_QUEUED_CONTROL);
    ue_reorder_init(&c->reorder, &c->share);
    ue_sent_packets_init(&c->flight, &c->share);
    ue_lanes_init(&c->lanes, &c->share, 0, 0);
    ue_legacy_init(&c->legacy, 0, &c->share);
    init_notify(c, 0, 0);
    ue_random_init(&c->random, c->config.seed);
    c->budget.net_speed = ue_net_speed(c->config.net_speed);
    bool is_usable = init_seal(c);
    c->config.key = NULL; /* the caller's bytes need not live on */
    c->config.seed = NULL;
    return is_usable && ue_limits_init(&c->limits, &c->config, &c->out_context);
}

struct ue_conn *ue_conn_new(const struct ue_allocator *allocator, const struct ue_conn_config *config) {
    struct ue_share share;
    struct ue_conn_config filled = *config;
    if (config->profile == NULL) {
        return NULL;
    }
    fill_defaults(&filled);
    ue_share_init(&share, allocator, filled.memory_limit_bytes);
    struct ue_conn *c = ue_share_alloc(&share, sizeof *c);
    if (c == NULL) {
        return NULL;
    }
    memset(c, 0, sizeof *c);
    c->config = filled;
    c->share = share;
    c->acked_sent_ns = UE_NO_TIME;
    c->burst_packet_id = UE_NO_PACKET;
    init_contexts(c);
    if (!init_parts(c)) {
        ue_conn_free(c);
        return NULL;
    }
    ue_client_handshake_init(&c->shake, &c->out_context, config, &c->random);
    return c;
}

void ue_conn_free(struct ue_conn *c) {
    if (c == NULL) {
        return;
    }
    struct ue_share share = c->share;
    ue_outbox_free(&c->datagrams);
    ue_outbox_free(&c->events);
    ue_outbox_free(&c->control_queue);
    ue_reorder_free(&c->reorder);
    ue_sent_packets_free(&c->flight);
    ue_lanes_free(&c->lanes);
    ue_legacy_free(&c->legacy);
    if (!ue_conn_is_legacy(c)) {
        ue_notify_free(&c->notify);
    }
    ue_send_buffer_discard(c);
    ue_encryption_free(c->seal);
    ue_share_free_block(&share, c);
}

/* The sequences of both sides are known (endpoint.md 10): in is the peer's first, out the own. */
static void init_sequences(struct ue_conn *c, uint64_t now_ns, uint16_t in, uint16_t out) {
    int32_t mask = (int32_t)c->out_context.ch_seq_bound - 1;
    c->in_packet_id = (int64_t)in - 1;
    c->out_packet_id = out;
    c->out_ack_packet_id = (int64_t)out - 1;
    c->last_notified_id = (int64_t)out - 1;
    ue_lanes_init(&c->lanes, &c->share, in & mask, out & mask);
    ue_legacy_init(&c->legacy, (int64_t)out - 1, &c->share);
    init_notify(c, ue_seq_of(in - 1), out);
    c->connected_ns = now_ns;
    c->last_receive_ns = now_ns;
    c->last_packet_ns = now_ns;
    c->last_send_ns = now_ns;
    c->traffic.second_begin_ns = now_ns;
}

static void come_up(struct ue_conn *c) {
    uint32_t opened;
    bool has_control = (!ue_conn_is_server(c) || c->config.no_login) && !ue_conn_has_internal_ack(c);
    ue_conn_enter(c, ue_conn_is_server(c) ? UE_CONN_OPEN : UE_CONN_PENDING);
    if (has_control && ue_conn_open(c, UE_KIND_CONTROL, 0, &opened) != UE_OK) {
        ue_conn_end(c, UE_CLOSE_PENDING_CONNECTION_FAILURE);
    } else if (c->config.no_login) { /* without login, channel 0 carries nothing before the close */
        ue_conn_admit(c);
    }
}

void ue_conn_adopt(struct ue_conn *c, uint64_t now_ns, uint16_t in, uint16_t out) {
    ue_conn_settle(c);
    if (c->state != UE_CONN_INVALID) {
        return;
    }
    c->client_id = c->config.client_id & 7u;
    c->shake.state = UE_CLIENT_HANDSHAKE_INITIALIZED; /* the client cannot start it again */
    init_sequences(c, now_ns, in, out);
    come_up(c);
}

/* What the handshake agreed on changes the prefix of every packet. */
static void set_version(struct ue_conn *c, uint8_t version, uint8_t session_id, uint8_t client_id) {
    bool ids = c->config.profile->handshake == UE_HANDSHAKE_V && version >= 3;
    c->out_context.ids = c->in_context.ids = ids;
    c->session_id = session_id;
    c->client_id = client_id;
    ue_limits_init(&c->limits, &c->config, &c->out_context);
}

static void take_accepted(struct ue_conn *c, uint64_t now_ns, const struct ue_accepted *accepted) {
    c->accepted = *accepted;
    c->answers_handshakes = true;
    c->connected_ns = now_ns;
    c->in_context.features = c->out_context.features = accepted->features;
    set_version(c, accepted->version, accepted->session_id, accepted->client_id);
}

void ue_conn_rebind(struct ue_conn *c, uint64_t now_ns, const struct ue_accepted *accepted) {
    ue_conn_settle(c);
    if (ue_conn_is_server(c) && ue_conn_is_up(c)) {
        take_accepted(c, now_ns, accepted);
        c->last_receive_ns = now_ns;
    }
}

void ue_conn_accept(struct ue_conn *c, uint64_t now_ns, const struct ue_accepted *accepted) {
    ue_conn_settle(c);
    if (c->state != UE_CONN_INVALID || !ue_conn_is_server(c)) {
        return;
    }
    take_accepted(c, now_ns, accepted);
    init_sequences(c, now_ns, accepted->sequences.client, accepted->sequences.server);
    come_up(c);
}

void ue_conn_send_handshake(struct ue_conn *c) {
    uint8_t bytes[sizeof c->shake.pending];
    size_t size_bytes;
    while ((size_bytes = ue_client_handshake_pop(&c->shake, bytes)) != 0) {
        c->counters.outbox_lost += !ue_outbox_copy(&c->datagrams, bytes, size_bytes);
    }
}

void ue_conn_connect(struct ue_conn *c, uint64_t now_ns) {
    ue_conn_settle(c);
    if (c->state != UE_CONN_INVALID || ue_conn_is_server(c)) {
        return;
    }
    ue_conn_enter(c, UE_CONN_HANDSHAKE);
    c->last_receive_ns = now_ns;
    ue_client_handshake_start(&c->shake, now_ns);
    ue_conn_send_handshake(c);
}

void ue_conn_finish_handshake(struct ue_conn *c, uint64_t now_ns, enum ue_client_handshake_result result) {
    switch (result) {
    case UE_CLIENT_HANDSHAKE_CONNECTED:
        set_version(c, c->shake.version, c->shake.session_id, c->shake.client_id);
        init_sequences(c, now_ns, c->shake.sequences.server, c->shake.sequences.client);
        come_up(c);
        break;
    case UE_CLIENT_HANDSHAKE_RESUMED: set_version(c, c->shake.version, c->shake.session_id, c->shake.client_id); break;
    case UE_CLIENT_HANDSHAKE_OUTDATED: ue_conn_end(c, UE_CLOSE_OUTDATED_CLIENT); break;
    default: break;
    }
    ue_conn_send_handshake(c);
}

void ue_conn_admit(struct ue_conn *c) {
    c->is_admitted = true;
    if (c->state == UE_CONN_PENDING) {
        ue_conn_enter(c, UE_CONN_OPEN);
    }
}
