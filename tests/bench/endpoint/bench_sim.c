/* SPDX-License-Identifier: MIT */
/* Rows E1 to E6, E10 and E14: the reference endpoint against models and rivals in virtual time. All candidates of a
   seed lose what they send in the same milliseconds.
   usage: bench_sim [--long] [ROW]... */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <uerudp/time_ns.h>

#include "tests/bench/endpoint/seeds.h"
#include "tests/bench/figure.h"

#define SEEDS 20
#define SEEDS_LONG SEEDS_MAX /* with four losses a thousand */
#define BULK_SEEDS 100
#define BULK_BYTES 10000000
#define BULK_LIMIT_SECONDS 120
#define NAK_P99_KNOWN_MS 126.0 /* of model-nak at 5 % when the goals were set */
#define NAK_P99_TOLERANCE 0.1

enum { LOSSES = 5, LOSS_5 = 2 };

static const double losses[LOSSES] = {0, 0.01, 0.05, 0.10, 0.20};

static uint32_t seeds = SEEDS;

/* The reference endpoint at losses[i]; several rows ask for it. */
static const struct seeds_medians *ue_at(size_t i) {
    static struct seeds_medians known[LOSSES];
    static bool is_known[LOSSES];
    if (!is_known[i]) {
        struct play play = seeds_game(losses[i]);
        known[i] = seeds_play(&rival_ue, &play, seeds);
        is_known[i] = true;
    }
    return &known[i];
}

static void print_noted(const char *row, const char *figure, double value, const char *unit, const char *note,
                        const char *invalid) {
    figure_print(&(struct figure){
        .row = row, .figure = figure, .value = value, .unit = unit, .spread = -1, .note = note, .invalid = invalid});
}

static const char *percent(char text[48], double loss, const char *what) {
    snprintf(text, 48, "%.0f %%%s", loss * 100, what);
    return text;
}

static void measure_latency(void) {
    struct seeds_medians nak[LOSSES];
    for (size_t i = 1; i < LOSSES; i++) {
        struct play play = seeds_game(losses[i]);
        nak[i] = seeds_play(&rival_nak, &play, seeds);
    }
    double known = nak[LOSS_5].p99_ms / NAK_P99_KNOWN_MS;
    bool is_weak = fabs(known - 1) > NAK_P99_TOLERANCE;
    for (size_t i = 1; i < LOSSES; i++) {
        const struct seeds_medians *ue = ue_at(i);
        char name[48], note[160];
        snprintf(note, sizeof note, "ms: p50 %.1f, p99 %.1f, p99.9 %.1f, max %.1f; model-nak %.1f, %.1f, %.1f, %.1f",
                 ue->p50_ms, ue->p99_ms, ue->p999_ms, ue->max_ms, nak[i].p50_ms, nak[i].p99_ms, nak[i].p999_ms,
                 nak[i].max_ms);
        print_noted("E1", percent(name, losses[i], ""), ue->p99_ms / nak[i].p99_ms, "x model-nak", note,
                    is_weak ? "model-nak is not what it was when the goals were set" : NULL);
    }
    for (size_t i = LOSS_5; i < LOSSES; i++) {
        struct play play = seeds_game(losses[i]);
        struct seeds_medians repeat = seeds_play(&rival_ue_repeat, &play, seeds);
        char name[48], note[80];
        snprintf(note, sizeof note, "%.3f bytes on the wire per byte, %.3f without the option", repeat.wire,
                 ue_at(i)->wire);
        print_noted("E1", percent(name, losses[i], ", repeat_reliable"), repeat.p99_ms, "ms", note, NULL);
    }
}

static void measure_delivery(void) {
    uint64_t undelivered = 0;
    uint32_t out_of_order = 0;
    double difference = 0;
    for (size_t i = 1; i < LOSSES; i++) {
        const struct seeds_medians *ue = ue_at(i);
        undelivered += ue->undelivered;
        out_of_order += ue->out_of_order;
        difference = fmax(difference, fabs(ue->unreliable_lost - ue->datagrams_lost) * 100);
    }
    figure_print_value("E2", "missing", (double)undelivered, "messages");
    figure_print_value("E2", "out of order", out_of_order, "runs");
    figure_print_value("E2", "unreliable loss", difference, "% points");
}

static void measure_jitter(void) {
    struct play play = seeds_game(0);
    play.path.jitter_ns = 20 * UE_NS_PER_MS;
    struct seeds_medians ue = seeds_play(&rival_ue, &play, seeds);
    struct seeds_medians waiting = seeds_play(&rival_ue_waiting, &play, seeds);
    figure_print_value("E3", "p99", ue.p99_ms, "ms");
    figure_print_value("E3", "unreliable", 1 - ue.unreliable_lost, "of all");
    figure_print_value("E3", "unreliable, reorder_wait_ns", 1 - waiting.unreliable_lost, "of all");
}

static void measure_bursts(void) {
    struct play play = seeds_game(0.05);
    play.path.loss_burst = 3;
    struct seeds_medians ue = seeds_play(&rival_ue, &play, seeds);
    struct seeds_medians nak = seeds_play(&rival_nak, &play, seeds);
    char note[80];
    snprintf(note, sizeof note, "%.1f ms, model-nak %.1f", ue.p99_ms, nak.p99_ms);
    print_noted("E4", "p99", ue.p99_ms / nak.p99_ms, "x model-nak", note, NULL);
}

static void measure_rivals(void) {
    struct play play = seeds_game(losses[LOSS_5]);
    double ue_ms = ue_at(LOSS_5)->p99_ms;
    if (rival_ngtcp2 == NULL) {
        fputs("bench_sim: E5 needs libngtcp2-dev and libngtcp2-crypto-gnutls-dev\n", stderr);
        return;
    }
    double quic_ms = seeds_play(rival_ngtcp2, &play, seeds).p99_ms;
    char note[120];
    int size = snprintf(note, sizeof note, "%.1f ms, ngtcp2 %.1f", ue_ms, quic_ms);
    if (rival_enet != NULL) {
        struct seeds_medians enet = seeds_play(rival_enet, &play, seeds);
        snprintf(note + size, sizeof note - (size_t)size, ", ENet %.1f, which did not deliver %llu messages",
                 enet.p99_ms, (unsigned long long)enet.undelivered);
    }
    print_noted("E5", "5 %", ue_ms / quic_ms, "x ngtcp2", note, NULL);
}

static void measure_wire(void) {
    figure_print_value("E6", "0 %", ue_at(0)->wire, "bytes per byte");
    figure_print_value("E6", "5 %", ue_at(LOSS_5)->wire, "bytes per byte");
}

static void measure_bulk(void) {
    static const double bulk_losses[] = {0, 0.01, 0.05, 0.20};
    uint32_t bad = 0;
    for (size_t i = 0; i < sizeof bulk_losses / sizeof *bulk_losses; i++) {
        struct play play = {.path = {.delay_ns = 25 * UE_NS_PER_MS,
                                     .loss = bulk_losses[i],
                                     .rate_bytes = 12500000,
                                     .queue_bytes = 256000},
                            .bulk_bytes = BULK_BYTES,
                            .limit_seconds = BULK_LIMIT_SECONDS};
        struct seeds_medians ue = seeds_play(&rival_ue, &play, BULK_SEEDS);
        char name[48];
        figure_print_value("E10", percent(name, bulk_losses[i], ""), ue.bulk_seconds, "s");
        bad += ue.stalled + ue.out_of_order;
    }
    figure_print_value("E10", "stalled", bad, "runs");
}

static void measure_sparse(void) {
    for (size_t i = LOSS_5; i < LOSSES; i++) {
        struct play play = seeds_sparse(losses[i]);
        struct seeds_medians best = seeds_play(&rival_ue_sparse, &play, seeds);
        struct seeds_medians plain = seeds_play(&rival_ue, &play, seeds);
        char name[48], note[120];
        snprintf(note, sizeof note, "%.1f ms without options; %.2f bytes on the wire per byte, %.2f without options",
                 plain.p99_ms, best.wire, plain.wire);
        print_noted("E14", percent(name, losses[i], ""), best.p99_ms, "ms", note, NULL);
    }
}

int main(int argc, char **argv) {
    static const struct {
        const char *row;
        void (*measure)(void);
    } rows[] = {{"E1", measure_latency}, {"E2", measure_delivery}, {"E3", measure_jitter}, {"E4", measure_bursts},
                {"E5", measure_rivals},  {"E6", measure_wire},     {"E10", measure_bulk},  {"E14", measure_sparse}};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--long") == 0) {
            seeds = SEEDS_LONG;
        }
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (figure_is_wanted(argc, argv, rows[i].row)) {
            rows[i].measure();
        }
    }
    return 0;
}
