/* SPDX-License-Identifier: MIT */
/* Creation and end of a connection: configuration, defaults, memory. */
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
            c->encryption =
                i == 0 ? ue_encryption_new(c->config.key) : NULL; /* within another component's bits: not offered */
            return c->encryption != NULL;
        }
    }
    return true;
}

static bool init_parts(struct ue_conn *c) {
    ue_output_queue_init(&c->datagrams, &c->share, c->config.max_datagrams);
    ue_output_queue_init(&c->events, &c->share, c->config.max_events);
    ue_output_queue_init(&c->control_queue, &c->share, MAX_QUEUED_CONTROL);
    ue_order_cache_init(&c->order_cache, &c->share);
    ue_sent_packets_init(&c->sent_packets, &c->share);
    ue_conn_init_sequences(c, 0, 0, 0);
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
    ue_client_handshake_init(&c->handshake, &c->out_context, config, &c->random);
    return c;
}

void ue_conn_free(struct ue_conn *c) {
    if (c == NULL) {
        return;
    }
    struct ue_share share = c->share;
    ue_output_queue_free(&c->datagrams);
    ue_output_queue_free(&c->events);
    ue_output_queue_free(&c->control_queue);
    ue_order_cache_free(&c->order_cache);
    ue_sent_packets_free(&c->sent_packets);
    ue_channel_table_free(&c->channels);
    ue_legacy_free(&c->legacy);
    if (!ue_conn_is_legacy(c)) {
        ue_notify_free(&c->notify);
    }
    ue_send_buffer_discard(c);
    ue_encryption_free(c->encryption);
    ue_share_free_block(&share, c);
}
