/* SPDX-License-Identifier: MIT */
/* Goal T6: replay --wire against a loop of send() over the same datagrams, and how exact a rate is. The program runs as
   its user runs it; the loop sends from memory to the same socket, which nobody reads. */
#include <arpa/inet.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/report.h"
#include "tools/replay/datagram_list.h"

#define ROUNDS 7
#define LOOPS 20 /* of the capture, per round */
#define RATE_ROUNDS 3
#define RATE_SECONDS 4 /* so long that the last datagram's delay hardly counts */
#define RATE_ERROR_MUST 0.1
#define RATE_ERROR_STRETCH 0.01
#define SLOWER_MUST 1.25 /* 0.8 of the ceiling */
#define SLOWER_STRETCH 1.0

struct bench {
    const char *program;
    char capture[32];
    char target[32];
    int sink;
    struct datagram_list datagrams;
};

static void die(const char *what) {
    fprintf(stderr, "bench_replay: %s\n", what);
    exit(1);
}

static void open_sink(struct bench *b) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    b->sink = socket(AF_INET, SOCK_DGRAM, 0);
    if (b->sink < 0 || bind(b->sink, (const struct sockaddr *)&address, size) != 0 ||
        getsockname(b->sink, (struct sockaddr *)&address, &size) != 0) {
        die("no socket");
    }
    snprintf(b->target, sizeof b->target, "127.0.0.1:%d", ntohs(address.sin_port));
}

static void write_capture(struct bench *b, const char *generator) {
    char command[1024];
    strcpy(b->capture, "/tmp/bench_replay.XXXXXX");
    int fd = mkstemp(b->capture);
    snprintf(command, sizeof command, "%s Umix 20000 1 >%s", generator, b->capture);
    if (fd < 0 || close(fd) != 0 || system(command) != 0) {
        die(command);
    }
}

static void read_shots(struct bench *b) {
    char *paths[] = {b->capture};
    struct replay_command replay = {.paths = paths, .path_count = 1};
    capture_reader_init(&replay.reading);
    if (!wire_options_resolve(&replay.reading.wire) || !datagram_list_read(&b->datagrams, &replay)) {
        die("no datagrams");
    }
    capture_reader_clear(&replay.reading);
}

/* Nanoseconds per datagram. */
static double time_loop(const struct bench *b) {
    struct sockaddr_in to;
    socklen_t size = sizeof to;
    struct timespec begin, end;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (getsockname(b->sink, (struct sockaddr *)&to, &size) != 0 || connect(fd, (struct sockaddr *)&to, size) != 0) {
        die("no connection");
    }
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (unsigned loop = 0; loop < LOOPS; loop++) {
        for (guint i = 0; i < b->datagrams.list->len; i++) {
            const struct datagram_list_item *datagram = &g_array_index(b->datagrams.list, struct datagram_list_item, i);
            if (send(fd, b->datagrams.bytes->data + datagram->offset, datagram->size_bytes, 0) < 0) {
                die("cannot send");
            }
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    close(fd);
    double ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
    return ns / LOOPS / b->datagrams.list->len;
}

/* What the program reports; free it with json_decref. */
static json_t *run_program(const struct bench *b, const char *options) {
    char command[1024];
    snprintf(command, sizeof command, "%s replay --wire %s --json %s %s 2>/dev/null", b->program, b->target, options,
             b->capture);
    FILE *pipe = popen(command, "r");
    json_t *said = pipe != NULL ? json_loadf(pipe, 0, NULL) : NULL;
    if (pipe == NULL || pclose(pipe) != 0 || said == NULL) {
        die(command);
    }
    return said;
}

static double reported(const json_t *said, const char *key) {
    return json_number_value(json_object_get(said, key));
}

static int compare(const void *a, const void *b) {
    double one = *(const double *)a;
    double two = *(const double *)b;
    return one < two ? -1 : one > two;
}

static void report_ceiling(const struct bench *b, struct report *report) {
    double loop[ROUNDS], wire[ROUNDS];
    char options[32];
    snprintf(options, sizeof options, "--speed 0 --loop %d", LOOPS);
    for (unsigned i = 0; i < ROUNDS; i++) {
        loop[i] = time_loop(b);
        json_t *said = run_program(b, options);
        wire[i] = 1e9 / reported(said, "datagrams_per_second");
        json_decref(said);
    }
    qsort(loop, ROUNDS, sizeof *loop, compare);
    qsort(wire, ROUNDS, sizeof *wire, compare);
    report_metric(report, &(struct metric){.id = "T6-wire-top-speed",
                                           .value = wire[ROUNDS / 2],
                                           .unit = "ns/datagram",
                                           .anchor = "send",
                                           .anchor_value = loop[ROUNDS / 2],
                                           .must = SLOWER_MUST,
                                           .stretch = SLOWER_STRETCH});
}

static void report_rate(const struct bench *b, struct report *report, unsigned per_second) {
    char options[64];
    char id[32];
    double error[RATE_ROUNDS];
    double late_us[RATE_ROUNDS];
    snprintf(options, sizeof options, "--pps %u --loop %u", per_second,
             per_second * RATE_SECONDS / b->datagrams.list->len + 1);
    for (unsigned i = 0; i < RATE_ROUNDS; i++) {
        json_t *said = run_program(b, options);
        error[i] = fabs(reported(said, "rate_error_percent"));
        late_us[i] = reported(said, "late_us_mean");
        json_decref(said);
    }
    qsort(error, RATE_ROUNDS, sizeof *error, compare);
    qsort(late_us, RATE_ROUNDS, sizeof *late_us, compare);
    snprintf(id, sizeof id, "T6-rate-error-%u", per_second);
    report_metric(report, &(struct metric){.id = id,
                                           .value = error[RATE_ROUNDS / 2],
                                           .unit = "%",
                                           .must = RATE_ERROR_MUST,
                                           .stretch = RATE_ERROR_STRETCH});
    snprintf(id, sizeof id, "wire-late-%u", per_second);
    report_metric(report, &(struct metric){.id = id, .value = late_us[RATE_ROUNDS / 2], .unit = "us"});
}

int main(int argc, char **argv) {
    static const unsigned rates[] = {6000, 20000, 100000};
    struct report report = {0};
    if (argc < 3) {
        fputs("usage: bench_replay PROGRAM BENCH_CAPTURE [--json]\n", stderr);
        return 2;
    }
    struct bench b = {.program = argv[1]};
    report.json = argc > 3 && strcmp(argv[3], "--json") == 0;
    report_header(&report, "bench_replay", BENCH_LIBRARY_FLAGS);
    open_sink(&b);
    write_capture(&b, argv[2]);
    read_shots(&b);
    report_ceiling(&b, &report);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        report_rate(&b, &report, rates[i]);
    }
    datagram_list_clear(&b.datagrams);
    close(b.sink);
    unlink(b.capture);
    return 0;
}
