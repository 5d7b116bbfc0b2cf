/* SPDX-License-Identifier: MIT */
/* The event loop of a network program: ticks at a fixed rate, datagrams, signals, lines of standard input. */
#ifndef UERUDP_TOOLS_NET_EVENT_LOOP_H
#define UERUDP_TOOLS_NET_EVENT_LOOP_H

#include "tools/net/socket.h"

/* Monotonic time in nanoseconds. */
uint64_t event_loop_now_ns(void);

/* The callbacks of the program; members may be NULL. All run in the thread of event_loop_run. */
struct event_loop_callbacks {
    void *user;
    void (*receive)(void *user); /* datagrams are waiting at the socket */
    void (*tick)(void *user);
    void (*wake)(void *user);                   /* the time of event_loop_wake_at has come */
    void (*stop)(void *user);                   /* SIGINT or SIGTERM; a second signal ends the loop at once */
    bool (*line)(void *user, const char *line); /* without the newline; NULL: end of input. Returns false to pause */
};

struct event_loop;

/* The callbacks are copied; the socket must outlive the loop. */
struct event_loop *event_loop_new(const struct event_loop_callbacks *hooks, const struct net_socket *socket,
                                  double ticks_per_second);
void event_loop_free(struct event_loop *loop);

/* One more socket: receive runs when datagrams are waiting there. Socket and loop must outlive the watch. */
struct event_loop_watch;
struct event_loop_watch *event_loop_watch_new(struct event_loop *loop, const struct net_socket *socket,
                                              void (*receive)(void *user), void *user);
void event_loop_watch_free(struct event_loop_watch *watch);

/* Sets when wake runs next; UINT64_MAX: never. It runs once. */
void event_loop_wake_at(struct event_loop *loop, uint64_t time_ns);

/* Starts or resumes reading lines from standard input. */
void event_loop_read_lines(struct event_loop *loop);

/* Runs until event_loop_quit; may be called again. */
void event_loop_run(struct event_loop *loop);
void event_loop_quit(struct event_loop *loop);

#endif
