/* SPDX-License-Identifier: MIT */
/* uerudp serve: a server that accepts logins and plays a scenario, or returns or discards messages. */
#include <string.h>
#include <uerudp/time_ns.h>

#include "tools/cli/command_line.h"
#include "tools/cli/wire_options.h"
#include "tools/events/server_log.h"
#include "tools/live/endpoint_report.h"
#include "tools/net/event_loop.h"
#include "tools/serve/protection_options.h"
#include "tools/serve/refusals.h"
#include "tools/serve/server_report.h"

/* A flood must leave time for ticks, and replies must be sent before too many are queued. */
#define DATAGRAMS_PER_CALL 4096
#define DATAGRAMS_UNANSWERED_MAX 128
#define CLIENTS_DEFAULT 256
#define CLIENTS_MAX 65536

struct serve {
    struct live_options live;
    struct serve_service_options service;
    struct serve_protection protection;
    gint64 port_number, max_clients;
    const char *bind, *map, *game, *mode, *scenario;
    gboolean once;

    struct live_transport *port;
    struct event_loop *loop;
    struct ue_server *server;
    struct server_log *log; /* NULL: no log */
    struct serve_refusals refusals;
    uint64_t begun_ns, now_ns;
    uint32_t unanswered; /* datagrams received since replies were sent */
    bool is_stopping;
    uint8_t bytes[LIVE_TRANSPORT_DATAGRAM_BYTES];
};

/* ---- options ---- */

static const char description[] =
    "Prints \"listening on ADDRESS:PORT\" when it is ready, then each client that connects, logs in or leaves, with "
    "its statistics, and at the end what it refused. SIGINT or SIGTERM closes all connections and ends it.\n\n"
    "Modes: scenario (default) plays the server's side of a scenario of the simulator, by default game, with each "
    "client that runs uerudp connect; echo opens four actor channels for each client and returns every message on its "
    "channel; sink opens them and only counts.\n\n"
    "Exit status: 0 success, 2 wrong arguments, or a port, file or line that could not be opened or written.\n\n"
    "Examples:\n"
    "  uerudp serve\n"
    "  uerudp serve --port 0 --bind ::1 --once --pcap session.pcapng\n"
    "  uerudp serve --generation 4.26 --loss 0.05 --jitter 20 --json | jq -c 'select(.event == \"left\")'";

static void add_options(struct serve *s, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"port", 0, 0, G_OPTION_ARG_INT64, &s->port_number, "UDP port; default 7777, 0 for any free port", "PORT"},
        {"bind", 0, 0, G_OPTION_ARG_STRING, &s->bind, "address to listen on; default all IPv4 and IPv6 addresses",
         "ADDRESS"},
        {"mode", 0, 0, G_OPTION_ARG_STRING, &s->mode, "scenario (default), echo or sink", "MODE"},
        {"scenario", 0, 0, G_OPTION_ARG_STRING, &s->scenario, "the scenario to play, which is a game; default game",
         "NAME"},
        {"map", 0, 0, G_OPTION_ARG_STRING, &s->map, "the map in Welcome; default /Game/Maps/Entry", "MAP"},
        {"game", 0, 0, G_OPTION_ARG_STRING, &s->game, "the game mode in Welcome; default /Script/Engine.GameModeBase",
         "CLASS"},
        {"max-clients", 0, 0, G_OPTION_ARG_INT64, &s->max_clients, "maximum number of clients; default 256", "NUMBER"},
        {"once", 0, 0, G_OPTION_ARG_NONE, &s->once, "end when the first client has left", NULL},
        {0},
    };
    cli_add_options(context, "What to serve:", entries, NULL);
    serve_protection_add(&s->protection, context);
    live_options_add(&s->live, context);
}

static bool resolve_scenario(struct serve *s) {
    s->service.scenario = live_game_find(s->scenario);
    if (s->service.scenario != NULL) {
        s->live.driver = s->service.scenario->driver;
    }
    return s->service.scenario != NULL;
}

static bool resolve_mode(struct serve *s) {
    static const char *const modes[] = {
        [SERVE_SERVICE_ECHO] = "echo", [SERVE_SERVICE_SINK] = "sink", [SERVE_SERVICE_SCENARIO] = "scenario"};
    const char *mode = s->mode != NULL ? s->mode : "scenario";
    if (s->scenario == NULL) {
        s->scenario = "game";
    }
    for (size_t i = 0; i < G_N_ELEMENTS(modes); i++) {
        if (strcmp(modes[i], mode) == 0) {
            s->service.service = (enum serve_service)i;
            return i != SERVE_SERVICE_SCENARIO || resolve_scenario(s);
        }
    }
    return cli_error("--mode=%s: must be echo, sink or scenario", mode);
}

static bool resolve(struct serve *s, int argc) {
    if (argc != 1) {
        return cli_error("serve has no arguments, only options; see uerudp serve --help");
    }
    if (s->port_number < 0 || s->port_number > UINT16_MAX) {
        return cli_error("--port=%" G_GINT64_FORMAT ": not a port", s->port_number);
    }
    if (s->max_clients < 1 || s->max_clients > CLIENTS_MAX) {
        return cli_error("--max-clients=%" G_GINT64_FORMAT ": not between 1 and %d", s->max_clients, CLIENTS_MAX);
    }
    s->service.no_login = s->live.no_login;
    return resolve_mode(s) && serve_protection_resolve(&s->protection) && live_options_resolve(&s->live);
}

/* ---- events ---- */

static void handle_state(struct serve *s, struct ue_peer *peer, const struct ue_event *event) {
    if (event->state != UE_CONN_CLOSED) {
        return;
    }
    serve_report_left(s->live.json, peer, event->reason, s->now_ns);
    serve_session_free(peer->user);
    peer->user = NULL;
    if (s->once) {
        s->is_stopping = true;
    }
}

static struct serve_session *session_of(struct serve *s, struct ue_peer *peer) {
    if (peer->user == NULL && ue_conn_state(peer->conn) != UE_CONN_CLOSED) {
        peer->user = serve_session_new(&s->service, peer);
        serve_report_connected(s->live.json, peer);
    }
    return peer->user;
}

/* A client without login may send its first bunches before the tick that would find it. */
static void handle_events(struct serve *s) {
    struct ue_peer *peer;
    struct ue_event event;
    while (ue_server_next_event(s->server, &peer, &event)) {
        bool is_message = event.type == UE_EVENT_BUNCH && (event.channel != 0 || s->live.no_login);
        struct serve_session *session = is_message ? session_of(s, peer) : NULL;
        server_log_write_event(s->log, peer, &event);
        if (peer->user != NULL) {
            serve_session_handle_event(peer->user, s->now_ns, &event);
        }
        if (event.type == UE_EVENT_STATE) {
            handle_state(s, peer, &event);
        } else if (session != NULL) {
            serve_session_receive(session, s->now_ns, &event);
        }
    }
}

static void send_all(struct serve *s) {
    struct ue_host to;
    struct ue_bytes datagram;
    while (ue_server_next_datagram(s->server, &to, &datagram)) {
        struct net_address address = serve_address_from_host(&to);
        server_log_write_datagram(s->log, ue_server_find(s->server, &to), true, datagram.bytes, datagram.size_bytes);
        live_transport_send(s->port, s->now_ns, &address, datagram.bytes, datagram.size_bytes);
    }
    s->unanswered = 0;
    event_loop_wake_at(s->loop, live_transport_run(s->port, s->now_ns));
}

static void on_sent(void *user, const struct net_address *to, enum net_socket_result result) {
    struct serve *s = user;
    const struct ue_host address = serve_host_from_address(to);
    struct ue_peer *peer = ue_server_find(s->server, &address);
    if (peer != NULL && peer->user != NULL) {
        live_error_timer_update(&((struct serve_session *)peer->user)->sending, s->now_ns, result);
    }
}

/* ---- the loop ---- */

static enum net_socket_result receive_one(struct serve *s) {
    struct net_address from;
    size_t size_bytes;
    enum net_socket_result result = live_transport_receive(s->port, &from, s->bytes, &size_bytes);
    const struct ue_host address = serve_host_from_address(&from);
    if (result == NET_SOCKET_DONE) {
        ue_server_receive(s->server, s->now_ns, &address, s->bytes, size_bytes);
        const struct ue_refusal refusal = ue_server_refusal(s->server);
        serve_refusals_report(&s->refusals, s->now_ns, &address, &refusal);
        server_log_write_datagram(s->log, ue_server_find(s->server, &address), false, s->bytes, size_bytes);
    } else if (result == NET_SOCKET_UNREACHABLE) {
        ue_server_unreachable(s->server, s->now_ns, &address);
    }
    return result;
}

/* Replies wait for the tick, as in the engine, unless there are many: looking for them costs time for each
   connection. */
static void on_receive(void *user) {
    struct serve *s = user;
    s->now_ns = event_loop_now_ns();
    for (uint32_t i = 0; i < DATAGRAMS_PER_CALL && receive_one(s) != NET_SOCKET_WOULD_BLOCK; i++) {
        if (++s->unanswered == DATAGRAMS_UNANSWERED_MAX) {
            handle_events(s);
            send_all(s);
        }
    }
}

static void work_for(struct serve *s, struct ue_peer *peer) {
    if (ue_conn_state(peer->conn) == UE_CONN_CLOSED) {
        return;
    }
    struct serve_session *session = session_of(s, peer);
    if (session->joined_ns == 0 && (s->live.no_login || ue_login_status(peer->login)->state == UE_LOGIN_DONE)) {
        serve_report_joined(s->live.json, peer);
        serve_session_start(session, s->now_ns);
    }
    serve_session_tick(session, s->now_ns);
}

static void close_all(struct serve *s) {
    for (uint32_t i = 0; i < ue_server_count(s->server); i++) {
        ue_conn_close(ue_server_peer(s->server, i)->conn, s->now_ns, UE_CLOSE_HOST_CLOSED);
    }
}

static void on_tick(void *user) {
    struct serve *s = user;
    on_receive(s);
    ue_server_end_receive(s->server, s->now_ns);
    handle_events(s);
    for (uint32_t i = 0; i < ue_server_count(s->server); i++) {
        work_for(s, ue_server_peer(s->server, i));
    }
    if (s->is_stopping) {
        close_all(s);
    }
    handle_events(s);
    send_all(s);
    ue_server_tick(s->server, s->now_ns);
    handle_events(s);
    send_all(s);
    server_log_tick(s->log, s->server);
    if (live_report_progress_is_due()) {
        serve_report_progress(s->server, s->port, (s->now_ns - s->begun_ns) / UE_NS_PER_S);
    }
    if (s->is_stopping && live_transport_run(s->port, s->now_ns) == UINT64_MAX) {
        event_loop_quit(s->loop);
    }
}

static void on_wake(void *user) {
    struct serve *s = user;
    event_loop_wake_at(s->loop, live_transport_run(s->port, event_loop_now_ns()));
}

static void on_stop(void *user) {
    struct serve *s = user;
    s->is_stopping = true;
}

/* ---- start and end ---- */

static bool open_port(struct serve *s) {
    GError *error = NULL;
    struct net_socket *socket = net_socket_listen(s->bind, (uint16_t)s->port_number, &error);
    if (socket == NULL) {
        return cli_error_free(error);
    }
    s->port = live_transport_new(socket, &s->live);
    return s->port != NULL;
}

static bool open_server(struct serve *s) {
    struct ue_server_config config = {
        .conn = {.role = UE_ROLE_SERVER},
        .login = {.map = s->map != NULL ? s->map : "/Game/Maps/Entry",
                  .game = s->game != NULL ? s->game : "/Script/Engine.GameModeBase",
                  .encryption_required = s->live.has_key},
        .max_connections = (uint32_t)s->max_clients,
    };
    live_options_configure(&s->live, &config.conn);
    config.conn.report_packets = true; /* for the replication of actors */
    config.login.beacon_guid = SIM_GAME_BEACON_GUID;
    serve_protection_configure(&s->protection, s->live.ticks_per_second, &config);
    s->server = ue_server_new(NULL, &config, event_loop_now_ns());
    if (s->server == NULL) {
        return cli_error("a server cannot run with these settings");
    }
    live_transport_set_sent_callback(s->port, on_sent, s);
    return true;
}

static bool open_log(struct serve *s) {
    s->log = s->live.events != NULL ? server_log_open(&s->live) : NULL;
    return s->live.events == NULL || s->log != NULL;
}

static enum cli_exit run(struct serve *s) {
    const struct event_loop_callbacks hooks = {
        .user = s, .receive = on_receive, .tick = on_tick, .wake = on_wake, .stop = on_stop};
    if (!open_port(s) || !open_server(s) || !open_log(s)) {
        return CLI_EXIT_UNUSABLE;
    }
    live_report_start(s->live.json);
    s->begun_ns = event_loop_now_ns();
    s->loop = event_loop_new(&hooks, live_transport_socket(s->port), s->live.ticks_per_second);
    serve_refusals_init(&s->refusals, s->live.json);
    live_report_listening(s->live.json, live_transport_socket(s->port));
    event_loop_run(s->loop);
    serve_report_summary(s->live.json, s->server, &s->refusals, s->port);
    return CLI_EXIT_OK;
}

static void free_server(struct serve *s) {
    for (uint32_t i = 0; s->server != NULL && i < ue_server_count(s->server); i++) {
        serve_session_free(ue_server_peer(s->server, i)->user);
    }
    g_clear_pointer(&s->server, ue_server_free);
}

static bool clear(struct serve *s) {
    if (s->loop != NULL) {
        event_loop_free(s->loop);
    }
    free_server(s);
    serve_refusals_clear(&s->refusals);
    bool good = live_transport_free(s->port);
    good = server_log_close(s->log, s->loop != NULL) && good;
    good = live_report_stop() && good;
    g_free(s);
    return good;
}

int cmd_serve(int argc, char **argv) {
    struct serve *s = g_new0(struct serve, 1);
    GOptionContext *context = g_option_context_new("- run a server that accepts logins");
    s->port_number = WIRE_OPTIONS_SERVER_PORT;
    s->max_clients = CLIENTS_DEFAULT;
    live_options_init(&s->live);
    serve_protection_init(&s->protection);
    g_option_context_set_description(context, description);
    add_options(s, context);
    enum cli_exit status = CLI_EXIT_UNUSABLE;
    if (cli_parse(context, &argc, &argv) && resolve(s, argc)) {
        status = run(s);
    }
    return clear(s) ? status : CLI_EXIT_UNUSABLE;
}
