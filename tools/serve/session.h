/* SPDX-License-Identifier: MIT */
/* A server session: the service for one client that has logged in. It opens channels and receives messages. */
#ifndef UERUDP_TOOLS_SERVE_SESSION_H
#define UERUDP_TOOLS_SERVE_SESSION_H

#include <uerudp/server.h>
#include "tools/live/live_game.h"
#include "tools/live/send_queue.h"
#include "tools/live/transport.h"

enum serve_service { SERVE_SERVICE_ECHO, SERVE_SERVICE_SINK, SERVE_SERVICE_SCENARIO };

struct serve_service_options {
    enum serve_service service;
    const struct sim_scenario *scenario; /* of SERVE_SERVICE_SCENARIO */
    bool no_login;                       /* only the client opens channels, except for a scenario */
};

/* Channels that the services echo and sink open for each client. */
#define SERVE_SERVICE_CHANNELS 4

struct serve_session {
    const struct serve_service_options *options;
    struct ue_peer *peer;
    struct send_queue queue;
    struct byte_actors *actors; /* of the channels for bytes; NULL: none */
    struct live_game *game;     /* NULL: none, or not begun */
    struct live_error_timer sending;
    uint64_t joined_ns; /* 0: not logged in yet */
    uint64_t messages, bytes;
};

struct serve_session *serve_session_new(const struct serve_service_options *options, struct ue_peer *peer);
void serve_session_free(struct serve_session *session);

/* The client has logged in: opens its channels. */
void serve_session_start(struct serve_session *session, uint64_t now_ns);
/* An event of the connection, before it is passed as a message. */
void serve_session_handle_event(struct serve_session *session, uint64_t now_ns, const struct ue_event *event);
/* A message on a channel of the service. */
void serve_session_receive(struct serve_session *session, uint64_t now_ns, const struct ue_event *bunch);
/* Call it once a tick. */
void serve_session_tick(struct serve_session *session, uint64_t now_ns);
/* The result of the service, for the report. */
json_t *serve_session_result(const struct serve_session *session);

#endif
