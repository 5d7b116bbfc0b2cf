/* SPDX-License-Identifier: MIT */
#include "tests/bench/codec/timing.h"

#include <stdlib.h>
#include <time.h>

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One pass to warm the caches, in an order that the timed pass does not repeat. */
static double time_once(const struct trial *trial, struct random *random) {
    struct pool *pool = &trial->bench->pool;
    pool_shuffle(pool, random);
    trial->candidate->run(trial->bench);
    pool_shuffle(pool, random);
    double begin = now_ns();
    trial->candidate->run(trial->bench);
    return (now_ns() - begin) / pool->count;
}

bool trials_run(struct trial *trials, size_t count, uint32_t rounds, struct random *random) {
    double *samples = malloc(count * rounds * sizeof *samples);
    if (samples == NULL) {
        return false;
    }
    for (uint32_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < count; i++) {
            samples[i * rounds + round] = time_once(&trials[i], random);
        }
    }
    for (size_t i = 0; i < count; i++) {
        qsort(&samples[i * rounds], rounds, sizeof *samples, compare);
        trials[i].median = samples[i * rounds + rounds / 2];
        trials[i].minimum = samples[i * rounds];
    }
    free(samples);
    return true;
}
