/* SPDX-License-Identifier: MIT */
#include "tools/serve/session.h"

#include "tools/live/byte_actors.h"

/* of echoes in the send queue; a client that sends faster than it receives loses its connection */
#define QUEUE_BYTES (1u << 20)

static bool is_game(const struct serve_session *session) {
    return session->options->service == SERVE_SERVICE_SCENARIO && session->options->scenario->game;
}

struct serve_session *serve_session_new(const struct serve_service_options *options, struct ue_peer *peer) {
    struct serve_session *session = g_new0(struct serve_session, 1);
    session->options = options;
    session->peer = peer;
    send_queue_init(&session->queue, peer->conn, !options->no_login, QUEUE_BYTES);
    if (options->service == SERVE_SERVICE_SCENARIO && !options->scenario->game) {
        session->traffic = scenario_traffic_new(options->scenario, UE_ROLE_SERVER);
    }
    return session;
}

void serve_session_free(struct serve_session *session) {
    if (session != NULL) {
        send_queue_clear(&session->queue);
        scenario_traffic_free(session->traffic);
        byte_actors_free(session->actors);
        sim_game_free(session->game);
        g_free(session);
    }
}

void serve_session_start(struct serve_session *session, uint64_t now_ns) {
    bool is_scenario = session->traffic != NULL;
    uint32_t count = session->options->no_login ? 0 : SERVE_SERVICE_CHANNELS;
    if (is_scenario) {
        count = scenario_traffic_channel_count(session->options->scenario);
    }
    session->joined_ns = now_ns;
    if (is_game(session)) {
        const struct sim_game_config config = sim_scenario_game(session->options->scenario, UE_ROLE_SERVER);
        session->game = sim_game_new(session->peer->conn, &config, NULL, NULL);
        return;
    }
    session->actors = count != 0 ? byte_actors_new(session->peer->conn, count) : NULL;
}

void serve_session_handle_event(struct serve_session *session, uint64_t now_ns, const struct ue_event *event) {
    if (session->game != NULL && sim_game_event(session->game, now_ns, event) != NULL) {
        ue_conn_close(session->peer->conn, now_ns, UE_CLOSE_CORRUPT_DATA);
    }
    if (session->actors != NULL) {
        byte_actors_event(session->actors, event);
    }
}

void serve_session_receive(struct serve_session *session, uint64_t now_ns, const struct ue_event *bunch) {
    const struct serve_service_options *options = session->options;
    bool is_scenario = options->service == SERVE_SERVICE_SCENARIO;
    if (is_scenario && bunch->channel == 0) {
        return; /* the messages of a client that leaves without login are not part of the scenario */
    }
    struct ue_event message = *bunch;
    bool is_call = !options->no_login && byte_call_read(session->peer->conn, bunch->data, &message.data);
    session->messages++;
    session->bytes += message.data.bits / 8;
    if (session->traffic != NULL) {
        scenario_traffic_receive(session->traffic, &message);
    } else if (options->service == SERVE_SERVICE_ECHO) {
        session->queue.wraps = is_call; /* other data returns as it came */
        if (!send_queue_push(&session->queue, bunch->channel, bunch->reliable, message.data)) {
            ue_conn_close(session->peer->conn, now_ns, UE_CLOSE_RPC_DOS);
        }
    }
}

void serve_session_tick(struct serve_session *session, uint64_t now_ns) {
    if (session->game != NULL) {
        sim_game_tick(session->game, now_ns, now_ns - session->joined_ns >= session->options->scenario->duration_ns);
    }
    if (session->actors != NULL) {
        byte_actors_tick(session->actors, now_ns);
    }
    bool plays = session->traffic != NULL && session->joined_ns != 0 &&
                 now_ns - session->joined_ns < session->options->scenario->duration_ns;
    if (plays) {
        scenario_traffic_tick(session->traffic, &session->queue,
                              byte_actors_are_open(session->actors) ? session->actors->count : 0);
    }
    send_queue_send(&session->queue, now_ns);
    if (live_error_timer_is_expired(&session->sending, now_ns)) {
        ue_conn_close(session->peer->conn, now_ns, UE_CLOSE_SOCKET_SEND_FAILURE);
    }
}

json_t *serve_session_result(const struct serve_session *session) {
    json_t *result =
        json_pack("{s:I, s:I}", "messages", (json_int_t)session->messages, "message_bytes", (json_int_t)session->bytes);
    if (session->traffic != NULL) {
        json_object_update_new(result, scenario_traffic_result(session->traffic));
    } else if (is_game(session)) {
        json_object_update_new(result, scenario_traffic_game_result(session->options->scenario, session->game));
    }
    return result;
}
