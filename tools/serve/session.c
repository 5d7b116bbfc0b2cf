/* SPDX-License-Identifier: MIT */
#include "tools/serve/session.h"

#include "tools/live/byte_actors.h"

/* of echoes in the send queue; a client that sends faster than it receives loses its connection */
#define QUEUE_BYTES (1u << 20)

struct serve_session *serve_session_new(const struct serve_service_options *options, struct ue_peer *peer) {
    struct serve_session *session = g_new0(struct serve_session, 1);
    session->options = options;
    session->peer = peer;
    send_queue_init(&session->queue, peer->conn, QUEUE_BYTES);
    return session;
}

void serve_session_free(struct serve_session *session) {
    if (session != NULL) {
        send_queue_clear(&session->queue);
        byte_actors_free(session->actors);
        live_game_free(session->game);
        g_free(session);
    }
}

static bool start_service(struct serve_session *session) {
    struct ue_conn *conn = session->peer->conn;
    if (session->options->service == SERVE_SERVICE_SCENARIO) {
        session->game = live_game_new(session->options->scenario, UE_ROLE_SERVER, conn);
        return session->game != NULL;
    }
    session->actors = session->options->no_login ? NULL : byte_actors_new(conn, SERVE_SERVICE_CHANNELS);
    return session->actors != NULL || session->options->no_login;
}

void serve_session_start(struct serve_session *session, uint64_t now_ns) {
    session->joined_ns = now_ns;
    if (!start_service(session)) {
        ue_conn_close(session->peer->conn, now_ns, UE_CLOSE_CLEANUP);
    }
}

void serve_session_handle_event(struct serve_session *session, uint64_t now_ns, const struct ue_event *event) {
    if (session->game != NULL && live_game_event(session->game, now_ns, event) != NULL) {
        ue_conn_close(session->peer->conn, now_ns, UE_CLOSE_CORRUPT_DATA);
    }
    if (session->actors != NULL) {
        byte_actors_event(session->actors, event);
    }
}

void serve_session_receive(struct serve_session *session, uint64_t now_ns, const struct ue_event *bunch) {
    const struct serve_service_options *options = session->options;
    if (options->service == SERVE_SERVICE_SCENARIO && bunch->channel == 0) {
        return; /* the messages of a client that leaves without login are not part of the scenario */
    }
    struct ue_view message = bunch->data;
    bool is_call = session->actors != NULL && byte_call_read(session->peer->conn, bunch->data, &message);
    session->messages++;
    session->bytes += message.bits / 8;
    /* what is no call returns as it came */
    if (options->service == SERVE_SERVICE_ECHO &&
        !send_queue_push(&session->queue, bunch->channel, bunch->reliable, is_call, message)) {
        ue_conn_close(session->peer->conn, now_ns, UE_CLOSE_RPC_DOS);
    }
}

void serve_session_tick(struct serve_session *session, uint64_t now_ns) {
    if (session->game != NULL) {
        live_game_tick(session->game, now_ns, now_ns - session->joined_ns >= session->options->scenario->duration_ns);
    }
    if (session->actors != NULL) {
        byte_actors_tick(session->actors, now_ns);
    }
    send_queue_send(&session->queue, now_ns);
    if (live_error_timer_is_expired(&session->sending, now_ns)) {
        ue_conn_close(session->peer->conn, now_ns, UE_CLOSE_SOCKET_SEND_FAILURE);
    }
}

json_t *serve_session_result(const struct serve_session *session) {
    json_t *result =
        json_pack("{s:I, s:I}", "messages", (json_int_t)session->messages, "message_bytes", (json_int_t)session->bytes);
    if (session->options->service == SERVE_SERVICE_SCENARIO) {
        json_object_update_new(result, live_game_result(session->options->scenario, session->game));
    }
    return result;
}
