/* SPDX-License-Identifier: MIT */
#include "tools/replay/send_schedule.h"

#include <time.h>
#include <uerudp/time_ns.h>

#include "tools/net/event_loop.h"

/* The system usually wakes a sleeping thread at most this late: the rest of the time is spent awake. */
#define AWAKE_NS 200000u
/* About three years: a later time is never reached and must not overflow. */
#define DUE_NS_MAX 1e17

void replay_schedule_init(struct replay_schedule *schedule, const struct replay_schedule_options *options,
                          const volatile sig_atomic_t *stop) {
    *schedule = (struct replay_schedule){.options = *options, .stop = stop};
}

static bool has_schedule(const struct replay_schedule *schedule) {
    return schedule->options.per_second > 0 || schedule->options.speed > 0;
}

static uint64_t due_ns(const struct replay_schedule *schedule, uint64_t captured_ns) {
    double ns = 0;
    if (schedule->options.per_second > 0) {
        ns = (double)schedule->count * UE_NS_PER_S / schedule->options.per_second;
    } else if (schedule->options.speed > 0) {
        ns = (double)captured_ns / schedule->options.speed;
    }
    return (uint64_t)(ns < DUE_NS_MAX ? ns : DUE_NS_MAX);
}

/* Returns when the thread woke up; a signal wakes it, too. */
static uint64_t sleep_until(uint64_t time_ns) {
    const struct timespec until = {.tv_sec = (time_t)(time_ns / 1000000000u), .tv_nsec = (long)(time_ns % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    return event_loop_now_ns();
}

bool replay_schedule_wait(struct replay_schedule *schedule, uint64_t captured_ns) {
    uint64_t now_ns = event_loop_now_ns();
    schedule->begun_ns = schedule->count == 0 ? now_ns : schedule->begun_ns;
    schedule->due_ns = due_ns(schedule, captured_ns);
    uint64_t until_ns = schedule->begun_ns + schedule->due_ns;
    while (now_ns < until_ns && *schedule->stop == 0) {
        now_ns = until_ns - now_ns > AWAKE_NS ? sleep_until(until_ns - AWAKE_NS) : event_loop_now_ns();
    }
    if (*schedule->stop != 0) {
        return false;
    }
    schedule->count++;
    schedule->done_ns = now_ns - schedule->begun_ns;
    if (has_schedule(schedule)) {
        uint64_t late_ns = now_ns - until_ns;
        schedule->late_ns += (double)late_ns;
        schedule->latest_ns = late_ns > schedule->latest_ns ? late_ns : schedule->latest_ns;
    }
    return true;
}

double replay_schedule_error(const struct replay_schedule *schedule) {
    bool is_known = has_schedule(schedule) && schedule->due_ns != 0;
    return is_known ? (double)schedule->done_ns / (double)schedule->due_ns - 1 : 0;
}

double replay_schedule_late_ns(const struct replay_schedule *schedule) {
    return schedule->count != 0 ? schedule->late_ns / (double)schedule->count : 0;
}
