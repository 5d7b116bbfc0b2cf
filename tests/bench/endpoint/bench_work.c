/* SPDX-License-Identifier: MIT */
/* Rows E8 and E11 to E13: CPU time and memory of the reference endpoint without sockets. Row E7 is counted with
   callgrind over one candidate (count.py). usage: bench_work [--long] [ROW]... | --count CANDIDATE MESSAGES_PER_STEP
   MESSAGES */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/endpoint/scale.h"
#include "tests/bench/endpoint/soak.h"
#include "tests/bench/figure.h"

#define ROUNDS 31
#define SOAK_MESSAGES 20000
#define COUNT_LOAD_MESSAGES 2000
#define SCALE_ROUNDS 15
#define NOT_BUILT_IN 77

enum { UE, UE_HARNESS, ENET, ENET_HARNESS, CANDIDATES };

static void fail(const char *what) {
    fprintf(stderr, "bench_work: %s\n", what);
    exit(1);
}

static double soak(const struct rival *rival, uint32_t messages_per_step, const struct soak_load *load) {
    if (load != NULL) {
        soak_echo_load = *load;
    }
    double ns = soak_run(rival, messages_per_step, SOAK_MESSAGES, NULL);
    if (ns == 0) {
        fail("a soak lost a message");
    }
    return ns;
}

static void measure_soak(uint32_t messages_per_step) {
    static double ns[CANDIDATES][ROUNDS], reference[ROUNDS];
    struct soak_load ue_load, enet_load;
    if (soak_run(&rival_ue, messages_per_step, SOAK_MESSAGES, &ue_load) == 0 ||
        soak_run(rival_enet, messages_per_step, SOAK_MESSAGES, &enet_load) == 0) {
        fail("a soak lost a message");
    }
    for (size_t round = 0; round < ROUNDS; round++) {
        reference[round] = soak_reference_ns();
        ns[UE][round] = soak(&rival_ue, messages_per_step, NULL);
        ns[UE_HARNESS][round] = soak(&rival_echo, messages_per_step, &ue_load);
        ns[ENET][round] = soak(rival_enet, messages_per_step, NULL);
        ns[ENET_HARNESS][round] = soak(rival_enet_stub, messages_per_step, &enet_load);
    }
    double medians[CANDIDATES];
    for (size_t i = 0; i < CANDIDATES; i++) {
        medians[i] = figure_median(ns[i], ROUNDS);
    }
    char name[16], note[120];
    snprintf(name, sizeof name, "k=%u", messages_per_step);
    snprintf(note, sizeof note, "ns: %.0f less %.0f of the harness; ENet %.0f less %.0f", medians[UE],
             medians[UE_HARNESS], medians[ENET], medians[ENET_HARNESS]);
    figure_print(&(struct figure){
        .row = "E8",
        .figure = name,
        .value = (medians[UE] - medians[UE_HARNESS]) / (medians[ENET] - medians[ENET_HARNESS]),
        .unit = "x ENet",
        .spread = figure_spread(reference, ROUNDS),
        .note = note,
    });
}

static void measure_soaks(void) {
    if (rival_enet == NULL) {
        fputs("bench_work: E8 needs libenet-dev\n", stderr);
        return;
    }
    measure_soak(4);
    measure_soak(1);
}

static void measure_idle(void) {
    figure_print_value("E11", "idle", scale_idle_bytes("5.5"), "bytes");
}

static void measure_bunch(void) {
    figure_print_value("E12", "bunch", scale_bunch_bytes("5.5"), "bytes");
}

static void print_scale(const char *name, double many, double one, double spread) {
    char note[64];
    snprintf(note, sizeof note, "ns: %.0f, with one %.0f", many, one);
    figure_print(&(struct figure){
        .row = "E13", .figure = name, .value = many / one, .unit = "x one", .spread = spread, .note = note});
}

static void measure_scale(void) {
    static double one[SCALE_ROUNDS], connections[SCALE_ROUNDS], channels[SCALE_ROUNDS], reference[SCALE_ROUNDS];
    for (size_t i = 0; i < SCALE_ROUNDS; i++) {
        reference[i] = soak_reference_ns();
        one[i] = scale_packet_ns(1, 1, 20000);
        connections[i] = scale_packet_ns(1000, 1, 100);
        channels[i] = scale_packet_ns(1, 1000, 20000);
    }
    double base = figure_median(one, SCALE_ROUNDS), spread = figure_spread(reference, SCALE_ROUNDS);
    if (one[0] == 0 || connections[0] == 0 || channels[0] == 0) {
        fail("a connection cannot be created");
    }
    print_scale("1,000 connections", figure_median(connections, SCALE_ROUNDS), base, spread);
    print_scale("1,000 channels", figure_median(channels, SCALE_ROUNDS), base, spread);
}

/* The load of ENet's stub is measured first; it cancels in the differences that count.py calculates. */
static int count(const char *name, uint32_t messages_per_step, uint32_t messages) {
    const struct rival *rivals[] = {&rival_ue, rival_enet, rival_enet_stub};
    for (size_t i = 0; i < sizeof rivals / sizeof *rivals; i++) {
        if (rivals[i] == NULL || strcmp(rivals[i]->name, name) != 0) {
            continue;
        }
        if (rivals[i] == rival_enet_stub) {
            soak_run(rival_enet, messages_per_step, COUNT_LOAD_MESSAGES, &soak_echo_load);
        }
        return soak_run(rivals[i], messages_per_step, messages, NULL) > 0 ? 0 : 1;
    }
    return NOT_BUILT_IN;
}

int main(int argc, char **argv) {
    static const struct {
        const char *row;
        void (*measure)(void);
    } rows[] = {{"E8", measure_soaks}, {"E11", measure_idle}, {"E12", measure_bunch}, {"E13", measure_scale}};
    if (argc == 5 && strcmp(argv[1], "--count") == 0) {
        return count(argv[2], (uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4]));
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (figure_is_wanted(argc, argv, rows[i].row)) {
            rows[i].measure();
        }
    }
    return 0;
}
