/* SPDX-License-Identifier: MIT */
/* When datagrams leave: the schedule of a replay, waiting for it, and how well it was kept. Times are those of
   event_loop_now_ns. */
#ifndef UERUDP_TOOLS_REPLAY_SEND_SCHEDULE_H
#define UERUDP_TOOLS_REPLAY_SEND_SCHEDULE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* speed: times as fast as captured; 0: without waiting. per_second above 0: evenly instead, whatever was captured. */
struct replay_schedule_options {
    double speed;
    double per_second;
};

struct replay_schedule {
    struct replay_schedule_options options;
    const volatile sig_atomic_t *stop;
    uint64_t begun_ns; /* when the first one was due */
    uint64_t due_ns;   /* of the last one, since begun_ns */
    uint64_t done_ns;  /* when its waiting ended, since begun_ns */
    uint64_t count;
    double late_ns; /* all together */
    uint64_t latest_ns;
};

/* The first wait returns at once and begins the schedule. */
void replay_schedule_init(struct replay_schedule *pace, const struct replay_schedule_options *options, const volatile sig_atomic_t *stop);

/* Waits until the next one is due, which was captured so long after the first. False: stop was asked for. */
bool replay_schedule_wait(struct replay_schedule *pace, uint64_t captured_ns);

/* How far the rate is off: 0.01 is one percent too slow. 0 where there is no schedule. */
double replay_schedule_error(const struct replay_schedule *pace);

/* How late they were on average. */
double replay_schedule_late_ns(const struct replay_schedule *pace);

#endif
