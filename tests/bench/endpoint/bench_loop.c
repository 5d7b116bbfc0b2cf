/* SPDX-License-Identifier: MIT */
/* Row E9: CPU time per message over real sockets of the loopback interface, of the reference endpoint beside plain
   datagrams, TCP and ENet, all in one run. usage: bench_loop [--long] [E9] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/bench/endpoint/loop.h"
#include "tests/bench/figure.h"

#define ROUNDS 31
#define STEPS 400 /* of a candidate in a round */
#define CANDIDATES_MAX 4
#define MESSAGES 8 /* per flush */

/* One candidate at one number of messages per flush. */
struct trial {
    const struct loop_candidate *candidate;
    void *pair;
    double samples_ns[ROUNDS]; /* of a message */
    double median_ns;
    double spread;
    double datagrams; /* per message */
};

static void fail(const char *what, const char *name) {
    fprintf(stderr, "bench_loop: %s: %s\n", name, what);
    exit(1);
}

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void run_round(struct trial *trial, uint32_t round, uint32_t messages) {
    struct loop_counts before = trial->candidate->counts(trial->pair);
    double begin_ns = cpu_ns();
    for (uint32_t i = 0; i < STEPS; i++) {
        if (!trial->candidate->step(trial->pair, messages)) {
            fail("a message did not arrive", trial->candidate->name);
        }
    }
    double used_ns = cpu_ns() - begin_ns;
    struct loop_counts after = trial->candidate->counts(trial->pair);
    double count = (double)(after.messages - before.messages);
    trial->samples_ns[round] = used_ns / count;
    trial->datagrams = (double)(after.datagrams - before.datagrams) / count;
}

static size_t open_trials(struct trial *trials) {
    const struct loop_candidate *const candidates[CANDIDATES_MAX] = {&loop_raw, &loop_ue, &loop_tcp, loop_enet};
    size_t count = 0;
    for (size_t i = 0; i < CANDIDATES_MAX; i++) {
        if (candidates[i] == NULL) {
            continue;
        }
        struct trial *trial = &trials[count++];
        *trial = (struct trial){.candidate = candidates[i], .pair = candidates[i]->open()};
        if (trial->pair == NULL) {
            fail("cannot connect to itself", candidates[i]->name);
        }
    }
    return count;
}

/* Every round runs every candidate, so that what disturbs the machine disturbs all alike. */
static size_t run_trials(struct trial *trials) {
    size_t count = open_trials(trials);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < count; i++) {
            run_round(&trials[(i + round) % count], round, MESSAGES);
        }
    }
    for (size_t i = 0; i < count; i++) {
        trials[i].spread = figure_spread(trials[i].samples_ns, ROUNDS);
        trials[i].median_ns = figure_median(trials[i].samples_ns, ROUNDS);
        trials[i].candidate->close(trials[i].pair);
    }
    return count;
}

int main(void) {
    struct trial trials[CANDIDATES_MAX];
    size_t count = run_trials(trials);
    const struct trial *raw = &trials[0], *ue = &trials[1];
    char note[200];
    size_t size = (size_t)snprintf(note, sizeof note, "ns: %.0f less %.3f datagrams of %.0f", ue->median_ns,
                                   ue->datagrams, raw->median_ns);
    for (size_t i = 2; i < count; i++) {
        size += (size_t)snprintf(note + size, sizeof note - size, "; %s %.0f", trials[i].candidate->name,
                                 trials[i].median_ns);
    }
    figure_print(&(struct figure){.row = "E9",
                                  .figure = "k=8",
                                  .value = ue->median_ns - ue->datagrams * raw->median_ns,
                                  .unit = "ns",
                                  .spread = raw->spread,
                                  .note = note});
    return 0;
}
