/* SPDX-License-Identifier: MIT */
/* Messages over real sockets of the loopback interface: CPU per message of the reference endpoint beside plain
   datagrams, TCP and ENet, all in one run (goal E9 of the performance document). usage: bench_loop [--json] [--quick]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/bench/endpoint/loop.h"
#include "tests/bench/report.h"

#define ROUNDS 31
#define ROUNDS_QUICK 5
#define STEPS 400 /* of a candidate in a round */
#define CANDIDATES_MAX 4
#define OVER_FLOOR_MUST_NS 500
#define OVER_FLOOR_STRETCH_NS 200

#ifndef BENCH_LIBRARY_FLAGS
#define BENCH_LIBRARY_FLAGS ""
#endif

/* One candidate at one number of messages per flush. */
struct trial {
    const struct loop_candidate *candidate;
    void *pair;
    double samples_ns[ROUNDS]; /* of a message */
    double median_ns;
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

static int compare(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static size_t open_trials(struct trial *trials) {
    const struct loop_candidate *const candidates[CANDIDATES_MAX] = {&loop_raw, &loop_ue, &loop_tcp, loop_enet};
    size_t count = 0;
    for (size_t i = 0; i < CANDIDATES_MAX; i++) {
        if (candidates[i] == NULL) {
            printf("# SKIP: ENet is not installed\n");
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
static size_t run_trials(struct trial *trials, uint32_t rounds, uint32_t messages) {
    size_t count = open_trials(trials);
    for (uint32_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < count; i++) {
            run_round(&trials[(i + round) % count], round, messages);
        }
    }
    for (size_t i = 0; i < count; i++) {
        qsort(trials[i].samples_ns, rounds, sizeof *trials[i].samples_ns, compare);
        trials[i].median_ns = trials[i].samples_ns[rounds / 2];
        trials[i].candidate->close(trials[i].pair);
    }
    return count;
}

/* trials: the raw datagram first, then the endpoint. */
static void report_trials(struct report *report, const struct trial *trials, size_t count, uint32_t messages) {
    char id[64];
    double floor_ns = trials[1].datagrams * trials[0].median_ns;
    snprintf(id, sizeof id, "%sloop-over-floor-k%u", messages == 8 ? "E9-" : "", messages);
    bool is_goal = messages == 8;
    report_metric(report, &(struct metric){.id = id,
                                           .value = trials[1].median_ns - floor_ns,
                                           .unit = "ns/message",
                                           .must = is_goal ? OVER_FLOOR_MUST_NS : 0,
                                           .stretch = is_goal ? OVER_FLOOR_STRETCH_NS : 0});
    snprintf(id, sizeof id, "loop-datagrams-k%u", messages);
    report_metric(report, &(struct metric){.id = id, .value = trials[1].datagrams, .unit = "datagrams/message"});
    snprintf(id, sizeof id, "loop-cpu-k%u", messages);
    for (size_t i = 0; i < count; i++) {
        if (i != 1) {
            report_metric(report, &(struct metric){.id = id,
                                                   .value = trials[1].median_ns,
                                                   .unit = "ns/message",
                                                   .anchor = trials[i].candidate->name,
                                                   .anchor_value = trials[i].median_ns});
        }
    }
}

int main(int argc, char **argv) {
    static const uint32_t per_flush[] = {1, 8, 32};
    struct report report = {0};
    uint32_t rounds = ROUNDS;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            report.json = true;
        } else if (strcmp(argv[i], "--quick") == 0) {
            rounds = ROUNDS_QUICK;
        } else {
            fputs("usage: bench_loop [--json] [--quick]\n", stderr);
            return 2;
        }
    }
    report_header(&report, "bench_loop", BENCH_LIBRARY_FLAGS);
    for (size_t i = 0; i < sizeof per_flush / sizeof *per_flush; i++) {
        struct trial trials[CANDIDATES_MAX];
        size_t count = run_trials(trials, rounds, per_flush[i]);
        report_trials(&report, trials, count, per_flush[i]);
    }
    return 0;
}
