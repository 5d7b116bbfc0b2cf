/* SPDX-License-Identifier: MIT */
/* The schedule of a replay: when each datagram is due, waiting for it, and how precise the sending was. Times are those
   of event_loop_now_ns. */
#ifndef UERUDP_TOOLS_REPLAY_SEND_SCHEDULE_H
#define UERUDP_TOOLS_REPLAY_SEND_SCHEDULE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* speed: factor of the captured speed; 0: without waiting. per_second above 0: at even intervals instead. */
struct replay_schedule_options {
    double speed;
    double per_second;
};

struct replay_schedule {
    struct replay_schedule_options options;
    const volatile sig_atomic_t *stop;
    uint64_t begun_ns; /* when the first datagram was due */
    uint64_t due_ns;   /* of the last datagram, since begun_ns */
    uint64_t done_ns;  /* when the wait for it ended, since begun_ns */
    uint64_t count;
    double late_ns; /* sum over all */
    uint64_t latest_ns;
};

/* The first wait returns at once and starts the schedule. */
void replay_schedule_init(struct replay_schedule *schedule, const struct replay_schedule_options *options,
                          const volatile sig_atomic_t *stop);

/* Waits until the next datagram is due, captured this long after the first. False: stop was requested. */
bool replay_schedule_wait(struct replay_schedule *schedule, uint64_t captured_ns);

/* Error of the rate: 0.01 is one percent too slow. 0 where there is no schedule. */
double replay_schedule_error(const struct replay_schedule *schedule);

/* Average delay. */
double replay_schedule_late_ns(const struct replay_schedule *schedule);

#endif
