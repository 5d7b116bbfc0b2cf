/* SPDX-License-Identifier: MIT */
/* Times the codec against memcpy, a hand-written limit and a naive codec, all in one run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/codec/allocations.h"
#include "tests/bench/codec/hostile.h"
#include "tests/bench/codec/timing.h"
#include "tests/bench/report.h"

#define ROUNDS_MIN 31
#define ROUNDS_MAX 10001
#define TRIALS_MAX 160
#define BENCHES_MAX 24
#define COUNT_PACKETS 256
#define COUNT_PASSES 4
#define HOSTILE_SHAPE "U4"

struct options {
    uint32_t rounds;
    uint64_t seed;
    bool json;
    const char *count_shape; /* count mode: one candidate on one shape, for a profiler */
    const char *count_candidate;
};

struct run {
    struct options options;
    struct report report;
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
    if (!bench_init(bench, shape, packets, run->options.seed)) {
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
        hostile_spoil(&bench->pool, i, &run->random);
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
static void compare(struct run *run, const char *id, const char *shape, const char *candidate, const char *anchor,
                    double must, double stretch) {
    struct metric metric = {.id = id,
                            .value = find(run, shape, candidate)->median,
                            .unit = "ns",
                            .anchor = anchor,
                            .anchor_value = find(run, shape, anchor)->median,
                            .must = must,
                            .stretch = stretch};
    report_metric(&run->report, &metric);
}

static void report_times(struct run *run) {
    for (size_t i = 0; i < run->trial_count; i++) {
        const struct trial *trial = &run->trials[i];
        char id[64];
        snprintf(id, sizeof id, "time.%s.%s", trial->shape, trial->candidate->name);
        struct metric median = {
            .id = id, .value = trial->median, .unit = "ns", .anchor = "minimum", .anchor_value = trial->minimum};
        report_metric(&run->report, &median);
    }
}

static void report_goals(struct run *run) {
    static const char *const shapes[] = {"U1", "U4", "U20", "Umix"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char id[32];
        bool goal = strcmp(shapes[i], "U4") == 0 || strcmp(shapes[i], "U20") == 0;
        snprintf(id, sizeof id, "C1.%s", shapes[i]);
        compare(run, id, shapes[i], "library_headers", "limit_headers", goal ? 2.0 : 0, goal ? 1.3 : 0);
        goal = strcmp(shapes[i], "U4") == 0;
        snprintf(id, sizeof id, "C3.%s", shapes[i]);
        compare(run, id, shapes[i], "library_payload", "naive_payload", goal ? 1 / 5.0 : 0, goal ? 1 / 10.0 : 0);
        snprintf(id, sizeof id, "C4.%s", shapes[i]);
        compare(run, id, shapes[i], "library_encode", "limit_encode", goal ? 2.0 : 0, goal ? 1.3 : 0);
    }
    double words = find(run, "U4h8", "library_headers")->median - find(run, "U4", "library_headers")->median;
    report_metric(&run->report,
                  &(struct metric){.id = "C5.words", .value = words, .unit = "ns", .must = 15, .stretch = 5});
    const char *way;
    for (size_t i = 0; (way = hostile_name(i)) != NULL; i++) {
        char id[32];
        snprintf(id, sizeof id, "C6.%s", way);
        struct metric metric = {.id = id,
                                .value = find(run, way, "library_headers")->median,
                                .unit = "ns",
                                .anchor = "valid",
                                .anchor_value = find(run, HOSTILE_SHAPE, "library_headers")->median,
                                .must = 1.5};
        report_metric(&run->report, &metric);
    }
}

static void measure(struct run *run) {
    add_all_trials(run);
    unsigned long before = allocations_count();
    bool done = trials_run(run->trials, run->trial_count, run->options.rounds, &run->random);
    if (!done) {
        fail("out of memory");
    }
    /* trials_run itself allocates once, for its samples. */
    double allocations = (double)(allocations_count() - before - 1);
    report_times(run);
    report_goals(run);
    struct metric heap = {.id = "C5.allocations", .value = allocations, .unit = "calls", .must = 0.5};
    report_metric(&run->report, &heap);
}

/* Only the bench_run_ function of the candidate is of interest to the profiler; see count.sh. */
static void count(struct run *run) {
    const struct shape *shape = shape_find(run->options.count_shape);
    const struct candidate *candidate = candidate_find(run->options.count_candidate);
    if (shape == NULL || candidate == NULL) {
        fail("unknown shape or candidate");
    }
    struct bench *bench = add_bench(run, shape, COUNT_PACKETS);
    for (int pass = 0; pass < COUNT_PASSES; pass++) {
        candidate->run(bench);
    }
}

static uint64_t number(const char *text, uint64_t low, uint64_t high) {
    char *end;
    uint64_t value = strtoull(text, &end, 0);
    if (*text == '\0' || *end != '\0' || value < low || value > high) {
        fail("option out of range");
    }
    return value;
}

static void parse(struct options *o, int argc, char **argv) {
    *o = (struct options){.rounds = 101, .seed = 1};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            o->json = true;
        } else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
            o->rounds = (uint32_t)number(argv[++i], ROUNDS_MIN, ROUNDS_MAX);
        } else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            o->seed = number(argv[++i], 0, UINT64_MAX);
        } else if (strcmp(argv[i], "--count") == 0 && i + 2 < argc) {
            o->count_shape = argv[++i];
            o->count_candidate = argv[++i];
        } else {
            fail("usage: bench_codec [--json] [--rounds N] [--seed N] [--count SHAPE CANDIDATE]");
        }
    }
}

int main(int argc, char **argv) {
    static struct run run;
    parse(&run.options, argc, argv);
    run.report.json = run.options.json;
    run.random.state = run.options.seed;
    if (run.options.count_shape != NULL) {
        count(&run);
    } else {
        report_header(&run.report, "bench_codec", BENCH_LIBRARY_FLAGS);
        measure(&run);
    }
    for (size_t i = 0; i < run.bench_count; i++) {
        bench_free(&run.benches[i]);
    }
    return 0;
}
