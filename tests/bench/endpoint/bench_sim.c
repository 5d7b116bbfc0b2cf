/* SPDX-License-Identifier: MIT */
/* The reference endpoint against ideals and rivals in virtual time: goals E1 to E8 and E10 to E13 of the performance
   document. All candidates meet the same bad moments; figures of two runs are never compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/endpoint/one.h"
#include "tests/bench/endpoint/play.h"
#include "tests/bench/endpoint/scale.h"
#include "tests/bench/endpoint/soak.h"
#include "tests/bench/report.h"

#define NS_PER_MS UINT64_C(1000000)
#define SEEDS 20
#define SEEDS_MAX 1000
#define SECONDS 1800
#define BULK_SEEDS 100
#define BULK_BYTES 10000000
#define BULK_LIMIT_SECONDS 120
#define ROUNDS 31
#define SOAK_MESSAGES 20000
#define SCALE_ROUNDS 7
#define NAK_P99_KNOWN_MS 126.0 /* model-nak at 5 % when the goals were set; a weaker model would flatter */

#ifndef BENCH_LIBRARY_FLAGS
#define BENCH_LIBRARY_FLAGS ""
#endif

struct options {
    struct report report;
    uint32_t seeds;
    uint32_t bulk_seeds;
    double seconds;
};

static bool is_invalid;

static int compare(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare);
    return count == 0 ? 0 : values[count / 2];
}

static void fail(const char *what) {
    fprintf(stderr, "bench_sim: %s\n", what);
    exit(1);
}

/* ---- a case: medians over seeds ---- */

struct medians {
    double p50_ms, p99_ms, p999_ms, max_ms, wire, bulk_seconds;
    double unreliable_lost; /* share of unreliable messages, over all seeds */
    double datagrams_lost;  /* share of the datagrams that could carry them */
    uint64_t undelivered;   /* reliable messages missing at the end */
    uint32_t disorderly;    /* seeds with a message twice or out of order */
    uint32_t stalled;       /* bulk that did not end in time */
};

static struct medians play_seeds(const struct rival *rival, const struct play *base, uint32_t seeds) {
    static double p50[SEEDS_MAX], p99[SEEDS_MAX], p999[SEEDS_MAX], max[SEEDS_MAX], wire[SEEDS_MAX], bulk[SEEDS_MAX];
    struct medians m = {0};
    uint64_t sent = 0, heard = 0, datagrams = 0, lost = 0;
    for (uint32_t i = 0; i < seeds; i++) {
        struct play play = *base;
        struct play_result r;
        play.seed = i + 1;
        if (!play_run(rival, &play, &r)) {
            fail("a candidate cannot be created");
        }
        p50[i] = r.p50_ms;
        p99[i] = r.p99_ms;
        p999[i] = r.p999_ms;
        max[i] = r.max_ms;
        wire[i] = r.wire_per_app;
        bulk[i] = r.bulk_seconds;
        sent += r.unreliable_sent;
        heard += r.unreliable_heard;
        datagrams += r.datagrams[RIVAL_SERVER];
        lost += r.datagrams_lost[RIVAL_SERVER];
        m.undelivered += r.reliable_sent - r.reliable_heard;
        m.disorderly += !r.ok;
        m.stalled += base->bulk_bytes != 0 && r.bulk_seconds == 0;
    }
    m.p50_ms = median(p50, seeds);
    m.p99_ms = median(p99, seeds);
    m.p999_ms = median(p999, seeds);
    m.max_ms = median(max, seeds);
    m.wire = median(wire, seeds);
    m.bulk_seconds = median(bulk, seeds);
    m.unreliable_lost = sent > 0 ? 1 - (double)heard / (double)sent : 0;
    m.datagrams_lost = datagrams > 0 ? (double)lost / (double)datagrams : 0;
    return m;
}

static void say(struct options *o, const char *id, double value, const char *unit, const char *anchor,
                double anchor_value, double must, double stretch) {
    report_metric(&o->report, &(struct metric){.id = id,
                                               .value = value,
                                               .unit = unit,
                                               .anchor = anchor,
                                               .anchor_value = anchor_value,
                                               .must = must,
                                               .stretch = stretch});
}

static void say_case(struct options *o, const char *goal, const char *name, const char *what, double value,
                     const char *unit, const char *anchor, double anchor_value, double must, double stretch) {
    char id[64];
    snprintf(id, sizeof id, "%s.%s.%s", goal, name, what);
    say(o, id, value, unit, anchor, anchor_value, must, stretch);
}

static struct play game_of(const struct options *o, double loss) {
    return (struct play){.path = {.delay_ns = 25 * NS_PER_MS, .loss = loss}, .seconds = o->seconds};
}

/* ---- E1, E2, E5, E6: loss ---- */

static void say_latencies(struct options *o, const char *name, double loss, const struct medians *ue,
                          const struct medians *nak) {
    say_case(o, "E1", name, "p50", ue->p50_ms, "ms", "model-nak", nak->p50_ms, 0, 0);
    say_case(o, "E1", name, "p99", ue->p99_ms, "ms", "model-nak", nak->p99_ms, loss >= 0.05 ? 1.10 : 0,
             loss >= 0.05 ? 1.02 : 0);
    say_case(o, "E1", name, "p99.9", ue->p999_ms, "ms", "model-nak", nak->p999_ms, 1.15, 0);
    say_case(o, "E1", name, "max", ue->max_ms, "ms", "model-nak", nak->max_ms, 0, 0);
}

/* Half of one is none: a goal of 0 would mean that there is no goal. */
static void say_delivery(struct options *o, const char *name, const struct medians *ue) {
    double difference = (ue->unreliable_lost - ue->datagrams_lost) * 100;
    say_case(o, "E2", name, "undelivered", (double)ue->undelivered, "messages", NULL, 0, 0.5, 0);
    say_case(o, "E2", name, "disorderly", ue->disorderly, "seeds", NULL, 0, 0.5, 0);
    say_case(o, "E2", name, "unreliable-off-link", difference < 0 ? -difference : difference, "%points", NULL, 0, 0.2,
             0);
}

static void say_rival(struct options *o, const char *name, const struct play *play, const char *title,
                      const struct rival *rival, const struct medians *ue, double stretch) {
    if (rival == NULL) {
        printf("SKIP E5.%s %s: not installed\n", name, title);
        return;
    }
    struct medians m = play_seeds(rival, play, o->seeds);
    say_case(o, "E5", name, "p99", ue->p99_ms, "ms", title, m.p99_ms, 1.0, stretch);
    say_case(o, "E6", name, "wire", ue->wire, "bytes/byte", title, m.wire, 0, 0);
}

static void say_rivals(struct options *o, const char *name, double loss, const struct medians *ue) {
    struct play play = game_of(o, loss);
    struct medians red = play_seeds(&rival_red, &play, o->seeds < 3 ? o->seeds : 3);
    say_case(o, "E1", name, "p99-of-model-red", red.p99_ms, "ms", NULL, 0, 0, 0);
    struct medians repeat = play_seeds(&rival_ue_repeat, &play, o->seeds < 3 ? o->seeds : 3);
    say_case(o, "E1", name, "p99-with-repeat", repeat.p99_ms, "ms", "model-red", red.p99_ms, 0, 0);
    say_case(o, "E6", name, "wire-with-repeat", repeat.wire, "bytes/byte", "uerudp", ue->wire, 0, 0);
    say_rival(o, name, &play, "ENet", rival_enet, ue, 0);
    say_rival(o, name, &play, "ngtcp2", rival_ngtcp2, ue, 0.9);
}

static void measure_loss(struct options *o, double loss) {
    char name[16];
    snprintf(name, sizeof name, "loss-%.0f", loss * 100);
    struct play play = game_of(o, loss);
    struct medians ue = play_seeds(&rival_ue, &play, o->seeds);
    struct medians nak = play_seeds(&rival_nak, &play, o->seeds);
    say_latencies(o, name, loss, &ue, &nak);
    say_delivery(o, name, &ue);
    if (loss == 0 || loss == 0.05) {
        bool is_clean = loss == 0;
        say_case(o, "E6", name, "wire", ue.wire, "bytes/byte", NULL, 0, is_clean ? 1.20 : 1.21, is_clean ? 1.17 : 1.18);
        say_case(o, "E6", name, "wire-of-model-nak", nak.wire, "bytes/byte", NULL, 0, 0, 0);
    }
    if (loss == 0.05) {
        say_rivals(o, name, loss, &ue);
        double known = nak.p99_ms / NAK_P99_KNOWN_MS;
        if (known < 0.9 || known > 1.1) {
            printf("INVALID: model-nak has p99 %.1f ms at 5 %% loss, not within 10 %% of %.0f\n", nak.p99_ms,
                   NAK_P99_KNOWN_MS);
            is_invalid = true;
        }
    }
}

/* ---- E3, E4: jitter, bursts ---- */

static void measure_jitter(struct options *o) {
    struct play play = game_of(o, 0);
    play.path.jitter_ns = 20 * NS_PER_MS;
    struct medians ue = play_seeds(&rival_ue, &play, o->seeds);
    struct medians nak = play_seeds(&rival_nak, &play, o->seeds);
    say(o, "E3.jitter.p99", ue.p99_ms, "ms", NULL, 0, 61, 0);
    say(o, "E3.jitter.p99.9", ue.p999_ms, "ms", "model-nak", nak.p999_ms, 0, 0);
    say(o, "E3.jitter.unreliable-lost", ue.unreliable_lost, "share", NULL, 0, 0.0005, 0);
    struct medians patient = play_seeds(&rival_ue_patient, &play, o->seeds < 3 ? o->seeds : 3);
    say(o, "E3.jitter.unreliable-lost-with-reorder-wait", patient.unreliable_lost, "share", NULL, 0, 0, 0);
    say(o, "E3.jitter.p99-with-reorder-wait", patient.p99_ms, "ms", NULL, 0, 0, 0);
    play = game_of(o, 0.05);
    play.path.loss_burst = 3;
    ue = play_seeds(&rival_ue, &play, o->seeds);
    nak = play_seeds(&rival_nak, &play, o->seeds);
    say(o, "E4.burst.p99", ue.p99_ms, "ms", "model-nak", nak.p99_ms, 1.10, 0);
}

/* The phase of ticks matters more than the protocol: the network read each millisecond (no goal). */
static void measure_polling(struct options *o) {
    struct play play = game_of(o, 0.05);
    play.polls = 17;
    struct medians ue = play_seeds(&rival_ue, &play, o->seeds < 3 ? o->seeds : 3);
    struct medians nak = play_seeds(&rival_nak, &play, o->seeds < 3 ? o->seeds : 3);
    say(o, "E1.polled-each-ms.p50", ue.p50_ms, "ms", "model-nak", nak.p50_ms, 0, 0);
    say(o, "E1.polled-each-ms.p99", ue.p99_ms, "ms", "model-nak", nak.p99_ms, 0, 0);
}

/* ---- E10: bulk ---- */

static void measure_bulk(struct options *o) {
    static const struct {
        double loss;
        double must; /* seconds: 1.06 times the bound, then what dpull/utcp with the span held needs */
    } cases[] = {{0, 1.06 * 3.2}, {0.01, 5.0}, {0.05, 7.0}, {0.20, 17.0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct play play = {
            .path = {.delay_ns = 25 * NS_PER_MS, .loss = cases[i].loss, .rate_bytes = 12500000, .queue_bytes = 256000},
            .bulk_bytes = BULK_BYTES,
            .limit_seconds = BULK_LIMIT_SECONDS};
        struct medians ue = play_seeds(&rival_ue, &play, i == 0 ? 1 : o->bulk_seeds);
        char name[16];
        snprintf(name, sizeof name, "loss-%.0f", cases[i].loss * 100);
        say_case(o, "E10", name, "seconds", ue.bulk_seconds, "s", NULL, 0, cases[i].must,
                 i == 0 ? 0 : 0.8 * cases[i].must);
        say_case(o, "E10", name, "stalled", ue.stalled, "seeds", NULL, 0, 0.5, 0);
        say_case(o, "E10", name, "disorderly", ue.disorderly, "seeds", NULL, 0, 0.5, 0);
    }
}

/* ---- E8, E11 to E13: work and memory ---- */

static void measure_soak(struct options *o, uint32_t messages_per_step) {
    const struct rival *rivals[] = {&rival_ue, &rival_nak, rival_enet, rival_ngtcp2};
    static double ns[4][ROUNDS];
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < 4; i++) {
            ns[i][round] = rivals[i] != NULL ? soak_run(rivals[i], messages_per_step, SOAK_MESSAGES) : 0;
        }
    }
    char name[8];
    snprintf(name, sizeof name, "k-%u", messages_per_step);
    double ue = median(ns[0], ROUNDS);
    for (size_t i = 1; i < 4; i++) {
        if (rivals[i] != NULL) {
            bool is_goal = rivals[i] == rival_enet && messages_per_step == 4;
            say_case(o, "E8", name, "per-message", ue, "ns", rivals[i]->name, median(ns[i], ROUNDS), is_goal ? 1.0 : 0,
                     is_goal ? 0.6 : 0);
        }
    }
    if (rival_enet == NULL) {
        printf("SKIP E8.%s ENet: not installed\n", name);
    }
}

static void measure_scale(struct options *o) {
    static double one[SCALE_ROUNDS], connections[SCALE_ROUNDS], channels[SCALE_ROUNDS];
    for (size_t i = 0; i < SCALE_ROUNDS; i++) {
        one[i] = scale_packet_ns(1, 1, 20000);
        connections[i] = scale_packet_ns(1000, 1, 100);
        channels[i] = scale_packet_ns(1, 1000, 20000);
    }
    double base = median(one, SCALE_ROUNDS);
    say(o, "E11.idle", scale_idle_bytes("5.5"), "bytes", NULL, 0, 16384, 6144);
    say(o, "E12.bunch", scale_bunch_bytes("5.5"), "bytes+payload", NULL, 0, 96, 48);
    say(o, "E13.connections-1000", median(connections, SCALE_ROUNDS), "ns", "one", base, 1.5, 1.2);
    say(o, "E13.channels-1000", median(channels, SCALE_ROUNDS), "ns", "one", base, 1.2, 1.05);
}

/* ---- the program ---- */

static void usage(void) {
    fail("usage: bench_sim [--json] [--quick] [--seeds N] | --count NAME K MESSAGES | --play NAME OPTIONS");
}

int main(int argc, char **argv) {
    struct options o = {.seeds = SEEDS, .bulk_seeds = BULK_SEEDS, .seconds = SECONDS};
    if (argc == 5 && strcmp(argv[1], "--count") == 0) {
        return one_count(argv[2], (uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4]));
    }
    if (argc >= 3 && strcmp(argv[1], "--play") == 0) {
        return one_play(argc - 2, argv + 2);
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            o.report.json = true;
        } else if (strcmp(argv[i], "--quick") == 0) {
            o = (struct options){.report = o.report, .seeds = 3, .bulk_seeds = 5, .seconds = 300};
        } else if (strcmp(argv[i], "--seeds") == 0 && i + 1 < argc) {
            o.seeds = (uint32_t)atoi(argv[++i]);
            o.bulk_seeds = o.seeds;
        } else {
            usage();
        }
    }
    if (o.seeds == 0 || o.seeds > SEEDS_MAX) {
        usage();
    }
    report_header(&o.report, "bench_sim", BENCH_LIBRARY_FLAGS);
    const double losses[] = {0, 0.01, 0.05, 0.10, 0.20};
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++) {
        measure_loss(&o, losses[i]);
    }
    measure_jitter(&o);
    measure_polling(&o);
    measure_bulk(&o);
    measure_soak(&o, 1);
    measure_soak(&o, 4);
    measure_scale(&o);
    return is_invalid ? 1 : 0;
}
