/* SPDX-License-Identifier: MIT */
/* uerudp connect: a client that logs in to a server and runs a mode. */
#include <math.h>
#include <string.h>
#include <uerudp/time_ns.h>

#include "tools/cli/command_line.h"
#include "tools/cli/wire_options.h"
#include "tools/connect/mode.h"
#include "tools/events/endpoint_log.h"
#include "tools/live/client.h"
#include "tools/live/endpoint_report.h"
#include "tools/live/live_game.h"
#include "tools/net/event_loop.h"
#include "tools/sim/game.h"

#define CHECK_SECONDS 60
#define SECONDS_MIN 1e-3
#define SECONDS_MAX 1e9
/* A client that has left answers the server for a while, because the server may have missed its close. */
#define QUIET_NS UINT64_C(300000000)
#define LINGER_NS UINT64_C(1200000000)
/* How long a client without login waits for a channel of the server. */
#define CHANNEL_WAIT_NS UINT64_C(1000000000)

struct connect {
    struct live_options live;
    struct connect_mode_options mode_options;
    gboolean check;
    const char *timeout_text, *channel_text; /* as on the command line; NULL: not given */
    double timeout_s;
    const char *player, *url, *token, *beacon, *scenario;

    struct live_transport *port;
    struct event_loop *loop;
    struct live_client client;
    struct connect_mode *mode;
    struct event_log *log;       /* NULL: none */
    struct endpoint_log *inside; /* NULL: no log */
    uint64_t begun_ns;
    uint64_t now_ns;
    uint64_t open_ns;   /* when to open the client's own channel if the server opens none; 0: not set */
    uint64_t joined_ns; /* 0: not joined yet */
    uint64_t left_ns;   /* 0: not left yet */
    uint64_t heard_ns;
    gboolean reads_lines;
    bool has_report;
    enum cli_exit status;
};

/* ---- options ---- */

static const char description[] =
    "HOST is a name, an IPv4 address, or an IPv6 address in brackets; port 7777 without PORT. After the login the "
    "client runs the job that the options select; without one it plays the simulated game, as uerudp serve does. The "
    "jobs --check, --file and --lines need a server that returns messages: uerudp serve --mode echo.\n\n"
    "Exit status: 0 the job was finished, and all that the client sent reliably was acknowledged; what the server had "
    "still to deliver is not known to a client; 1 there was no connection, it ended early, or the job was not "
    "finished, as after Ctrl-C; 2 wrong arguments, or a file or line could not be read or written.\n\n"
    "Examples:\n"
    "  uerudp connect localhost\n"
    "  uerudp connect --check 192.0.2.1\n"
    "  uerudp connect --check --loss 0.1 --delay 20 --jitter 30 --generation 5.1 '[::1]:7777'\n"
    "  echo hello | uerudp connect --lines --pcap hello.pcapng localhost\n"
    "  uerudp connect --file photo.jpg --json localhost | jq .bytes_per_second";

static void add_options(struct connect *c, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"check", 0, 0, G_OPTION_ARG_NONE, &c->check,
         "send reliable messages of 1 byte to 64 KiB and unreliable messages, and check that the server returns them",
         NULL},
        {"file", 0, 0, G_OPTION_ARG_FILENAME, &c->mode_options.file, "send this file reliably", "FILE"},
        {"lines", 0, 0, G_OPTION_ARG_NONE, &c->reads_lines,
         "send the lines of standard input, and print the messages of the server", NULL},
        {"scenario", 0, 0, G_OPTION_ARG_STRING, &c->scenario,
         "play the client's side of this scenario, which is a game; default game", "NAME"},
        {"beacon", 0, 0, G_OPTION_ARG_STRING, &c->beacon,
         "join a beacon of this type, such as PartyBeaconClient, instead of a game", "TYPE"},
        {"channel", 0, 0, G_OPTION_ARG_STRING, &c->channel_text,
         "channel for --file and --lines; default the first that the server opens", "NUMBER"},
        {"timeout", 0, 0, G_OPTION_ARG_STRING, &c->timeout_text,
         "give up after this number of seconds; default 60 with --check, else never", "SECONDS"},
        {"name", 0, 0, G_OPTION_ARG_STRING, &c->player, "the player's name; default uerudp", "TEXT"},
        {"url", 0, 0, G_OPTION_ARG_STRING, &c->url, "options of the login URL, such as ?team=1", "TEXT"},
        {"token", 0, 0, G_OPTION_ARG_STRING, &c->token, "encryption token of the Hello; default uerudp with --key",
         "TEXT"},
        {"frame-time", 0, 0, G_OPTION_ARG_NONE, &c->live.frame_time,
         "ask for the server's frame times, and subtract them from round trips (net.PingExcludeFrameTime)", NULL},
        {0},
    };
    cli_add_options(context, "What to do:", entries, NULL);
    live_options_add(&c->live, context);
}

/* The scenario of a beacon joins one. */
static bool resolve_scenario(struct connect *c) {
    c->mode_options.scenario = live_game_find(c->scenario);
    if (c->mode_options.scenario == NULL) {
        return false;
    }
    if (c->mode_options.scenario->driver == UE_DRIVER_BEACON && c->beacon == NULL) {
        c->beacon = SIM_GAME_BEACON_TYPE;
    }
    return true;
}

static bool resolve_driver(struct connect *c) {
    c->live.driver = c->beacon != NULL ? UE_DRIVER_BEACON : UE_DRIVER_GAME;
    return c->beacon == NULL || !c->live.no_login ||
           cli_error("--beacon and --no-login exclude each other: a beacon is joined by messages");
}

static bool resolve(struct connect *c, int argc) {
    if (argc != 2) {
        return cli_error("%s; see uerudp connect --help", argc < 2 ? "a HOST is required" : "only one HOST is allowed");
    }
    int jobs = (c->check != 0) + (c->mode_options.file != NULL) + (c->reads_lines != 0) + (c->scenario != NULL);
    if (jobs > 1) {
        return cli_error("--check, --file, --lines and --scenario exclude each other");
    }
    c->mode_options.is_scenario_asked = c->scenario != NULL;
    if (jobs == 0) {
        c->scenario = c->beacon != NULL ? "beacon" : "game";
    }
    uint64_t channel = 0;
    c->timeout_s = c->check ? CHECK_SECONDS : 0;
    if (!cli_option_real("timeout", c->timeout_text, SECONDS_MIN, SECONDS_MAX, &c->timeout_s) ||
        !cli_option_number("channel", c->channel_text, 0, UINT32_MAX, &channel)) {
        return false;
    }
    if ((c->scenario != NULL && !resolve_scenario(c)) || !resolve_driver(c)) {
        return false;
    }
    c->mode_options.channel = c->channel_text != NULL ? (int64_t)channel : -1;
    return live_options_resolve(&c->live);
}

static struct connect_mode *new_mode(struct connect *c) {
    c->mode_options.seed = c->live.link_seed;
    c->mode_options.as_json = c->live.json;
    if (c->check) {
        return connect_mode_check_new(&c->mode_options);
    }
    if (c->mode_options.file != NULL) {
        return connect_mode_file_new(&c->mode_options);
    }
    return c->reads_lines ? connect_mode_lines_new(&c->mode_options) : connect_mode_game_new(&c->mode_options);
}

/* ---- leaving ---- */

static void report_result(struct connect *c, const char *why) {
    json_t *members = json_object();
    if (why != NULL) {
        json_object_set_new(members, "problem", json_string(why));
    }
    json_auto_t *result = c->mode->kind->result(c->mode);
    json_object_update(members, result);
    live_report(c->live.json, c->mode->kind->name, members);
}

static void report_connection(const struct connect *c) {
    json_t *members = live_report_connection(c->client.conn);
    json_object_set_new(members, "port", live_report_transport(c->port));
    live_report(c->live.json, "connection", members);
}

/* Whether a datagram of the server arrived. */
static bool is_answered(const struct connect *c) {
    struct live_transport_counters counters;
    live_transport_get_counters(c->port, &counters);
    return counters.in_datagrams != 0;
}

/* Why a connection ended without any datagram of the server; to be freed. */
static char *no_answer(const struct connect *c) {
    char peer[NET_ADDRESS_TEXT_BYTES];
    net_address_format(net_socket_peer(live_transport_socket(c->port)), peer);
    if (live_error_timer_is_expired(&c->client.receiving, c->now_ns)) {
        return g_strdup_printf("no program listens at %s; start the server, or check address and port", peer);
    }
    if (live_error_timer_is_expired(&c->client.sending, c->now_ns)) {
        return g_strdup_printf("cannot send to %s; check address and network", peer);
    }
    return g_strdup_printf("no answer from %s within %.1f s; check address, port and firewall, and whether both sides "
                           "have the same --generation and --magic: a server answers no other handshake",
                           peer, (double)(c->now_ns - c->begun_ns) / UE_NS_PER_S);
}

static bool has_logged_in(const struct connect *c) {
    const struct ue_login_status *login = ue_login_status(c->client.login);
    return c->live.no_login ? ue_conn_state(c->client.conn) == UE_CONN_OPEN
                            : login->state >= UE_LOGIN_JOINING && login->state <= UE_LOGIN_DONE;
}

/* What may keep a server from the login that it has begun; empty: not known. */
static const char *login_hint(const struct connect *c, enum ue_close_reason reason) {
    const struct ue_counters *counters = ue_conn_counters(c->client.conn);
    if (has_logged_in(c)) {
        return "";
    }
    if (reason == UE_CLOSE_UPGRADE) {
        return "; do both sides have the same --network-version?";
    }
    if (counters->malformed != 0) {
        return "; packets of the server cannot be decoded: do both sides have the same --generation, --handlers and "
               "--key?";
    }
    return counters->in_packets == 0 && counters->out_packets != 0
               ? "; no packet of the server followed its handshake: do both sides have the same --generation, "
                 "--handlers and --key?"
               : "";
}

/* The reason of a failure, with what to do about it; to be freed. */
static char *with_hint(const struct connect *c, const char *why) {
    bool is_unechoed = c->mode->kind->is_unechoed != NULL && c->mode->kind->is_unechoed(c->mode);
    return g_strconcat(
        why, is_unechoed ? "; no message came back: --check needs a server that returns them (serve --mode echo)" : "",
        NULL);
}

/* Prints the result once, closes the connection, and answers the server a little longer. */
static void leave(struct connect *c, enum cli_exit status, const char *why) {
    if (c->left_ns != 0) {
        return;
    }
    c->left_ns = c->now_ns;
    c->status = status;
    g_autofree char *reason = why != NULL ? with_hint(c, why) : NULL;
    if (reason != NULL) {
        cli_error("%s", reason);
    }
    c->has_report = c->live.json || is_answered(c); /* else there is nothing to report */
    if (c->has_report) {
        report_result(c, reason);
    }
    ue_conn_close(c->client.conn, c->now_ns, UE_CLOSE_DISCONNECT);
}

/* The server, the network or a rule ended the connection. */
static void lose(struct connect *c, enum ue_close_reason reason) {
    const struct ue_login_status *login = ue_login_status(c->client.login);
    if (!is_answered(c)) {
        g_autofree char *silence = no_answer(c);
        leave(c, CLI_EXIT_MALFORMED, silence);
        return;
    }
    g_autoptr(GString) why = g_string_new(NULL);
    g_string_printf(why, "the connection ended: %s", ue_close_reason_name(reason));
    const char *reported = login->failure[0] != '\0' ? login->failure : login->close_reason;
    if (reported[0] != '\0') {
        json_auto_t *text = live_report_text(reported);
        g_string_append_printf(why, " (the server says: %s)", json_string_value(text));
    }
    if (live_error_timer_is_expired(&c->client.receiving, c->now_ns)) {
        g_string_append(why, " (no program listens there)");
    }
    g_string_append(why, login_hint(c, reason));
    leave(c, CLI_EXIT_MALFORMED, why->str);
}

static void finish_when_quiet(struct connect *c) {
    uint64_t last_ns = c->heard_ns > c->left_ns ? c->heard_ns : c->left_ns;
    bool is_quiet = c->now_ns - last_ns > QUIET_NS || c->now_ns - c->left_ns > LINGER_NS;
    if (is_quiet && live_transport_run(c->port, c->now_ns) == UINT64_MAX) {
        event_loop_quit(c->loop);
    }
}

/* ---- running ---- */

static void handle_events(void *user) {
    struct connect *c = user;
    struct ue_event event;
    c->heard_ns = c->now_ns;
    while (ue_conn_next_event(c->client.conn, &event)) {
        if (c->inside != NULL) {
            endpoint_log_write_event(c->inside, c->client.conn, &event);
        }
        if (event.type == UE_EVENT_STATE && event.state == UE_CONN_CLOSED) {
            lose(c, event.reason);
        } else if (c->left_ns == 0) {
            connect_mode_receive(c->mode, c->now_ns, &event);
        }
    }
}

static void report_joined(struct connect *c) {
    char text[NET_ADDRESS_TEXT_BYTES];
    const struct ue_login_status *login = ue_login_status(c->client.login);
    json_t *members =
        json_pack("{s:s}", "server", net_address_format(net_socket_peer(live_transport_socket(c->port)), text));
    if (c->beacon != NULL) {
        json_object_set_new(members, "beacon", live_report_text(c->beacon));
    } else if (!c->live.no_login) {
        json_object_set_new(members, "map", live_report_text(login->map));
        json_object_set_new(members, "game", live_report_text(login->game));
    }
    json_object_set_new(members, "seconds", json_real((double)(c->now_ns - c->begun_ns) / UE_NS_PER_S));
    json_object_set_new(members, "encrypted", json_boolean(c->live.has_key));
    live_report(c->live.json, "joined", members);
}

/* Without a login the server may wait for the client to open a channel. */
static void open_own_channel(struct connect *c) {
    uint32_t channel;
    c->open_ns = c->open_ns != 0 ? c->open_ns : c->now_ns;
    if (c->live.no_login && c->now_ns - c->open_ns >= CHANNEL_WAIT_NS &&
        ue_conn_open(c->client.conn, UE_KIND_ACTOR, c->mode_options.channel, &channel) == UE_OK) {
        connect_mode_add_channel(c->mode, channel);
    }
}

static void check_joined(struct connect *c) {
    if (c->joined_ns != 0 || !has_logged_in(c)) {
        return;
    }
    if (c->mode->channel_count == 0) {
        open_own_channel(c);
    }
    if (c->mode->channel_count != 0) {
        c->joined_ns = c->now_ns;
        report_joined(c);
        connect_mode_begin(c->mode, c->now_ns);
    }
}

/* The time of --timeout is over. */
static void give_up(struct connect *c) {
    g_autofree char *why = !is_answered(c) ? no_answer(c)
                           : c->joined_ns != 0
                               ? g_strdup("the job was not finished in time")
                               : g_strconcat("the login was not finished in time", login_hint(c, UE_CLOSE_NONE), NULL);
    leave(c, CLI_EXIT_MALFORMED, why);
}

/* Somebody types the lines, so that the mode of lines shows nothing. */
static void show_progress(const struct connect *c) {
    if (c->joined_ns == 0) {
        live_report_progress("connecting",
                             json_pack("{s:I}", "seconds", (json_int_t)((c->now_ns - c->begun_ns) / UE_NS_PER_S)));
    } else if (!c->reads_lines) {
        live_report_progress(c->mode->kind->name, c->mode->kind->result(c->mode));
    }
}

static void run_mode(struct connect *c) {
    check_joined(c);
    if (c->left_ns != 0) {
        return;
    }
    if (c->joined_ns != 0) {
        if (c->reads_lines) {
            event_loop_read_lines(c->loop);
        }
        connect_mode_tick(c->mode, c->now_ns);
    }
    if (live_report_progress_is_due()) {
        show_progress(c);
    }
    if (c->mode->state == CONNECT_MODE_FAILED) {
        leave(c, CLI_EXIT_MALFORMED, c->mode->problem);
    } else if (c->mode->state == CONNECT_MODE_DONE) {
        leave(c, CLI_EXIT_OK, NULL);
    } else if (c->timeout_s > 0 && (double)(c->now_ns - c->begun_ns) > c->timeout_s * UE_NS_PER_S) {
        give_up(c);
    }
}

static void on_receive(void *user) {
    struct connect *c = user;
    c->now_ns = event_loop_now_ns();
    live_client_receive(&c->client, c->now_ns, handle_events, c);
    event_loop_wake_at(c->loop, live_transport_run(c->port, c->now_ns));
}

static void on_tick(void *user) {
    struct connect *c = user;
    on_receive(c);
    uint64_t heard_ns = c->heard_ns;
    ue_conn_end_receive(c->client.conn, c->now_ns);
    handle_events(c);
    run_mode(c);
    live_client_tick(&c->client, c->now_ns);
    handle_events(c);
    c->heard_ns = heard_ns; /* time counts only when datagrams arrive */
    event_loop_wake_at(c->loop, live_transport_run(c->port, c->now_ns));
    if (c->left_ns != 0) {
        finish_when_quiet(c);
    }
}

static void on_wake(void *user) {
    struct connect *c = user;
    event_loop_wake_at(c->loop, live_transport_run(c->port, event_loop_now_ns()));
}

static void on_stop(void *user) {
    struct connect *c = user;
    c->now_ns = event_loop_now_ns();
    leave(c, CLI_EXIT_MALFORMED, "interrupted");
}

static bool on_line(void *user, const char *line) {
    struct connect *c = user;
    return connect_mode_lines_add(c->mode, line);
}

/* ---- start and end ---- */

static bool open_port(struct connect *c, const char *target) {
    GError *error = NULL;
    struct net_socket *socket = net_socket_connect(target, WIRE_OPTIONS_SERVER_PORT, &error);
    if (socket == NULL) {
        return cli_error_free(error);
    }
    c->port = live_transport_new(socket, &c->live);
    return c->port != NULL;
}

static void watch(void *user, const struct net_address *peer, bool is_sent, const uint8_t *bytes, size_t size_bytes) {
    struct connect *c = user;
    (void)peer;
    endpoint_log_write_datagram(c->inside, is_sent, bytes, size_bytes);
}

static bool open_log(struct connect *c, const char *target) {
    if (c->live.events == NULL) {
        return true;
    }
    c->log = event_log_open(c->live.events, EVENT_LOG_VANTAGE_CLIENT, target);
    if (c->log != NULL) {
        c->inside = endpoint_log_new(c->log, &c->live, 0);
        live_transport_set_tap(c->port, watch, c);
    }
    return c->log != NULL;
}

static enum cli_exit run(struct connect *c, const char *target) {
    const struct event_loop_callbacks hooks = {
        .user = c, .receive = on_receive, .tick = on_tick, .wake = on_wake, .stop = on_stop, .line = on_line};
    const struct ue_login_config login = {
        .player = c->player != NULL ? c->player : "uerudp",
        .url = c->url,
        .platform = "NULL",
        .beacon_type = c->beacon,
        .encryption_token = c->token != NULL  ? c->token
                            : c->live.has_key ? "uerudp"
                                              : NULL,
    };
    c->mode = new_mode(c);
    if (c->mode == NULL || !open_port(c, target) || !open_log(c, target)) {
        return CLI_EXIT_UNUSABLE;
    }
    c->begun_ns = c->now_ns = event_loop_now_ns();
    if (!live_client_init(&c->client, c->port, &c->live, &login, c->now_ns)) {
        return CLI_EXIT_UNUSABLE;
    }
    connect_mode_attach(c->mode, c->client.conn, !c->live.no_login);
    live_report_start(c->live.json);
    c->loop = event_loop_new(&hooks, live_transport_socket(c->port), c->live.ticks_per_second);
    c->status = CLI_EXIT_MALFORMED; /* a second signal ends the loop before there is a result */
    event_loop_run(c->loop);
    if (c->has_report) {
        report_connection(c); /* with the close, and what followed it */
    }
    return c->status;
}

static bool clear(struct connect *c) {
    if (c->loop != NULL) {
        event_loop_free(c->loop);
    }
    connect_mode_free(c->mode);
    live_client_clear(&c->client);
    endpoint_log_free(c->inside);
    bool good = live_transport_free(c->port);
    good = event_log_close(c->log, c->loop != NULL) && good;
    good = live_report_stop() && good;
    return good;
}

int cmd_connect(int argc, char **argv) {
    struct connect c = {0};
    GOptionContext *context = g_option_context_new("HOST[:PORT] - log in to a server");
    live_options_init(&c.live);
    g_option_context_set_description(context, description);
    add_options(&c, context);
    enum cli_exit status = CLI_EXIT_UNUSABLE;
    if (cli_parse(context, &argc, &argv) && resolve(&c, argc)) {
        status = run(&c, argv[1]);
    }
    return clear(&c) ? status : CLI_EXIT_UNUSABLE;
}
