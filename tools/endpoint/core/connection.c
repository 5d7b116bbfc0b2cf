/* SPDX-License-Identifier: MIT */
/* A connection from its creation to the end of its memory: configuration and parts; handshake, first sequences,
   admission (endpoint.md 1, 3, 5, 10). */
#include "tools/endpoint/core/connection.h"

#include <uerudp/seq.h>

#define MAX_QUEUED_CONTROL 32768
#define SPARE_EVENTS 4
#define SPARE_DATAGRAMS 1

/* ---- creation and end ---- */

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

void ue_conn_set_hook(struct ue_conn *c, ue_bunch_hook *hook, void *user) {
    c->receiver.hook.call = hook;
    c->receiver.hook.user = user;
}

/* ---- the beginning ---- */

static void init_notify(struct ue_sender *s, uint16_t in, uint16_t out) {
    if (!ue_is_legacy(s->common)) {
        ue_notify_init(&s->packet_notify, s->common->config.profile->acks, in, out, &s->common->share);
    }
}

/* The sequences of both sides are known (endpoint.md 10.1, 10.4): in is the peer's first, out the own. */
void ue_conn_init_sequences(struct ue_conn *c, uint64_t now_ns, uint16_t in, uint16_t out) {
    int32_t mask = (int32_t)c->common.context.ch_seq_bound - 1;
    c->receiver.in_packet_id = (int64_t)in - 1;
    c->sender.out_packet_id = out;
    c->sender.out_ack_packet_id = (int64_t)out - 1;
    c->sender.last_notified_id = (int64_t)out - 1;
    ue_channel_table_init(&c->channels, &c->common, in & mask, out & mask);
    ue_legacy_init(&c->sender.legacy, (int64_t)out - 1, &c->common.share);
    init_notify(&c->sender, ue_seq_of(in - 1), out);
    c->common.life.connected_ns = now_ns;
    c->receiver.last_receive_ns = now_ns;
    c->receiver.last_packet_ns = now_ns;
    c->sender.last_send_ns = now_ns;
    c->common.statistics.traffic.second_begin_ns = now_ns;
}

/* endpoint.md 1.1, 1.2, 1.5, 21.1. */
static void come_up(struct ue_conn *c) {
    bool has_control = (!ue_is_server(&c->common) || c->common.config.no_login) && !ue_has_internal_ack(&c->common);
    ue_enter_state(&c->common, ue_is_server(&c->common) ? UE_CONN_OPEN : UE_CONN_PENDING);
    if (has_control && ue_conn_open(c, UE_KIND_CONTROL, 0, NULL) != UE_OK) {
        ue_end(&c->common, UE_CLOSE_PENDING_CONNECTION_FAILURE);
    } else if (c->common.config.no_login) { /* without login, channel 0 carries nothing before the close */
        ue_conn_admit(c);
    }
}

/* endpoint.md 1.5. */
void ue_conn_adopt(struct ue_conn *c, uint64_t now_ns, uint16_t in, uint16_t out) {
    ue_conn_begin_input(c);
    if (c->common.life.state != UE_CONN_INVALID) {
        return;
    }
    c->common.client_id = c->common.config.client_id & 7u;
    c->handshake.client.state = UE_CLIENT_HANDSHAKE_INITIALIZED; /* the client cannot start it again */
    ue_conn_init_sequences(c, now_ns, in, out);
    come_up(c);
}

/* What the handshake agreed on changes the prefix of every packet. */
static void set_version(struct ue_common *common, uint8_t version, uint8_t session_id, uint8_t client_id) {
    bool ids = common->config.profile->handshake == UE_HANDSHAKE_V && version >= 3;
    common->context.ids = ids;
    common->session_id = session_id;
    common->client_id = client_id;
    ue_limits_init(&common->limits, &common->config, &common->context);
}

static void set_accepted(struct ue_conn *c, uint64_t now_ns, const struct ue_accepted *accepted) {
    c->handshake.accepted = *accepted;
    c->handshake.answers = true;
    c->common.life.connected_ns = now_ns;
    c->common.context.features = accepted->features;
    set_version(&c->common, accepted->version, accepted->session_id, accepted->client_id);
}

/* endpoint.md 1.3, 5.4. */
void ue_conn_rebind(struct ue_conn *c, uint64_t now_ns, const struct ue_accepted *accepted) {
    ue_conn_begin_input(c);
    if (ue_is_server(&c->common) && ue_is_up(&c->common)) {
        set_accepted(c, now_ns, accepted);
        c->receiver.last_receive_ns = now_ns;
    }
}

/* endpoint.md 1.2. */
void ue_conn_accept(struct ue_conn *c, uint64_t now_ns, const struct ue_accepted *accepted) {
    ue_conn_begin_input(c);
    if (c->common.life.state != UE_CONN_INVALID || !ue_is_server(&c->common)) {
        return;
    }
    set_accepted(c, now_ns, accepted);
    ue_conn_init_sequences(c, now_ns, accepted->sequences.client, accepted->sequences.server);
    come_up(c);
}

void ue_conn_send_handshake(struct ue_conn *c) {
    uint8_t bytes[sizeof c->handshake.client.pending];
    size_t size_bytes;
    while ((size_bytes = ue_client_handshake_pop(&c->handshake.client, bytes)) != 0) {
        c->common.statistics.counters.outbox_lost +=
            !ue_output_queue_push_copy(&c->sender.datagrams, bytes, size_bytes);
    }
}

/* endpoint.md 1.1. */
void ue_conn_connect(struct ue_conn *c, uint64_t now_ns) {
    ue_conn_begin_input(c);
    if (c->common.life.state != UE_CONN_INVALID || ue_is_server(&c->common)) {
        return;
    }
    ue_enter_state(&c->common, UE_CONN_HANDSHAKE);
    c->receiver.last_receive_ns = now_ns;
    ue_client_handshake_start(&c->handshake.client, now_ns);
    ue_conn_send_handshake(c);
}

/* endpoint.md 1.1, 1.3, 3.5. */
static void finish_handshake(struct ue_conn *c, uint64_t now_ns, enum ue_client_handshake_result result) {
    switch (result) {
    case UE_CLIENT_HANDSHAKE_CONNECTED:
        set_version(&c->common, c->handshake.client.version, c->handshake.client.session_id,
                    c->handshake.client.client_id);
        ue_conn_init_sequences(c, now_ns, c->handshake.client.sequences.server, c->handshake.client.sequences.client);
        come_up(c);
        break;
    case UE_CLIENT_HANDSHAKE_RESUMED:
        set_version(&c->common, c->handshake.client.version, c->handshake.client.session_id,
                    c->handshake.client.client_id);
        break;
    case UE_CLIENT_HANDSHAKE_OUTDATED: ue_end(&c->common, UE_CLOSE_OUTDATED_CLIENT); break;
    default: break;
    }
    ue_conn_send_handshake(c);
}

/* The client may have missed the Ack (endpoint.md 2.7). */
static void answer_handshake(struct ue_conn *c) {
    uint8_t reply[UE_LISTENER_REPLY_BYTES];
    if (!c->handshake.answers) {
        return;
    }
    size_t size_bytes = ue_listener_ack(&c->common.context, &c->handshake.accepted, reply);
    if (size_bytes != 0) {
        ue_output_queue_push_copy(&c->sender.datagrams, reply, size_bytes);
    }
}

/* endpoint.md 2.7, 8.2. */
void ue_conn_receive_handshake(struct ue_conn *c, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {
    c->common.statistics.counters.handshakes += ue_is_up(&c->common);
    if (ue_is_server(&c->common)) {
        answer_handshake(c);
        return;
    }
    if (c->common.life.state == UE_CONN_INVALID) {
        return;
    }
    finish_handshake(
        c, now_ns,
        ue_client_handshake_receive(&c->handshake.client, now_ns, bytes, size_bytes, c->receiver.last_packet_ns));
}

/* endpoint.md 1.4, 6.6. */
void ue_conn_admit(struct ue_conn *c) {
    if (!ue_is_up(&c->common)) {
        return;
    }
    c->common.life.is_admitted = true;
    if (c->common.life.state == UE_CONN_PENDING) {
        ue_enter_state(&c->common, UE_CONN_OPEN);
    }
}
