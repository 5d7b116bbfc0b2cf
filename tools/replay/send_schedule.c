/* SPDX-License-Identifier: MIT */
#include "tools/replay/send_schedule.h"

#include <time.h>

#include "tools/net/event_loop.h"

#define NS_PER_S 1e9
/* The system wakes a sleeper this late at most, as a rule: the rest is waited for awake. */
#define AWAKE_NS 200000u
/* About three years: what is further away is never reached, and must not overflow. */
#define DUE_NS_MAX 1e17

void replay_schedule_init(struct replay_schedule *pace, const struct replay_schedule_options *options, const volatile sig_atomic_t *stop) {
    *pace = (struct replay_schedule){.options = *options, .stop = stop};
}

static bool has_schedule(const struct replay_schedule *pace) {
    return pace->options.per_second > 0 || pace->options.speed > 0;
}

static uint64_t due_ns(const struct replay_schedule *pace, uint64_t captured_ns) {
    double ns = 0;
    if (pace->options.per_second > 0) {
        ns = (double)pace->count * NS_PER_S / pace->options.per_second;
    } else if (pace->options.speed > 0) {
        ns = (double)captured_ns / pace->options.speed;
    }
    return (uint64_t)(ns < DUE_NS_MAX ? ns : DUE_NS_MAX);
}

/* Returns when it woke up; a signal wakes, too. */
static uint64_t sleep_until(uint64_t time_ns) {
    const struct timespec until = {.tv_sec = (time_t)(time_ns / 1000000000u), .tv_nsec = (long)(time_ns % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    return event_loop_now_ns();
}

bool replay_schedule_wait(struct replay_schedule *pace, uint64_t captured_ns) {
    uint64_t now_ns = event_loop_now_ns();
    pace->begun_ns = pace->count == 0 ? now_ns : pace->begun_ns;
    pace->due_ns = due_ns(pace, captured_ns);
    uint64_t until_ns = pace->begun_ns + pace->due_ns;
    while (now_ns < until_ns && *pace->stop == 0) {
        now_ns = until_ns - now_ns > AWAKE_NS ? sleep_until(until_ns - AWAKE_NS) : event_loop_now_ns();
    }
    if (*pace->stop != 0) {
        return false;
    }
    pace->count++;
    pace->done_ns = now_ns - pace->begun_ns;
    if (has_schedule(pace)) {
        uint64_t late_ns = now_ns - until_ns;
        pace->late_ns += (double)late_ns;
        pace->latest_ns = late_ns > pace->latest_ns ? late_ns : pace->latest_ns;
    }
    return true;
}

double replay_schedule_error(const struct replay_schedule *pace) {
    bool is_known = has_schedule(pace) && pace->due_ns != 0;
    return is_known ? (double)pace->done_ns / (double)pace->due_ns - 1 : 0;
}

double replay_schedule_late_ns(const struct replay_schedule *pace) {
    return pace->count != 0 ? pace->late_ns / (double)pace->count : 0;
}
