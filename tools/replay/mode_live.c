/* SPDX-License-Identifier: MIT */
/* replay --live: replays a captured client against a live server. It logs in anew, then sends the captured messages at
   their times on the channels that the server opens now, and compares the server's messages with the captured ones. */
#include <string.h>
#include <uerudp/time_ns.h>

#include "tools/cli/wire_options.h"
#include "tools/live/client.h"
#include "tools/live/endpoint_report.h"
#include "tools/live/send_queue.h"
#include "tools/net/event_loop.h"
#include "tools/replay/live_comparison.h"
#include "tools/replay/recorded_session.h"

#define TICKS_PER_SECOND 120
#define AFTER_NS_MAX 1e17 /* three years: never */
/* How long to wait for a channel that the server opened in the capture, for the login, and for acknowledgements. */
#define WAIT_NS UINT64_C(5000000000)
#define SILENCE_NS UINT64_C(1000000000)
#define LOGIN_PATIENCE_NS UINT64_C(20000000000)
/* After the close the client still answers: the server may not have received it. */
#define LINGER_NS UINT64_C(300000000)

struct live {
    const struct replay_command *replay;
    struct recorded_session session;
    struct live_options options;
    struct live_transport *port;
    struct event_loop *loop;
    struct live_client client;
    struct live_comparison comparison;
    uint64_t now_ns, begun_ns;
    uint64_t joined_ns;   /* 0: not yet */
    uint64_t delay_ns;    /* delay of messages against the capture, caused by waiting for the server */
    uint64_t waiting_ns;  /* since when the client waits for the server; 0: it does not */
    guint message_index;  /* the next message */
    uint64_t received;    /* messages of the server when last checked */
    uint64_t received_ns; /* when that last changed; at first the join */
    uint64_t left_ns;     /* 0: not yet */
    uint64_t sent[2];     /* [reliable] */
    uint64_t refused;
    const char *problem; /* NULL: none */
};

/* ---- close ---- */

static void leave(struct live *l, const char *problem) {
    if (l->left_ns == 0) {
        enum ue_close_reason reason =
            ue_close_reason_find(l->session.close_reasons[0], strlen(l->session.close_reasons[0]));
        l->left_ns = l->now_ns;
        l->problem = problem;
        reason = reason != UE_CLOSE_NONE ? reason : UE_CLOSE_DISCONNECT;
        live_comparison_left(&l->comparison, reason);
        ue_conn_close(l->client.conn, l->now_ns, reason);
    }
}

/* ---- messages ---- */

/* When a message of the capture is due now. */
static uint64_t due_ns(const struct live *l, uint64_t captured_ns) {
    double speed = l->replay->send_options.speed;
    uint64_t captured_after_ns = captured_ns > l->session.joined_ns ? captured_ns - l->session.joined_ns : 0;
    double after_ns = speed > 0 ? (double)captured_after_ns / speed : 0;
    return l->joined_ns + l->delay_ns + (uint64_t)(after_ns < AFTER_NS_MAX ? after_ns : AFTER_NS_MAX);
}

/* Whether the channel exists; opens it where the client opened it. */
static bool has_channel(struct live *l, uint32_t slot_number) {
    const struct session_channel *slot = recorded_session_channel(&l->session, slot_number);
    struct live_comparison_channel *now = live_comparison_find_channel(&l->comparison, slot_number);
    if (!now->is_open && !slot->by_server) {
        now->is_open = ue_conn_open(l->client.conn, slot->kind, slot->channel, &now->channel) == UE_OK;
    }
    return now->is_open;
}

static void send_message(struct live *l, const struct recorded_session_message *message) {
    const struct session_channel *slot = recorded_session_channel(&l->session, message->slot);
    const struct ue_outgoing bunch = {
        .channel = live_comparison_find_channel(&l->comparison, message->slot)->channel,
        .reliable = message->reliable,
        .close = message->close && !slot->by_server && slot->channel != 0,
        .close_reason = message->close_reason,
        .has_exports = message->has_exports,
        .has_mapped = message->has_mapped,
        .paused = message->paused,
        .data = message->data,
        .exports = (const struct ue_view *)(void *)message->exports->data,
        .export_count = message->exports->len,
    };
    bool good = ue_conn_send(l->client.conn, l->now_ns, &bunch, NULL) == UE_OK;
    l->sent[message->reliable] += good;
    l->refused += !good;
}

/* Whether the message may be sent; until its channel exists, it delays all later messages for some time. */
static bool may_send(struct live *l, const struct recorded_session_message *message) {
    if (!has_channel(l, message->slot)) {
        l->waiting_ns = l->waiting_ns != 0 ? l->waiting_ns : l->now_ns;
        return l->now_ns - l->waiting_ns > WAIT_NS;
    }
    if (l->waiting_ns != 0) {
        l->delay_ns += l->now_ns - l->waiting_ns;
        l->waiting_ns = 0;
    }
    uint32_t channel = live_comparison_find_channel(&l->comparison, message->slot)->channel;
    return !message->reliable || send_queue_has_room(l->client.conn, channel, message->data.bits);
}

static void send_due(struct live *l) {
    const GArray *messages = l->session.messages;
    while (l->message_index < messages->len) {
        const struct recorded_session_message *message =
            &g_array_index(messages, struct recorded_session_message, l->message_index);
        if (due_ns(l, message->time_ns) > l->now_ns || !may_send(l, message)) {
            return;
        }
        if (live_comparison_find_channel(&l->comparison, message->slot)->is_open) {
            send_message(l, message);
        } else {
            l->refused++;
        }
        l->message_index++;
    }
}

static bool is_acknowledged(const struct live *l) {
    for (guint i = 0; i < l->session.channels->len; i++) {
        const struct live_comparison_channel *slot = live_comparison_find_channel(&l->comparison, i);
        if (slot->is_open && ue_conn_unacked(l->client.conn, slot->channel) != 0) {
            return false;
        }
    }
    return true;
}

/* Whether the server is finished: it has sent everything, or nothing for some time. */
static bool is_silent(struct live *l) {
    if (l->received != l->comparison.received) {
        l->received = l->comparison.received;
        l->received_ns = l->now_ns;
    }
    return live_comparison_is_complete(&l->comparison) || l->now_ns - l->received_ns > SILENCE_NS;
}

/* Closes at the end of the capture when everything is acknowledged and answered, or the wait is over. */
static void leave_when_done(struct live *l) {
    uint64_t end_ns = due_ns(l, l->session.end_ns);
    if (l->now_ns < end_ns || !is_silent(l)) {
        return;
    }
    if (is_acknowledged(l)) {
        leave(l, NULL);
    } else if (l->now_ns - l->received_ns > WAIT_NS) {
        leave(l, "not everything was acknowledged in time");
    }
}

static void work(struct live *l) {
    const struct ue_login_status *login = ue_login_status(l->client.login);
    bool has_joined = login->state == UE_LOGIN_JOINING || login->state == UE_LOGIN_DONE;
    if (l->left_ns != 0) {
        return;
    }
    if (l->joined_ns == 0 && has_joined) {
        l->joined_ns = l->received_ns = l->now_ns;
    }
    if (l->joined_ns == 0) {
        if (l->now_ns - l->begun_ns > LOGIN_PATIENCE_NS) {
            leave(l, "the login was not complete in time");
        }
        return;
    }
    send_due(l);
    if (l->message_index == l->session.messages->len) {
        leave_when_done(l);
    }
}

static void show_progress(const struct live *l) {
    uint64_t sent = l->sent[0] + l->sent[1];
    json_int_t seconds = (json_int_t)((l->now_ns - l->begun_ns) / UE_NS_PER_S);
    if (l->joined_ns == 0) {
        live_report_progress("connecting", json_pack("{s:I}", "seconds", seconds));
    } else {
        live_report_progress("replaying",
                             json_pack("{s:I, s:I, s:I}", "seconds", seconds, "messages_sent", (json_int_t)sent,
                                       "messages_in_capture", (json_int_t)l->session.messages->len));
    }
}

/* ---- running ---- */

static void lose(struct live *l, enum ue_close_reason reason) {
    if (l->left_ns == 0) {
        l->left_ns = l->now_ns;
        live_comparison_closed(&l->comparison, ue_login_status(l->client.login), reason);
        l->problem = l->joined_ns == 0                             ? "the server did not accept the login"
                     : l->message_index < l->session.messages->len ? "the connection ended before everything was sent"
                                                                   : NULL;
    }
}

static void handle_events(void *user) {
    struct live *l = user;
    struct ue_event event;
    while (ue_conn_next_event(l->client.conn, &event)) {
        if (event.type == UE_EVENT_STATE && event.state == UE_CONN_CLOSED) {
            lose(l, event.reason);
        } else if (l->left_ns == 0) {
            live_comparison_event(&l->comparison, &event);
        }
    }
}

static void on_receive(void *user) {
    struct live *l = user;
    l->now_ns = event_loop_now_ns();
    live_client_receive(&l->client, l->now_ns, handle_events, l);
}

static void on_tick(void *user) {
    struct live *l = user;
    on_receive(l);
    ue_conn_end_receive(l->client.conn, l->now_ns);
    handle_events(l);
    work(l);
    if (live_report_progress_is_due()) {
        show_progress(l);
    }
    live_client_tick(&l->client, l->now_ns);
    handle_events(l);
    if (l->left_ns != 0 && l->now_ns - l->left_ns > LINGER_NS) {
        event_loop_quit(l->loop);
    }
}

static void on_stop(void *user) {
    struct live *l = user;
    l->now_ns = event_loop_now_ns();
    leave(l, "interrupted");
}

/* ---- start and end ---- */

/* Uses the generation and settings of the captured client. */
static bool resolve_options(struct live *l) {
    struct live_options *o = &l->options;
    const struct recorded_session *session = &l->session;
    const struct ue_cipher *cipher = l->replay->reading.wire.cipher;
    const uint8_t *key = cipher != NULL ? ue_cipher_key(cipher) : NULL;
    if (!live_options_resolve(o)) {
        return false;
    }
    o->ticks_per_second = TICKS_PER_SECOND;
    o->profile = &session->context.profile;
    o->settings = session->context.settings;
    o->settings.decryptor = NULL;
    o->network_version = session->network_version;
    o->network_features = session->network_features;
    o->net_speed = session->net_speed;
    o->driver = recorded_session_has(session, UE_MESSAGE_BEACON_JOIN) ? UE_DRIVER_BEACON : UE_DRIVER_GAME;
    o->pcap = l->replay->send_options.pcap;
    o->has_key = key != NULL;
    if (key != NULL) {
        memcpy(o->key, key, sizeof o->key);
    }
    return true;
}

static bool open_port(struct live *l) {
    GError *error = NULL;
    struct net_socket *socket = net_socket_connect(l->replay->send_options.target, WIRE_OPTIONS_SERVER_PORT, &error);
    if (socket == NULL) {
        return cli_error_free(error);
    }
    l->port = live_transport_new(socket, &l->options);
    return l->port != NULL;
}

static bool start(struct live *l) {
    const struct recorded_session *session = &l->session;
    bool is_game = recorded_session_has(session, UE_MESSAGE_LOGIN);
    const struct ue_login_config login = {
        .hello = &session->hello,
        .login = is_game ? &session->login : NULL,
        .beacon_join = recorded_session_has(session, UE_MESSAGE_BEACON_JOIN) ? &session->beacon_join : NULL,
        .load_ns = session->joined_ns > session->welcomed_ns ? session->joined_ns - session->welcomed_ns : 0,
    };
    l->begun_ns = l->now_ns = event_loop_now_ns();
    return live_client_init(&l->client, l->port, &l->options, &login, l->now_ns);
}

static void report(const struct live *l) {
    const struct recorded_session *session = &l->session;
    bool as_json = l->replay->json;
    live_comparison_report(&l->comparison, as_json);
    live_report(as_json, "replayed",
                json_pack("{s:i, s:I, s:I, s:I, s:I, s:f, s:I}", "stream", (int)session->stream, "reliable",
                          (json_int_t)l->sent[1], "unreliable", (json_int_t)l->sent[0], "refused",
                          (json_int_t)l->refused, "incomplete", (json_int_t)session->incomplete, "seconds",
                          (double)(l->left_ns - l->begun_ns) / UE_NS_PER_S, "differences",
                          (json_int_t)l->comparison.differences));
    json_t *members = live_report_connection(l->client.conn);
    json_object_set_new(members, "port", live_report_transport(l->port));
    live_report(as_json, "connection", members);
    if (l->problem != NULL) {
        cli_error("%s", l->problem);
    }
}

static enum cli_exit run(struct live *l) {
    const struct event_loop_callbacks hooks = {.user = l, .receive = on_receive, .tick = on_tick, .stop = on_stop};
    live_report_start(l->replay->json);
    l->loop = event_loop_new(&hooks, live_transport_socket(l->port), TICKS_PER_SECOND);
    event_loop_run(l->loop);
    event_loop_free(l->loop);
    if (l->left_ns == 0) {
        return CLI_EXIT_MALFORMED; /* a second signal */
    }
    live_comparison_end(&l->comparison);
    report(l);
    bool good = l->problem == NULL && l->refused == 0 && l->comparison.differences == 0;
    enum cli_exit read = capture_reader_exit_status(&l->replay->reading);
    return read != CLI_EXIT_OK ? read : good ? CLI_EXIT_OK : CLI_EXIT_MALFORMED;
}

enum cli_exit replay_live(struct replay_command *replay) {
    struct live l = {.replay = replay};
    enum cli_exit status = CLI_EXIT_UNUSABLE;
    live_options_init(&l.options);
    if (recorded_session_read(&l.session, replay)) {
        live_comparison_init(&l.comparison, &l.session);
        if (resolve_options(&l) && open_port(&l) && start(&l)) {
            status = run(&l);
        }
        live_comparison_clear(&l.comparison);
    }
    live_client_clear(&l.client);
    status = live_transport_free(l.port) ? status : CLI_EXIT_UNUSABLE;
    status = live_report_stop() ? status : CLI_EXIT_UNUSABLE;
    recorded_session_clear(&l.session);
    return status;
}
