/* SPDX-License-Identifier: MIT */
/* How a connection begins: handshake, first sequences, admission (endpoint.md 1, 3, 5, 10). */
#include "tools/endpoint/core/connection.h"

#include <uerudp/seq.h>

static void init_notify(struct ue_conn *c, uint16_t in, uint16_t out) {
    if (!ue_conn_is_legacy(c)) {
        ue_notify_init(&c->notify, c->config.profile->acks, in, out, &c->share);
    }
}

/* The sequences of both sides are known (endpoint.md 10): in is the peer's first, out the own. */
void ue_conn_init_sequences(struct ue_conn *c, uint64_t now_ns, uint16_t in, uint16_t out) {
    int32_t mask = (int32_t)c->out_context.ch_seq_bound - 1;
    c->in_packet_id = (int64_t)in - 1;
    c->out_packet_id = out;
    c->out_ack_packet_id = (int64_t)out - 1;
    c->last_notified_id = (int64_t)out - 1;
    ue_channel_table_init(&c->channels, &c->share, in & mask, out & mask);
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
    ue_conn_begin_input(c);
    if (c->state != UE_CONN_INVALID) {
        return;
    }
    c->client_id = c->config.client_id & 7u;
    c->handshake.state = UE_CLIENT_HANDSHAKE_INITIALIZED; /* the client cannot start it again */
    ue_conn_init_sequences(c, now_ns, in, out);
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

static void set_accepted(struct ue_conn *c, uint64_t now_ns, const struct ue_accepted *accepted) {
    c->accepted = *accepted;
    c->answers_handshakes = true;
    c->connected_ns = now_ns;
    c->in_context.features = c->out_context.features = accepted->features;
    set_version(c, accepted->version, accepted->session_id, accepted->client_id);
}

void ue_conn_rebind(struct ue_conn *c, uint64_t now_ns, const struct ue_accepted *accepted) {
    ue_conn_begin_input(c);
    if (ue_conn_is_server(c) && ue_conn_is_up(c)) {
        set_accepted(c, now_ns, accepted);
        c->last_receive_ns = now_ns;
    }
}

void ue_conn_accept(struct ue_conn *c, uint64_t now_ns, const struct ue_accepted *accepted) {
    ue_conn_begin_input(c);
    if (c->state != UE_CONN_INVALID || !ue_conn_is_server(c)) {
        return;
    }
    set_accepted(c, now_ns, accepted);
    ue_conn_init_sequences(c, now_ns, accepted->sequences.client, accepted->sequences.server);
    come_up(c);
}

void ue_conn_send_handshake(struct ue_conn *c) {
    uint8_t bytes[sizeof c->handshake.pending];
    size_t size_bytes;
    while ((size_bytes = ue_client_handshake_pop(&c->handshake, bytes)) != 0) {
        c->counters.outbox_lost += !ue_output_queue_push_copy(&c->datagrams, bytes, size_bytes);
    }
}

void ue_conn_connect(struct ue_conn *c, uint64_t now_ns) {
    ue_conn_begin_input(c);
    if (c->state != UE_CONN_INVALID || ue_conn_is_server(c)) {
        return;
    }
    ue_conn_enter(c, UE_CONN_HANDSHAKE);
    c->last_receive_ns = now_ns;
    ue_client_handshake_start(&c->handshake, now_ns);
    ue_conn_send_handshake(c);
}

static void finish_handshake(struct ue_conn *c, uint64_t now_ns, enum ue_client_handshake_result result) {
    switch (result) {
    case UE_CLIENT_HANDSHAKE_CONNECTED:
        set_version(c, c->handshake.version, c->handshake.session_id, c->handshake.client_id);
        ue_conn_init_sequences(c, now_ns, c->handshake.sequences.server, c->handshake.sequences.client);
        come_up(c);
        break;
    case UE_CLIENT_HANDSHAKE_RESUMED:
        set_version(c, c->handshake.version, c->handshake.session_id, c->handshake.client_id);
        break;
    case UE_CLIENT_HANDSHAKE_OUTDATED: ue_conn_end(c, UE_CLOSE_OUTDATED_CLIENT); break;
    default: break;
    }
    ue_conn_send_handshake(c);
}

/* The client may have missed the Ack (endpoint.md 2). */
static void answer_handshake(struct ue_conn *c) {
    uint8_t reply[UE_LISTENER_REPLY_BYTES];
    if (!c->answers_handshakes) {
        return;
    }
    size_t size_bytes = ue_listener_ack(&c->out_context, &c->accepted, reply);
    if (size_bytes != 0) {
        ue_output_queue_push_copy(&c->datagrams, reply, size_bytes);
    }
}

void ue_conn_receive_handshake(struct ue_conn *c, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {
    c->counters.handshakes += ue_conn_is_up(c);
    if (ue_conn_is_server(c)) {
        answer_handshake(c);
        return;
    }
    if (c->state == UE_CONN_INVALID) {
        return;
    }
    finish_handshake(c, now_ns,
                     ue_client_handshake_receive(&c->handshake, now_ns, bytes, size_bytes, c->last_packet_ns));
}

void ue_conn_admit(struct ue_conn *c) {
    c->is_admitted = true;
    if (c->state == UE_CONN_PENDING) {
        ue_conn_enter(c, UE_CONN_OPEN);
    }
}
