/* SPDX-License-Identifier: MIT */
/* replay --wire: datagrams to a host, byte for byte, in capture time. Whoever answers is not listened to. */
#include <stdio.h>
#include <unistd.h>

#include "tools/cli/stop_signal.h"
#include "tools/live/report.h"
#include "tools/net/event_loop.h"
#include "tools/replay/datagram_list.h"
#include "tools/replay/send_schedule.h"

#define NS_PER_S 1e9
#define NS_PER_US 1e3
#define PROGRESS_STEP_NS UINT64_C(250000000)

struct wire {
    const struct replay_command *replay;
    struct datagram_list shots;
    GPtrArray *sockets; /* struct net_socket, by sender: a server tells clients apart by their addresses */
    struct replay_schedule pace;
    uint64_t round_ns; /* of captured time, from the first to the first of the next round */
    uint64_t round;
    uint64_t sent, bytes, unreachable, failed;
    uint64_t progress_ns; /* when it was last shown */
};

/* ---- sending ---- */

static enum net_socket_result send_with_patience(struct net_socket *socket, const uint8_t *bytes, size_t size_bytes) {
    enum net_socket_result result;
    while ((result = net_socket_send(socket, NULL, bytes, size_bytes)) == NET_SOCKET_WOULD_BLOCK &&
           g_socket_condition_timed_wait(net_socket_gio(socket), G_IO_OUT, G_USEC_PER_SEC, NULL, NULL)) {
    }
    return result;
}

static void send_shot(struct wire *w, const struct datagram_list_item *shot) {
    struct net_socket *socket = w->sockets->pdata[shot->sender];
    const uint8_t *bytes = w->shots.bytes->data + shot->offset;
    enum net_socket_result result = send_with_patience(socket, bytes, shot->size_bytes);
    if (result == NET_SOCKET_UNREACHABLE) { /* so said an earlier one */
        w->unreachable++;
        result = send_with_patience(socket, bytes, shot->size_bytes);
    }
    if (result == NET_SOCKET_DONE) {
        w->sent++;
        w->bytes += shot->size_bytes;
    } else {
        w->failed++;
    }
}

static void show_progress(struct wire *w, bool is_terminal) {
    uint64_t now_ns = w->pace.begun_ns + w->pace.done_ns;
    if (is_terminal && now_ns - w->progress_ns >= PROGRESS_STEP_NS) {
        w->progress_ns = now_ns;
        fprintf(stderr, "\r\033[Kround %" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT " sent", w->round + 1, w->sent);
    }
}

/* False: it is over. */
static bool send_round(struct wire *w, bool is_terminal) {
    for (guint i = 0; i < w->shots.list->len; i++) {
        const struct datagram_list_item *shot = &g_array_index(w->shots.list, struct datagram_list_item, i);
        if (!replay_schedule_wait(&w->pace, w->round * w->round_ns + shot->time_ns)) {
            return false;
        }
        send_shot(w, shot);
        show_progress(w, is_terminal);
    }
    return true;
}

static void send_all(struct wire *w) {
    bool is_terminal = isatty(STDERR_FILENO);
    uint64_t rounds = (uint64_t)w->replay->sending.rounds;
    while ((rounds == 0 || w->round < rounds) && send_round(w, is_terminal)) {
        w->round++;
    }
    if (w->progress_ns != 0) {
        fputs("\r\033[K", stderr);
    }
}

/* The next round begins as long after the last datagram as the mean between two. */
static uint64_t round_ns(const struct datagram_list *shots) {
    guint count = shots->list->len;
    uint64_t last_ns = g_array_index(shots->list, struct datagram_list_item, count - 1).time_ns;
    return count > 1 ? last_ns + last_ns / (count - 1) : 0;
}

/* ---- life ---- */

static void report(const struct wire *w) {
    double seconds = (double)w->pace.done_ns / NS_PER_S;
    double intervals = (double)(w->pace.count > 1 ? w->pace.count - 1 : 0);
    live_report(w->replay->json, "sent",
              json_pack("{s:I, s:I, s:i, s:I, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I}", "datagrams",
                        (json_int_t)w->sent, "bytes", (json_int_t)w->bytes, "senders", (int)w->shots.senders, "rounds",
                        (json_int_t)w->round, "seconds", seconds, "datagrams_per_second",
                        seconds > 0 ? intervals / seconds : 0.0, "rate_error_percent", 100 * replay_schedule_error(&w->pace),
                        "late_us_mean", replay_schedule_late_ns(&w->pace) / NS_PER_US, "late_us_max",
                        (double)w->pace.latest_ns / NS_PER_US, "skipped", (json_int_t)w->shots.skipped, "unreachable",
                        (json_int_t)w->unreachable, "failed", (json_int_t)w->failed));
}

static bool open_sockets(struct wire *w) {
    while (w->sockets->len < w->shots.senders) {
        GError *error = NULL;
        struct net_socket *socket = net_socket_connect(w->replay->sending.target, WIRE_OPTIONS_SERVER_PORT, &error);
        if (socket == NULL) {
            cli_error("%s", error->message);
            g_error_free(error);
            return false;
        }
        g_ptr_array_add(w->sockets, socket);
    }
    return true;
}

static enum cli_exit run(struct wire *w) {
    const struct replay_schedule_options options = {w->replay->sending.speed, w->replay->sending.per_second};
    w->round_ns = round_ns(&w->shots);
    replay_schedule_init(&w->pace, &options, cli_stop_on_signals());
    send_all(w);
    report(w);
    if (w->unreachable != 0) {
        cli_error("nobody listens at %s", w->replay->sending.target);
    }
    return w->failed + w->unreachable != 0 ? CLI_EXIT_MALFORMED : CLI_EXIT_OK;
}

enum cli_exit replay_wire(struct replay_command *replay) {
    struct wire w = {.replay = replay, .sockets = g_ptr_array_new_with_free_func((GDestroyNotify)net_socket_free)};
    enum cli_exit status = CLI_EXIT_UNUSABLE;
    if (datagram_list_read(&w.shots, replay) && open_sockets(&w)) {
        status = run(&w);
        enum cli_exit read = capture_reader_exit_status(&replay->reading);
        status = read > status ? read : status;
    }
    g_ptr_array_unref(w.sockets);
    datagram_list_clear(&w.shots);
    return status;
}
