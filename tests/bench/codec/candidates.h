/* SPDX-License-Identifier: MIT */
/* What is timed: each candidate does one thing to every packet of a pool, in the pool's order.
   The functions are named bench_run_... because instructions are counted by that name (count.py). */
#ifndef UERUDP_TESTS_BENCH_CODEC_CANDIDATES_H
#define UERUDP_TESTS_BENCH_CODEC_CANDIDATES_H

#include <uerudp/codec.h>
#include "tests/bench/codec/workload.h"

/* A pool, and the same packets as inputs of the encoder. */
struct bench {
    struct pool pool;
    struct ue_context context;
    struct ue_datagram *inputs;
    struct ue_item *items; /* of all inputs */
};

struct candidate {
    const char *name;
    void (*run)(const struct bench *bench);
};

/* NULL after the last. */
const struct candidate *candidate_at(size_t index);
const struct candidate *candidate_find(const char *name);

/* False when memory is short. */
bool bench_init(struct bench *bench, const struct shape *shape, uint32_t count, uint64_t seed);
void bench_free(struct bench *bench);

/* Whether every decoder gives the fields of the sample, and every encoder the same bytes; reports a difference on
   stderr. */
bool bench_agree(const struct bench *bench);

/* Whether the library decodes the packets, damaged or not, to equal results with and without its fast path. */
bool bench_readings_agree(const struct bench *bench);

#endif
