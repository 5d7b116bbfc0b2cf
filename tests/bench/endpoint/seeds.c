/* SPDX-License-Identifier: MIT */
#include "tests/bench/endpoint/seeds.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/figure.h"

#define DELAY_NS UINT64_C(25000000)
#define SECONDS 1800
#define SPARSE_TICKS 30

struct seeds_medians seeds_play(const struct rival *rival, const struct play *base, uint32_t count) {
    static double p50[SEEDS_MAX], p99[SEEDS_MAX], p999[SEEDS_MAX], max[SEEDS_MAX], wire[SEEDS_MAX], bulk[SEEDS_MAX];
    struct seeds_medians m = {0};
    uint64_t sent = 0, received = 0, datagrams = 0, lost = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct play play = *base;
        struct play_result r;
        play.seed = i + 1;
        if (!play_run(rival, &play, &r)) {
            fprintf(stderr, "%s cannot be created\n", rival->name);
            exit(1);
        }
        p50[i] = r.p50_ms;
        p99[i] = r.p99_ms;
        p999[i] = r.p999_ms;
        max[i] = r.max_ms;
        wire[i] = r.wire_per_app;
        bulk[i] = r.bulk_seconds;
        sent += r.unreliable_sent;
        received += r.unreliable_received;
        datagrams += r.datagrams[RIVAL_SERVER];
        lost += r.datagrams_lost[RIVAL_SERVER];
        m.sent += r.reliable_sent;
        m.undelivered += r.reliable_sent - r.reliable_received;
        m.out_of_order += !r.ok;
        m.stalled += base->bulk_bytes != 0 && r.bulk_seconds == 0;
    }
    m.p50_ms = figure_median(p50, count);
    m.p99_ms = figure_median(p99, count);
    m.p999_ms = figure_median(p999, count);
    m.max_ms = figure_median(max, count);
    m.wire = figure_median(wire, count);
    m.bulk_seconds = figure_median(bulk, count);
    m.unreliable_lost = sent > 0 ? 1 - (double)received / (double)sent : 0;
    m.datagrams_lost = datagrams > 0 ? (double)lost / (double)datagrams : 0;
    return m;
}

struct play seeds_game(double loss) {
    return (struct play){.path = {.delay_ns = DELAY_NS, .loss = loss}, .seconds = SECONDS};
}

struct play seeds_sparse(double loss) {
    struct play play = seeds_game(loss);
    play.sparse_ticks = SPARSE_TICKS;
    return play;
}
