/* SPDX-License-Identifier: MIT */
/* Runs of one case with several seeds, and the traffic of the rows E1 and E14 and of docs/latency.md. */
#ifndef UERUDP_TESTS_BENCH_ENDPOINT_SEEDS_H
#define UERUDP_TESTS_BENCH_ENDPOINT_SEEDS_H

#include "tests/bench/endpoint/play.h"

#define SEEDS_MAX 250

/* Of one candidate in one case. */
struct seeds_medians {
    double p50_ms, p99_ms, p999_ms, max_ms, wire, bulk_seconds;
    double unreliable_lost; /* share of unreliable messages, over all seeds */
    double datagrams_lost;  /* share of the datagrams that could carry them */
    uint64_t sent;          /* reliable messages, of all seeds */
    uint64_t undelivered;   /* of them, missing at the end */
    uint32_t out_of_order;  /* seeds with a message twice or out of order */
    uint32_t stalled;       /* bulk that did not end in time */
};

/* The seeds 1 to count. Exits with status 1 where the pair cannot be created. */
struct seeds_medians seeds_play(const struct rival *rival, const struct play *base, uint32_t count);

/* A round trip of 50 ms; 1,800 s of a game, or of sparse messages. */
struct play seeds_game(double loss);
struct play seeds_sparse(double loss);

#endif
