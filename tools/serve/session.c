/* SPDX-License-Identifier: MIT */
#include "tools/serve/session.h"

#include "tools/live/actor_message.h"

/* Of echoes that wait; a client that sends faster than it takes answers loses its connection. */
#define BACKLOG_BYTES (1u << 20)

struct ue_guest *ue_guest_new(const struct ue_service_options *options, struct ue_peer *peer) {
    struct ue_guest *guest = g_new0(struct ue_guest, 1);
    guest->options = options;
    guest->peer = peer;
    bool wraps = options->service == UE_SERVICE_SCENARIO && !options->no_login; /* an echo is wrapped already */
    ue_backlog_init(&guest->backlog, peer->conn, wraps, BACKLOG_BYTES);
    if (options->service == UE_SERVICE_SCENARIO) {
        guest->streams = ue_streams_new(options->scenario, UE_ROLE_SERVER);
    }
    return guest;
}

void ue_guest_free(struct ue_guest *guest) {
    if (guest != NULL) {
        ue_backlog_clear(&guest->backlog);
        ue_streams_free(guest->streams);
        g_free(guest);
    }
}

void ue_guest_join(struct ue_guest *guest, uint64_t now_ns) {
    bool is_scenario = guest->streams != NULL;
    uint32_t count = guest->options->no_login ? 0 : UE_SERVICE_CHANNELS;
    if (is_scenario) {
        count = ue_streams_channels(guest->options->scenario);
    }
    guest->joined_ns = now_ns;
    for (uint32_t i = 0; i < count; i++) {
        int64_t channel = is_scenario ? UE_SCENARIO_CHANNEL_FIRST + (int64_t)i : -1;
        guest->channel_count += actor_message_open(guest->peer->conn, now_ns, channel);
    }
}

void ue_guest_take(struct ue_guest *guest, uint64_t now_ns, const struct ue_event *bunch) {
    const struct ue_service_options *options = guest->options;
    struct ue_event message = *bunch;
    if (guest->streams != NULL && bunch->channel == 0) {
        return; /* what a client without login says when it leaves is not the scenario's */
    }
    message.data = options->no_login ? bunch->data : actor_message_unwrap(guest->peer->conn, bunch->data);
    guest->messages++;
    guest->bytes += message.data.bits / 8;
    if (guest->streams != NULL) {
        ue_streams_take(guest->streams, &message);
    } else if (options->service == UE_SERVICE_ECHO &&
               !ue_backlog_put(&guest->backlog, bunch->channel, bunch->reliable, bunch->data)) {
        ue_conn_close(guest->peer->conn, now_ns, UE_CLOSE_RPC_DOS);
    }
}

void ue_guest_work(struct ue_guest *guest, uint64_t now_ns) {
    bool plays = guest->streams != NULL && guest->joined_ns != 0 &&
                 now_ns - guest->joined_ns < guest->options->scenario->duration_ns;
    if (plays) {
        ue_streams_work(guest->streams, &guest->backlog, guest->channel_count);
    }
    ue_backlog_send(&guest->backlog, now_ns);
    if (ue_grace_is_over(&guest->sending, now_ns)) {
        ue_conn_close(guest->peer->conn, now_ns, UE_CLOSE_SOCKET_SEND_FAILURE);
    }
}

json_t *ue_guest_result(const struct ue_guest *guest) {
    json_t *result =
        json_pack("{s:I, s:I}", "messages", (json_int_t)guest->messages, "message_bytes", (json_int_t)guest->bytes);
    if (guest->streams != NULL) {
        json_t *played = ue_streams_result(guest->streams);
        json_object_update(result, played);
        json_decref(played);
    }
    return result;
}
