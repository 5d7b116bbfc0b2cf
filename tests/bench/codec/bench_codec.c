/* SPDX-License-Identifier: MIT */
/* Rows C1, C3, C4, C5 and C6: the codec against a hand-written limit and a naive codec, all in one run.
   usage: bench_codec [--long] [ROW]... | --count SHAPE CANDIDATE */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/codec/allocations.h"
#include "tests/bench/codec/hostile.h"
#include "tests/bench/codec/timing.h"
#include "tests/bench/figure.h"

#define ROUNDS 151
#define SEED 1
#define TRIALS_MAX 160
#define BENCHES_MAX 24
#define COUNT_PACKETS 256
#define COUNT_PASSES 4
#define HOSTILE_SHAPE "U4"

struct run {
    struct random random;
    struct bench benches[BENCHES_MAX];
    size_t bench_count;
    struct trial trials[TRIALS_MAX];
    size_t trial_count;
};

static void fail(const char *what) {
    fprintf(stderr, "bench_codec: %s\n", what);
    exit(1);
}

static struct bench *add_bench(struct run *run, const struct shape *shape, uint32_t packets) {
    struct bench *bench = &run->benches[run->bench_count++];
    if (!bench_init(bench, shape, packets, SEED)) {
        fail("out of memory");
    }
    if (!bench_agree(bench)) {
        fail("nothing is timed while candidates disagree");
    }
    return bench;
}

static void add_trial(struct run *run, const char *shape, struct bench *bench, const struct candidate *candidate) {
    run->trials[run->trial_count++] = (struct trial){.shape = shape, .candidate = candidate, .bench = bench};
}

static void add_all_trials(struct run *run) {
    const struct shape *shape;
    for (size_t i = 0; (shape = shape_at(i)) != NULL; i++) {
        struct bench *bench = add_bench(run, shape, POOL_PACKETS);
        const struct candidate *candidate;
        for (size_t k = 0; (candidate = candidate_at(k)) != NULL; k++) {
            add_trial(run, shape->name, bench, candidate);
        }
    }
    const char *way;
    for (size_t i = 0; (way = hostile_name(i)) != NULL; i++) {
        struct bench *bench = add_bench(run, shape_find(HOSTILE_SHAPE), POOL_PACKETS);
        hostile_damage(&bench->pool, i, &run->random);
        if (!bench_readings_agree(bench)) {
            fail("nothing is timed while readings disagree");
        }
        add_trial(run, way, bench, candidate_find("library_headers"));
    }
}

static const struct trial *find(const struct run *run, const char *shape, const char *candidate) {
    for (size_t i = 0; i < run->trial_count; i++) {
        const struct trial *trial = &run->trials[i];
        if (strcmp(trial->shape, shape) == 0 && strcmp(trial->candidate->name, candidate) == 0) {
            return trial;
        }
    }
    fail("no such trial");
    return NULL;
}

/* The ratio of two medians of this run. */
static double ratio(const struct run *run, const char *shape, const char *candidate, const char *anchor) {
    return find(run, shape, candidate)->median / find(run, shape, anchor)->median;
}

static void print_ratios(const struct run *run) {
    figure_print_value("C1", "4 bunches", ratio(run, "U4", "library_headers", "limit_headers"), "x limit");
    figure_print_value("C1", "20 bunches", ratio(run, "U20", "library_headers", "limit_headers"), "x limit");
    figure_print_value("C3", "4 bunches", 1 / ratio(run, "U4", "library_payload", "naive_payload"), "x faster");
    figure_print_value("C4", "4 bunches", ratio(run, "U4", "library_encode", "limit_encode"), "x limit");
    figure_print_value("C4", "20 bunches", ratio(run, "U20", "library_encode", "limit_encode"), "x limit");
}

static void print_hostile(const struct run *run) {
    double valid = find(run, HOSTILE_SHAPE, "library_headers")->median;
    const char *way;
    for (size_t i = 0; (way = hostile_name(i)) != NULL; i++) {
        figure_print_value("C6", way, find(run, way, "library_headers")->median / valid, "x valid");
    }
}

static void measure(struct run *run) {
    add_all_trials(run);
    unsigned long before = allocations_count();
    bool done = trials_run(run->trials, run->trial_count, ROUNDS, &run->random);
    if (!done) {
        fail("out of memory");
    }
    /* trials_run itself allocates once, for its samples. */
    double allocations = (double)(allocations_count() - before - 1);
    double words = find(run, "U4h8", "library_headers")->median - find(run, "U4", "library_headers")->median;
    print_ratios(run);
    figure_print_value("C5", "allocations", allocations, "calls");
    figure_print_value("C5", "8 history words", words, "ns");
    print_hostile(run);
}

/* Only the bench_run_ function of the candidate is of interest to the profiler; see count.py. */
static void count(struct run *run, const char *shape_name, const char *candidate_name) {
    const struct shape *shape = shape_find(shape_name);
    const struct candidate *candidate = candidate_find(candidate_name);
    if (shape == NULL || candidate == NULL) {
        fail("unknown shape or candidate");
    }
    struct bench *bench = add_bench(run, shape, COUNT_PACKETS);
    for (int pass = 0; pass < COUNT_PASSES; pass++) {
        candidate->run(bench);
    }
}

int main(int argc, char **argv) {
    static struct run run = {.random.state = SEED};
    if (argc == 4 && strcmp(argv[1], "--count") == 0) {
        count(&run, argv[2], argv[3]);
    } else {
        measure(&run);
    }
    for (size_t i = 0; i < run.bench_count; i++) {
        bench_free(&run.benches[i]);
    }
    return 0;
}
