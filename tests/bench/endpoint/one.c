/* SPDX-License-Identifier: MIT */
#include "tests/bench/endpoint/one.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/endpoint/play.h"
#include "tests/bench/endpoint/soak.h"

#define NS_PER_MS 1e6
#define NOT_BUILT_IN 77

static const struct rival *find(const char *name) {
    const struct rival *rivals[] = {&rival_ue,  &rival_ue_repeat, &rival_ue_patient, &rival_nak,
                                    &rival_red, rival_enet,       rival_ngtcp2};
    for (size_t i = 0; i < sizeof rivals / sizeof rivals[0]; i++) {
        if (rivals[i] != NULL && strcmp(rivals[i]->name, name) == 0) {
            return rivals[i];
        }
    }
    return NULL;
}

int one_count(const char *name, uint32_t messages_per_step, uint32_t messages) {
    const struct rival *rival = find(name);
    if (rival == NULL) {
        return NOT_BUILT_IN;
    }
    return soak_run(rival, messages_per_step, messages) > 0 ? 0 : 1;
}

static bool set_option(struct play *play, int option, double value) {
    switch (option) {
    case 'l': play->path.loss = value; return true;
    case 'b': play->path.loss_burst = value; return true;
    case 'j': play->path.jitter_ns = (uint64_t)(value * NS_PER_MS); return true;
    case 'r': play->path.delay_ns = (uint64_t)(value * NS_PER_MS / 2); return true;
    case 'R': play->path.rate_bytes = (uint64_t)value; return true;
    case 'q': play->path.queue_bytes = (uint32_t)value; return true;
    case 'd': play->seconds = play->limit_seconds = value; return true;
    case 'B': play->bulk_bytes = (uint64_t)(value * 1e6); return true;
    case 'p': play->polls = (uint32_t)value; return true;
    case 's': play->seed = (uint64_t)value; return true;
    default: return false;
    }
}

static void print(const char *name, const struct play *play, const struct play_result *r) {
    printf("%s: %s, reliable %" PRIu64 " of %" PRIu64 ", unreliable %" PRIu64 " of %" PRIu64 "\n", name,
           r->ok ? "in order" : "OUT OF ORDER", r->reliable_heard, r->reliable_sent, r->unreliable_heard,
           r->unreliable_sent);
    printf("latency ms: p50 %.1f, p99 %.1f, p99.9 %.1f, max %.1f\n", r->p50_ms, r->p99_ms, r->p999_ms, r->max_ms);
    printf("datagrams: up %" PRIu64 " (%" PRIu64 " lost), down %" PRIu64 " (%" PRIu64
           " lost); wire bytes per byte %.3f\n",
           r->datagrams[RIVAL_CLIENT], r->datagrams_lost[RIVAL_CLIENT], r->datagrams[RIVAL_SERVER],
           r->datagrams_lost[RIVAL_SERVER], r->wire_per_app);
    if (play->bulk_bytes != 0) {
        printf("bulk: %.3f s%s\n", r->bulk_seconds, r->bulk_seconds == 0 ? " (stalled)" : "");
    }
}

int one_play(int argc, char **argv) {
    const struct rival *rival = find(argv[0]);
    struct play play = {.path = {.delay_ns = 25000000}, .seed = 1, .seconds = 1800, .limit_seconds = 600};
    struct play_result result;
    int option;
    while ((option = getopt(argc, argv, "l:b:j:r:R:q:d:B:p:s:")) != -1) {
        if (!set_option(&play, option, atof(optarg != NULL ? optarg : ""))) {
            return 2;
        }
    }
    if (rival == NULL) {
        fprintf(stderr, "bench_sim: no candidate \"%s\" here\n", argv[0]);
        return NOT_BUILT_IN;
    }
    if (!play_run(rival, &play, &result)) {
        return 1;
    }
    print(rival->name, &play, &result);
    return 0;
}
