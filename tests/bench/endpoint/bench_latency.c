/* SPDX-License-Identifier: MIT */
/* The cases of docs/latency.md, in virtual time: a line of JSON for each case, impairment and protocol stack.
   usage: bench_latency [CASE]... */
#include <stdio.h>
#include <uerudp/time_ns.h>

#include "tests/bench/endpoint/seeds.h"
#include "tests/bench/figure.h"

#define SEEDS 3 /* of 36,000 messages of the game, 3,600 lone ones */
#define VALUES_MAX 5
#define KERNEL_POLLS 16   /* about one in each millisecond */
#define QUEUE_BYTES 20000 /* before the limited rate */
#define RATE_LOSS 0.01    /* beside a limited rate */
#define BURST_LOSS 0.05   /* of datagrams, in runs */

enum traffic { GAME, SPARSE };

static void set_loss(struct play *play, double percent) {
    play->path.loss = percent / 100;
}

static void set_burst(struct play *play, double datagrams) {
    play->path.loss = BURST_LOSS;
    play->path.loss_burst = datagrams;
}

static void set_jitter(struct play *play, double ms) {
    play->path.jitter_ns = (uint64_t)(ms * UE_NS_PER_MS);
}

static void set_rate(struct play *play, double kilobytes) {
    play->path.loss = RATE_LOSS;
    play->path.rate_bytes = (uint64_t)(kilobytes * 1000);
    play->path.queue_bytes = QUEUE_BYTES;
}

static const struct latency_case {
    const char *name;
    enum traffic traffic;
    void (*set)(struct play *play, double value);
    double values[VALUES_MAX];
    size_t count;
} cases[] = {
    {"dense-loss", GAME, set_loss, {0, 1, 5, 10, 20}, 5},    {"dense-burst", GAME, set_burst, {1, 3, 5, 8}, 4},
    {"dense-jitter", GAME, set_jitter, {0, 10, 20, 40}, 4},  {"dense-rate", GAME, set_rate, {100, 50, 40, 30}, 4},
    {"sparse-loss", SPARSE, set_loss, {0, 1, 5, 10, 20}, 5},
};

/* The kernel handles TCP, whenever a packet arrives; the other stacks are part of the program. */
static const struct stack {
    const char *name;
    const struct rival *const *rival;
    bool is_kernel;
    enum { ALWAYS, WITHOUT_RATE, WITH_RATE } when; /* the floor's packets grow with what waits in a queue */
} stacks[] = {
    {"engine", &(const struct rival *const){&rival_ue}, false, ALWAYS},
    {"options", &(const struct rival *const){&rival_ue_sparse}, false, ALWAYS},
    {"budget", &(const struct rival *const){&rival_ue_budget}, false, WITH_RATE},
    {"floor", &(const struct rival *const){&rival_red}, false, WITHOUT_RATE},
    {"enet", &rival_enet, false, ALWAYS},
    {"quic", &rival_ngtcp2, false, ALWAYS},
    {"tcp", &rival_lwip, true, ALWAYS},
};

static void measure(const struct latency_case *c, double value, const struct stack *stack) {
    struct play play = c->traffic == GAME ? seeds_game(0) : seeds_sparse(0);
    play.polls = stack->is_kernel ? KERNEL_POLLS : 0;
    play.has_ip_headers = stack->is_kernel;
    c->set(&play, value);
    struct seeds_medians m = seeds_play(*stack->rival, &play, SEEDS);
    printf("{\"case\":\"%s\",\"value\":%g,\"stack\":\"%s\",\"p50_ms\":%.1f,\"p99_ms\":%.1f,\"p999_ms\":%.1f,"
           "\"max_ms\":%.1f,\"wire\":%.3f,\"undelivered\":%.4f,\"wrong\":%u}\n",
           c->name, value, stack->name, m.p50_ms, m.p99_ms, m.p999_ms, m.max_ms, m.wire,
           (double)m.undelivered / (double)m.sent, m.out_of_order);
    fflush(stdout);
}

int main(int argc, char **argv) {
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        if (*stacks[i].rival == NULL) {
            fprintf(stderr, "bench_latency: %s is not built in; docs/latency.md names the packages\n", stacks[i].name);
            return 1;
        }
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t v = 0; figure_is_wanted(argc, argv, cases[i].name) && v < cases[i].count; v++) {
            for (size_t s = 0; s < sizeof stacks / sizeof *stacks; s++) {
                if (stacks[s].when != (cases[i].set == set_rate ? WITHOUT_RATE : WITH_RATE)) {
                    measure(&cases[i], cases[i].values[v], &stacks[s]);
                }
            }
        }
    }
    return 0;
}
