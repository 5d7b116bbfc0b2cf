/* SPDX-License-Identifier: MIT */
/* replay --wire: sends datagrams to a host, byte for byte, at their capture times. Answers are not read. */
#include <stdio.h>
#include <uerudp/time_ns.h>

#include "tools/cli/command_line.h"
#include "tools/cli/progress_line.h"
#include "tools/live/endpoint_report.h"
#include "tools/net/event_loop.h"
#include "tools/replay/datagram_list.h"
#include "tools/replay/send_schedule.h"

struct wire {
    const struct replay_command *replay;
    struct datagram_list datagrams;
    GPtrArray *sockets; /* struct net_socket [sender]: a server distinguishes clients by address */
    struct replay_schedule schedule;
    uint64_t round_ns; /* captured time between the first datagrams of two rounds */
    uint64_t round;
    uint64_t sent, bytes, unreachable, failed;
    struct progress_line progress;
};

/* ---- sending ---- */

static enum net_socket_result send_with_retry(struct net_socket *socket, const uint8_t *bytes, size_t size_bytes) {
    enum net_socket_result result;
    while ((result = net_socket_send(socket, NULL, bytes, size_bytes)) == NET_SOCKET_WOULD_BLOCK &&
           g_socket_condition_timed_wait(net_socket_gio(socket), G_IO_OUT, G_USEC_PER_SEC, NULL, NULL)) {
    }
    return result;
}

static void send_datagram(struct wire *w, const struct datagram_list_item *datagram) {
    struct net_socket *socket = w->sockets->pdata[datagram->sender];
    const uint8_t *bytes = w->datagrams.bytes->data + datagram->offset;
    enum net_socket_result result = send_with_retry(socket, bytes, datagram->size_bytes);
    if (result == NET_SOCKET_UNREACHABLE) { /* the error of an earlier datagram */
        w->unreachable++;
        result = send_with_retry(socket, bytes, datagram->size_bytes);
    }
    if (result == NET_SOCKET_DONE) {
        w->sent++;
        w->bytes += datagram->size_bytes;
    } else {
        w->failed++;
    }
}

/* Without a number of rounds, sending has no end. */
static void show_progress(struct wire *w, guint in_round) {
    if (progress_line_is_due(&w->progress)) {
        double rounds = w->replay->send_options.rounds;
        double share = rounds > 0 ? ((double)w->round + (double)in_round / w->datagrams.list->len) / rounds : -1;
        progress_line_show(&w->progress, share, w->sent);
    }
}

/* False: stop was requested. */
static bool send_round(struct wire *w) {
    for (guint i = 0; i < w->datagrams.list->len; i++) {
        const struct datagram_list_item *datagram = &g_array_index(w->datagrams.list, struct datagram_list_item, i);
        if (!replay_schedule_wait(&w->schedule, w->round * w->round_ns + datagram->time_ns)) {
            return false;
        }
        send_datagram(w, datagram);
        show_progress(w, i + 1);
    }
    return true;
}

static void send_all(struct wire *w) {
    uint64_t rounds = (uint64_t)w->replay->send_options.rounds;
    progress_line_begin(&w->progress);
    while ((rounds == 0 || w->round < rounds) && send_round(w)) {
        w->round++;
    }
    progress_line_finish(&w->progress, w->sent);
}

/* The next round begins after the last datagram, by the mean distance between two. */
static uint64_t round_ns(const struct datagram_list *datagrams) {
    guint count = datagrams->list->len;
    uint64_t last_ns = g_array_index(datagrams->list, struct datagram_list_item, count - 1).time_ns;
    return count > 1 ? last_ns + last_ns / (count - 1) : 0;
}

/* ---- start and end ---- */

static void report(const struct wire *w) {
    double seconds = (double)w->schedule.done_ns / UE_NS_PER_S;
    double intervals = (double)(w->schedule.count > 1 ? w->schedule.count - 1 : 0);
    live_report(w->replay->json, "sent",
                json_pack("{s:I, s:I, s:i, s:I, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I}", "datagrams",
                          (json_int_t)w->sent, "bytes", (json_int_t)w->bytes, "senders", (int)w->datagrams.senders,
                          "rounds", (json_int_t)w->round, "seconds", seconds, "datagrams_per_second",
                          seconds > 0 ? intervals / seconds : 0.0, "rate_error_percent",
                          100 * replay_schedule_error(&w->schedule), "late_us_mean",
                          replay_schedule_late_ns(&w->schedule) / UE_NS_PER_US, "late_us_max",
                          (double)w->schedule.latest_ns / UE_NS_PER_US, "skipped", (json_int_t)w->datagrams.skipped,
                          "unreachable", (json_int_t)w->unreachable, "failed", (json_int_t)w->failed));
}

static bool open_sockets(struct wire *w) {
    while (w->sockets->len < w->datagrams.senders) {
        GError *error = NULL;
        struct net_socket *socket =
            net_socket_connect(w->replay->send_options.target, WIRE_OPTIONS_SERVER_PORT, &error);
        if (socket == NULL) {
            return cli_error_free(error);
        }
        g_ptr_array_add(w->sockets, socket);
    }
    return true;
}

static enum cli_exit run(struct wire *w) {
    const struct replay_schedule_options options = {w->replay->send_options.speed, w->replay->send_options.per_second};
    w->round_ns = round_ns(&w->datagrams);
    replay_schedule_init(&w->schedule, &options, cli_stop_on_signals());
    send_all(w);
    report(w);
    if (w->unreachable != 0) {
        cli_error("no program listens at %s", w->replay->send_options.target);
    }
    return w->failed + w->unreachable != 0 ? CLI_EXIT_MALFORMED : CLI_EXIT_OK;
}

enum cli_exit replay_wire(struct replay_command *replay) {
    struct wire w = {.replay = replay, .sockets = g_ptr_array_new_with_free_func((GDestroyNotify)net_socket_free)};
    enum cli_exit status = CLI_EXIT_UNUSABLE;
    if (datagram_list_read(&w.datagrams, replay) && open_sockets(&w)) {
        status = run(&w);
        enum cli_exit read = capture_reader_exit_status(&replay->reading);
        status = read > status ? read : status;
    }
    g_ptr_array_unref(w.sockets);
    datagram_list_clear(&w.datagrams);
    return status;
}
