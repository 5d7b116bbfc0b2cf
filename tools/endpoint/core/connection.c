/* SPDX-License-Identifier: MIT */
/* Creation and end of a connection: configuration, parts, memory. */
#include "tools/endpoint/core/connection.h"

#define MAX_QUEUED_CONTROL 32768
#define SPARE_EVENTS 4
#define SPARE_DATAGRAMS 1

void ue_conn_set_hook(struct ue_conn *c, ue_bunch_hook *hook, void *user) {
    c->receiver.hook.call = hook;
    c->receiver.hook.user = user;
}

static void init_context(struct ue_common *common) {
    bool is_server = ue_is_server(common);
    const struct ue_handshake_versions wished = {common->config.min_handshake_version,
                                                 common->config.max_handshake_version};
    ue_context_init(&common->context, common->config.profile, &common->config.settings);
    if (common->config.profile->handshake == UE_HANDSHAKE_V) {
        common->context.ids =
            ue_handshake_versions_of(common->config.profile, wished).max >= UE_HANDSHAKE_VERSION_WITH_IDS;
    }
    common->context.direction = is_server ? UE_SERVER_TO_CLIENT : UE_CLIENT_TO_SERVER;
}

/* Encrypts if it has a key and one of the handlers encrypts. False: libgcrypt failed. */
static bool init_encryption(struct ue_common *common) {
    enum ue_handler cipher = ue_handlers_cipher(&common->config.settings);
    if (common->config.key != NULL && cipher != UE_HANDLER_NONE) {
        common->encryption = ue_encryption_new(cipher, common->config.key);
        return common->encryption != NULL;
    }
    return true;
}

/* False: unusable settings. */
static bool init_common(struct ue_common *common, const struct ue_conn_config *config, const struct ue_share *share) {
    common->config = *config;
    common->share = *share;
    ue_output_queue_init(&common->events, &common->share, config->max_events, SPARE_EVENTS);
    ue_random_init(&common->random, config->seed);
    init_context(common);
    bool is_usable = init_encryption(common);
    common->config.key = NULL; /* the caller's bytes need not live on */
    common->config.seed = NULL;
    return ue_limits_init(&common->limits, &common->config, &common->context) && is_usable;
}

static void init_sender(struct ue_sender *s, struct ue_common *common, struct ue_channel_table *channels) {
    s->common = common;
    s->channels = channels;
    s->acked_sent_ns = UE_NO_TIME;
    s->burst_packet_id = UE_NO_PACKET;
    s->budget.net_speed = ue_net_speed(common->config.net_speed);
    ue_output_queue_init(&s->datagrams, &common->share, common->config.max_datagrams, SPARE_DATAGRAMS);
    ue_output_queue_init(&s->control_queue, &common->share, MAX_QUEUED_CONTROL, 0);
    ue_sent_packets_init(&s->sent_packets, &common->share);
}

static void init_receiver(struct ue_receiver *r, struct ue_sender *sender, struct ue_conn *c) {
    r->common = sender->common;
    r->channels = sender->channels;
    r->sender = sender;
    r->hook.conn = c;
    ue_order_cache_init(&r->order_cache, &r->common->share);
}

struct ue_conn *ue_conn_new(const struct ue_allocator *allocator, const struct ue_conn_config *config) {
    struct ue_share share;
    struct ue_conn_config filled = *config;
    if (config->profile == NULL) {
        return NULL;
    }
    ue_conn_config_fill_defaults(&filled);
    ue_share_init(&share, allocator, filled.memory_limit_bytes);
    struct ue_conn *c = ue_share_alloc(&share, sizeof *c);
    if (c == NULL) {
        return NULL;
    }
    memset(c, 0, sizeof *c);
    bool is_usable = init_common(&c->common, &filled, &share);
    init_sender(&c->sender, &c->common, &c->channels);
    init_receiver(&c->receiver, &c->sender, c);
    ue_conn_init_sequences(c, 0, 0, 0);
    if (!is_usable) {
        ue_conn_free(c);
        return NULL;
    }
    ue_client_handshake_init(&c->handshake.client, &c->common.context, config, &c->common.random);
    return c;
}

void ue_conn_free(struct ue_conn *c) {
    if (c == NULL) {
        return;
    }
    struct ue_share share = c->common.share;
    ue_output_queue_free(&c->sender.datagrams);
    ue_output_queue_free(&c->common.events);
    ue_output_queue_free(&c->sender.control_queue);
    ue_order_cache_free(&c->receiver.order_cache);
    ue_sent_packets_free(&c->sender.sent_packets);
    ue_channel_table_free(&c->channels);
    ue_legacy_free(&c->sender.legacy);
    if (!ue_is_legacy(&c->common)) {
        ue_notify_free(&c->sender.packet_notify);
    }
    ue_send_buffer_discard(&c->sender);
    ue_encryption_free(c->common.encryption);
    ue_share_free_block(&share, c);
}
