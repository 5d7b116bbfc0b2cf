/* SPDX-License-Identifier: MIT */
#include "tools/serve/session.h"

#include "tools/live/actor_message.h"

/* Of echoes that wait; a client that sends faster than it takes answers loses its connection. */
#define BACKLOG_BYTES (1u << 20)

struct serve_session *serve_session_new(const struct serve_service_options *options, struct ue_peer *peer) {
    struct serve_session *guest = g_new0(struct serve_session, 1);
    guest->options = options;
    guest->peer = peer;
    bool wraps = options->service == SERVE_SERVICE_SCENARIO && !options->no_login; /* an echo is wrapped already */
    send_queue_init(&guest->backlog, peer->conn, wraps, BACKLOG_BYTES);
    if (options->service == SERVE_SERVICE_SCENARIO) {
        guest->streams = scenario_traffic_new(options->scenario, UE_ROLE_SERVER);
    }
    return guest;
}

void serve_session_free(struct serve_session *guest) {
    if (guest != NULL) {
        send_queue_clear(&guest->backlog);
        scenario_traffic_free(guest->streams);
        g_free(guest);
    }
}

void serve_session_start(struct serve_session *guest, uint64_t now_ns) {
    bool is_scenario = guest->streams != NULL;
    uint32_t count = guest->options->no_login ? 0 : SERVE_SERVICE_CHANNELS;
    if (is_scenario) {
        count = scenario_traffic_channel_count(guest->options->scenario);
    }
    guest->joined_ns = now_ns;
    for (uint32_t i = 0; i < count; i++) {
        int64_t channel = is_scenario ? SIM_SCENARIO_CHANNEL_FIRST + (int64_t)i : -1;
        guest->channel_count += actor_message_open(guest->peer->conn, now_ns, channel);
    }
}

void serve_session_receive(struct serve_session *guest, uint64_t now_ns, const struct ue_event *bunch) {
    const struct serve_service_options *options = guest->options;
    struct ue_event message = *bunch;
    if (guest->streams != NULL && bunch->channel == 0) {
        return; /* what a client without login says when it leaves is not the scenario's */
    }
    message.data = options->no_login ? bunch->data : actor_message_unwrap(guest->peer->conn, bunch->data);
    guest->messages++;
    guest->bytes += message.data.bits / 8;
    if (guest->streams != NULL) {
        scenario_traffic_receive(guest->streams, &message);
    } else if (options->service == SERVE_SERVICE_ECHO &&
               !send_queue_push(&guest->backlog, bunch->channel, bunch->reliable, bunch->data)) {
        ue_conn_close(guest->peer->conn, now_ns, UE_CLOSE_RPC_DOS);
    }
}

void serve_session_tick(struct serve_session *guest, uint64_t now_ns) {
    bool plays = guest->streams != NULL && guest->joined_ns != 0 &&
                 now_ns - guest->joined_ns < guest->options->scenario->duration_ns;
    if (plays) {
        scenario_traffic_tick(guest->streams, &guest->backlog, guest->channel_count);
    }
    send_queue_send(&guest->backlog, now_ns);
    if (live_error_timer_is_expired(&guest->sending, now_ns)) {
        ue_conn_close(guest->peer->conn, now_ns, UE_CLOSE_SOCKET_SEND_FAILURE);
    }
}

json_t *serve_session_result(const struct serve_session *guest) {
    json_t *result =
        json_pack("{s:I, s:I}", "messages", (json_int_t)guest->messages, "message_bytes", (json_int_t)guest->bytes);
    if (guest->streams != NULL) {
        json_t *played = scenario_traffic_result(guest->streams);
        json_object_update(result, played);
        json_decref(played);
    }
    return result;
}
