/* SPDX-License-Identifier: MIT */
/* The event loop of a program on the network: ticks at a rate, datagrams, signals, lines of standard input. */
#ifndef UERUDP_TOOLS_NET_EVENT_LOOP_H
#define UERUDP_TOOLS_NET_EVENT_LOOP_H

#include "tools/net/socket.h"

/* Monotonic, nanoseconds. */
uint64_t ue_loop_now_ns(void);

/* What the program does; members may be NULL. All run in the thread of ue_loop_run. */
struct ue_loop_hooks {
    void *user;
    void (*receive)(void *user); /* datagrams wait at the socket */
    void (*tick)(void *user);
    void (*wake)(void *user);                   /* the time of ue_loop_wake_at has come */
    void (*stop)(void *user);                   /* SIGINT or SIGTERM came; a second one ends the loop at once */
    bool (*line)(void *user, const char *line); /* without its end; NULL: the input is over. False: no more for now */
};

struct ue_loop;

/* The hooks are copied; the socket must outlive the loop. */
struct ue_loop *ue_loop_new(const struct ue_loop_hooks *hooks, const struct ue_socket *socket, double ticks_per_second);
void ue_loop_free(struct ue_loop *loop);

/* One more socket: receive runs when datagrams wait there. Socket and loop must outlive the watch. */
struct ue_watch;
struct ue_watch *ue_loop_watch(struct ue_loop *loop, const struct ue_socket *socket, void (*receive)(void *user),
                               void *user);
void ue_watch_free(struct ue_watch *watch);

/* Sets when wake runs next; UINT64_MAX: never. It runs once. */
void ue_loop_wake_at(struct ue_loop *loop, uint64_t time_ns);

/* Starts or continues to read lines from standard input. */
void ue_loop_read_lines(struct ue_loop *loop);

/* Until ue_loop_quit; several runs may follow each other. */
void ue_loop_run(struct ue_loop *loop);
void ue_loop_quit(struct ue_loop *loop);

#endif
