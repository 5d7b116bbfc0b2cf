/* SPDX-License-Identifier: MIT */
/* Goal T5 of the tools: simulated connections to a capture file, mixed workload, nothing checked and nothing kept.
   usage: bench_generate [--json] [SECONDS]    SECONDS: virtual time of play, default 1000 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/bench/report.h"
#include "tools/generate/generator.h"

#define ROUNDS 7
#define LINK_ETHERNET 1
#define BUFFER_BYTES (256 * 1024) /* as tools/output.c has */
#define MUST_NS 1111              /* 0.9 million packets per second */
#define STRETCH_NS 500

struct round {
    double wall_ns; /* per packet */
    double cpu_ns;
};

static double now_ns(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static uint64_t generate(const struct ue_scenario *scenario, FILE *file) {
    static struct ue_generator generator;
    static struct ue_pcapng_writer writer;
    struct ue_generator_config config = {.scenario = *scenario, .connections = 1};
    if (!ue_generator_init(&generator, &config)) {
        fputs("bench_generate: no memory\n", stderr);
        exit(1);
    }
    ue_pcapng_begin(&writer, file, NULL);
    uint32_t interface = ue_pcapng_interface(&writer, LINK_ETHERNET, NULL);
    while (ue_generator_step(&generator, &writer, interface)) {
    }
    uint64_t frames = generator.frames;
    bool good = ue_pcapng_end(&writer);
    ue_generator_clear(&generator);
    if (!good || frames == 0) {
        fputs("bench_generate: cannot write\n", stderr);
        exit(1);
    }
    return frames;
}

static struct round measure(const struct ue_scenario *scenario) {
    static char buffer[BUFFER_BYTES];
    FILE *file = tmpfile();
    if (file == NULL) {
        perror("bench_generate");
        exit(1);
    }
    setvbuf(file, buffer, _IOFBF, sizeof buffer);
    double wall_ns = now_ns(CLOCK_MONOTONIC);
    double cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    double frames = (double)generate(scenario, file);
    struct round round = {(now_ns(CLOCK_MONOTONIC) - wall_ns) / frames,
                          (now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns) / frames};
    fclose(file);
    return round;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values) {
    qsort(values, ROUNDS, sizeof *values, compare);
    return values[ROUNDS / 2];
}

int main(int argc, char **argv) {
    struct report report = {.json = argc > 1 && strcmp(argv[1], "--json") == 0};
    double seconds = argc > 1 + report.json ? strtod(argv[1 + report.json], NULL) : 1000;
    struct ue_scenario scenario = *ue_scenario_find("mixed");
    double wall_ns[ROUNDS];
    double cpu_ns[ROUNDS];
    scenario.seed = 1;
    scenario.unchecked = true;
    scenario.duration_ns = (uint64_t)(seconds * 1e9);
    report_header(&report, "bench_generate", BENCH_LIBRARY_FLAGS);
    for (size_t i = 0; i < ROUNDS; i++) {
        struct round round = measure(&scenario);
        wall_ns[i] = round.wall_ns;
        cpu_ns[i] = round.cpu_ns;
    }
    report_metric(&report, &(struct metric){.id = "T5.generate",
                                            .value = median(wall_ns),
                                            .unit = "ns/packet",
                                            .must = MUST_NS,
                                            .stretch = STRETCH_NS});
    report_metric(&report, &(struct metric){.id = "T5.generate.cpu", .value = median(cpu_ns), .unit = "ns/packet"});
    return 0;
}
