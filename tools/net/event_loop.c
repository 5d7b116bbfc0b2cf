/* SPDX-License-Identifier: MIT */
#include "tools/net/event_loop.h"

#include <glib-unix.h>
#include <string.h>
#include <unistd.h>

#define LINE_READ_BYTES 4096

struct event_loop {
    struct event_loop_callbacks hooks;
    GMainContext *context;
    GMainLoop *main;
    GSource *ticker;
    GSource *waker;
    struct event_loop_watch *receiver; /* NULL: no callback */
    GSource *signals[2];
    GSource *reader;    /* of standard input; NULL while paused */
    GString *lines;     /* read, not yet passed to the callback */
    bool input_is_over; /* end of file or a read error */
    bool end_was_reported;
    int64_t period_us;
    int64_t next_tick_us;
    bool stopping;
};

struct event_loop_watch {
    GSource *source;
    void (*receive)(void *user);
    void *user;
};

uint64_t event_loop_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void attach(struct event_loop *loop, GSource *source, GSourceFunc function, void *user) {
    g_source_set_callback(source, function, user, NULL);
    g_source_attach(source, loop->context);
}

static void detach(GSource **source) {
    if (*source != NULL) {
        g_source_destroy(*source);
        g_source_unref(*source);
        *source = NULL;
    }
}

/* ---- ticks ---- */

/* Ticks keep their average rate; ticks that a slow one delayed past their time are skipped. */
static gboolean on_tick(gpointer user) {
    struct event_loop *loop = user;
    int64_t now_us = g_get_monotonic_time();
    loop->next_tick_us += loop->period_us;
    if (loop->next_tick_us <= now_us) {
        loop->next_tick_us = now_us + loop->period_us;
    }
    g_source_set_ready_time(loop->ticker, loop->next_tick_us);
    if (loop->hooks.tick != NULL) {
        loop->hooks.tick(loop->hooks.user);
    }
    return G_SOURCE_CONTINUE;
}

static gboolean dispatch_timer(GSource *source, GSourceFunc function, gpointer user) {
    (void)source;
    return function(user);
}

/* A source that becomes ready at a given time. */
static GSourceFuncs timer_functions = {.dispatch = dispatch_timer};

static gboolean on_wake(gpointer user) {
    struct event_loop *loop = user;
    g_source_set_ready_time(loop->waker, -1);
    if (loop->hooks.wake != NULL) {
        loop->hooks.wake(loop->hooks.user);
    }
    return G_SOURCE_CONTINUE;
}

/* GLib's monotonic time is the clock of event_loop_now_ns in microseconds. */
void event_loop_wake_at(struct event_loop *loop, uint64_t time_ns) {
    g_source_set_ready_time(loop->waker, time_ns == UINT64_MAX ? -1 : (gint64)((time_ns + 999) / 1000));
}

/* ---- signals and datagrams ---- */

static gboolean on_signal(gpointer user) {
    struct event_loop *loop = user;
    if (loop->stopping || loop->hooks.stop == NULL) {
        g_main_loop_quit(loop->main);
    } else {
        loop->stopping = true;
        loop->hooks.stop(loop->hooks.user);
    }
    return G_SOURCE_CONTINUE;
}

static gboolean on_datagrams(GSocket *socket, GIOCondition condition, gpointer user) {
    struct event_loop_watch *watch = user;
    (void)socket;
    (void)condition;
    watch->receive(watch->user);
    return G_SOURCE_CONTINUE;
}

struct event_loop_watch *event_loop_watch_new(struct event_loop *loop, const struct net_socket *socket,
                                              void (*receive)(void *user), void *user) {
    struct event_loop_watch *watch = g_new0(struct event_loop_watch, 1);
    *watch = (struct event_loop_watch){g_socket_create_source(net_socket_gio(socket), G_IO_IN | G_IO_ERR, NULL),
                                       receive, user};
    attach(loop, watch->source, (GSourceFunc)(void *)on_datagrams, watch);
    return watch;
}

void event_loop_watch_free(struct event_loop_watch *watch) {
    if (watch != NULL) {
        detach(&watch->source);
        g_free(watch);
    }
}

/* ---- lines ---- */

/* Passes complete lines to the callback; returns false when the callback wants no more for now. */
static bool hand_over_lines(struct event_loop *loop) {
    char *end;
    bool more = true;
    while (more && (end = memchr(loop->lines->str, '\n', loop->lines->len)) != NULL) {
        size_t length = (size_t)(end - loop->lines->str);
        *end = '\0';
        more = loop->hooks.line(loop->hooks.user, loop->lines->str);
        g_string_erase(loop->lines, 0, (gssize)length + 1);
    }
    if (more && loop->input_is_over && loop->lines->len > 0) { /* a last line without a newline */
        more = loop->hooks.line(loop->hooks.user, loop->lines->str);
        g_string_truncate(loop->lines, 0);
    }
    if (more && loop->input_is_over && !loop->end_was_reported) {
        loop->end_was_reported = true;
        loop->hooks.line(loop->hooks.user, NULL);
    }
    return more;
}

static gboolean on_input(gint fd, GIOCondition condition, gpointer user) {
    struct event_loop *loop = user;
    char bytes[LINE_READ_BYTES];
    (void)condition;
    ssize_t size = read(fd, bytes, sizeof bytes);
    if (size > 0) {
        g_string_append_len(loop->lines, bytes, size);
    } else {
        loop->input_is_over = true;
    }
    if (!hand_over_lines(loop) || loop->input_is_over) {
        detach(&loop->reader);
        return G_SOURCE_REMOVE;
    }
    return G_SOURCE_CONTINUE;
}

void event_loop_read_lines(struct event_loop *loop) {
    if (loop->reader == NULL && hand_over_lines(loop) && !loop->input_is_over) {
        loop->reader = g_unix_fd_source_new(STDIN_FILENO, G_IO_IN | G_IO_HUP | G_IO_ERR);
        attach(loop, loop->reader, (GSourceFunc)(void *)on_input, loop);
    }
}

/* ---- start and end ---- */

struct event_loop *event_loop_new(const struct event_loop_callbacks *hooks, const struct net_socket *socket,
                                  double ticks_per_second) {
    static const int signals[2] = {SIGINT, SIGTERM};
    struct event_loop *loop = g_new0(struct event_loop, 1);
    loop->hooks = *hooks;
    loop->context = g_main_context_new();
    loop->main = g_main_loop_new(loop->context, FALSE);
    loop->lines = g_string_new(NULL);
    loop->period_us = (int64_t)(1e6 / ticks_per_second);
    loop->next_tick_us = g_get_monotonic_time() + loop->period_us;
    loop->ticker = g_source_new(&timer_functions, sizeof(GSource));
    loop->waker = g_source_new(&timer_functions, sizeof(GSource));
    attach(loop, loop->waker, on_wake, loop);
    g_source_set_ready_time(loop->ticker, loop->next_tick_us);
    attach(loop, loop->ticker, on_tick, loop); /* equal priorities: a flood of datagrams does not delay ticks */
    for (size_t i = 0; i < 2; i++) {
        loop->signals[i] = g_unix_signal_source_new(signals[i]);
        attach(loop, loop->signals[i], on_signal, loop);
    }
    if (hooks->receive != NULL) {
        loop->receiver = event_loop_watch_new(loop, socket, hooks->receive, hooks->user);
    }
    return loop;
}

void event_loop_free(struct event_loop *loop) {
    detach(&loop->ticker);
    detach(&loop->waker);
    event_loop_watch_free(loop->receiver);
    detach(&loop->signals[0]);
    detach(&loop->signals[1]);
    detach(&loop->reader);
    g_main_loop_unref(loop->main);
    g_main_context_unref(loop->context);
    g_string_free(loop->lines, TRUE);
    g_free(loop);
}

void event_loop_run(struct event_loop *loop) {
    g_main_loop_run(loop->main);
}

void event_loop_quit(struct event_loop *loop) {
    g_main_loop_quit(loop->main);
}
