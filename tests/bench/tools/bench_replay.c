/* SPDX-License-Identifier: MIT */
/* Row T6: replay --wire against a loop of send() from memory, and how exact a rate is, by the times at which datagrams
   arrive. usage: bench_replay BENCH_CAPTURE [--long] [T6]; environment: UERUDP_PROGRAM */
#include <arpa/inet.h>
#include <jansson.h>
#include <math.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <uerudp/time_ns.h>
#include <unistd.h>

#include "tests/bench/figure.h"

#define PACKETS 20000
#define HEADERS_BYTES 42 /* Ethernet, IPv4 and UDP */
#define SERVER_PORT 7777
#define ROUNDS 15
#define LOOPS 20 /* of the capture, per round */
#define RATES 3
#define RATE_ROUNDS 3
#define RATE_SECONDS 4
#define RECEIVE_BUFFER_BYTES (16 << 20)
#define SAMPLES (RATES * RATE_ROUNDS)

struct bench {
    char capture[32];
    char target[32];
    int sink; /* a socket that is read only while a rate is measured */
    uint8_t *bytes;
    struct {
        size_t offset, size_bytes;
    } datagrams[2 * PACKETS];
    size_t count;
};

/* What arrived at the sink. */
struct arrivals {
    uint64_t count;
    double first_ns, last_ns;
};

static void fail(const char *what) {
    fprintf(stderr, "bench_replay: %s\n", what);
    exit(1);
}

static double ns_of(struct timespec time) {
    return (double)time.tv_sec * UE_NS_PER_S + (double)time.tv_nsec;
}

/* ---- the capture and the sink ---- */

static void open_sink(struct bench *b) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int on = 1, buffer_bytes = RECEIVE_BUFFER_BYTES;
    b->sink = socket(AF_INET, SOCK_DGRAM, 0);
    if (b->sink < 0 || bind(b->sink, (const struct sockaddr *)&address, size) != 0 ||
        getsockname(b->sink, (struct sockaddr *)&address, &size) != 0 ||
        setsockopt(b->sink, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) != 0) {
        fail("no socket");
    }
    if (setsockopt(b->sink, SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof buffer_bytes) != 0) { /* root may */
        setsockopt(b->sink, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
    }
    snprintf(b->target, sizeof b->target, "127.0.0.1:%d", ntohs(address.sin_port));
}

static void write_capture(struct bench *b, const char *generator) {
    char command[1024];
    strcpy(b->capture, "/tmp/bench_replay.XXXXXX");
    int fd = mkstemp(b->capture);
    snprintf(command, sizeof command, "%s Umix %d 1 >%s", generator, PACKETS, b->capture);
    if (fd < 0 || close(fd) != 0 || system(command) != 0) {
        fail(command);
    }
}

static void add_datagram(unsigned char *user, const struct pcap_pkthdr *header, const unsigned char *frame) {
    struct bench *b = (struct bench *)user;
    if (frame[36] << 8 == (SERVER_PORT & 0xff00) && frame[37] == (SERVER_PORT & 0xff)) {
        size_t offset = b->count == 0 ? 0 : b->datagrams[b->count - 1].offset + b->datagrams[b->count - 1].size_bytes;
        size_t size_bytes = header->caplen - HEADERS_BYTES;
        b->bytes = realloc(b->bytes, offset + size_bytes);
        if (b->bytes == NULL) {
            fail("no memory");
        }
        memcpy(b->bytes + offset, frame + HEADERS_BYTES, size_bytes);
        b->datagrams[b->count].offset = offset;
        b->datagrams[b->count++].size_bytes = size_bytes;
    }
}

/* What clients sent, which is what replay --wire sends. */
static void read_datagrams(struct bench *b) {
    char error[PCAP_ERRBUF_SIZE];
    pcap_t *capture = pcap_open_offline(b->capture, error);
    if (capture == NULL || pcap_loop(capture, -1, add_datagram, (unsigned char *)b) != 0 || b->count == 0) {
        fail("the capture cannot be read");
    }
    pcap_close(capture);
}

/* ---- the loop and the program ---- */

/* The reference loop; nanoseconds per datagram. */
static double time_loop(const struct bench *b) {
    struct sockaddr_in to;
    socklen_t size = sizeof to;
    struct timespec begin, end;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (getsockname(b->sink, (struct sockaddr *)&to, &size) != 0 || connect(fd, (struct sockaddr *)&to, size) != 0) {
        fail("no connection");
    }
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (unsigned loop = 0; loop < LOOPS; loop++) {
        for (size_t i = 0; i < b->count; i++) {
            if (send(fd, b->bytes + b->datagrams[i].offset, b->datagrams[i].size_bytes, 0) < 0) {
                fail("cannot send");
            }
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    close(fd);
    return (ns_of(end) - ns_of(begin)) / LOOPS / (double)b->count;
}

static FILE *start_program(const struct bench *b, const char *options) {
    char command[1024];
    snprintf(command, sizeof command, "%s replay --wire %s --json %s %s 2>/dev/null", getenv("UERUDP_PROGRAM"),
             b->target, options, b->capture);
    FILE *pipe = popen(command, "r");
    if (pipe == NULL) {
        fail(command);
    }
    return pipe;
}

/* What the program reports of itself; it must have sent the datagrams of the loop. */
static double finish_program(const struct bench *b, FILE *pipe, uint64_t rounds, const char *key) {
    json_t *report = json_loadf(pipe, 0, NULL);
    if (pclose(pipe) != 0 || report == NULL) {
        fail("the program failed");
    }
    if ((uint64_t)json_integer_value(json_object_get(report, "datagrams")) != rounds * b->count) {
        fail("the program sent other datagrams than the loop");
    }
    double value = json_number_value(json_object_get(report, key));
    json_decref(report);
    return value;
}

/* ---- arrivals ---- */

/* When the kernel received the next datagram; false: there is none. */
static bool receive(int sink, double *time_ns) {
    uint8_t bytes[2048];
    union {
        char bytes[CMSG_SPACE(sizeof(struct timespec))];
        struct cmsghdr align;
    } control;
    struct iovec vector = {bytes, sizeof bytes};
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    if (recvmsg(sink, &message, MSG_DONTWAIT) < 0) {
        return false;
    }
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    struct timespec time = {0};
    if (head == NULL || head->cmsg_type != SCM_TIMESTAMPNS) {
        fail("no time of arrival");
    }
    memcpy(&time, CMSG_DATA(head), sizeof time);
    *time_ns = ns_of(time);
    return true;
}

static void drain(int sink, struct arrivals *arrivals) {
    double time_ns;
    while (receive(sink, &time_ns)) {
        arrivals->first_ns = arrivals->count++ == 0 ? time_ns : arrivals->first_ns;
        arrivals->last_ns = time_ns;
    }
}

/* Reads the sink until the program reports. */
static struct arrivals receive_all(const struct bench *b, FILE *pipe) {
    struct arrivals arrivals = {0};
    struct pollfd files[] = {{b->sink, POLLIN, 0}, {fileno(pipe), POLLIN, 0}};
    while (files[1].revents == 0 && poll(files, 2, -1) > 0) {
        drain(b->sink, &arrivals);
    }
    drain(b->sink, &arrivals);
    return arrivals;
}

/* ---- figures ---- */

/* In percent; negative where datagrams were dropped on their way. */
static double rate_error(const struct bench *b, unsigned per_second) {
    char options[64];
    unsigned rounds = per_second * RATE_SECONDS / (unsigned)b->count + 1;
    snprintf(options, sizeof options, "--pps %u --loop %u", per_second, rounds);
    drain(b->sink, &(struct arrivals){0});
    FILE *pipe = start_program(b, options);
    struct arrivals arrivals = receive_all(b, pipe);
    finish_program(b, pipe, rounds, "rate_error_percent");
    double rate = (double)(arrivals.count - 1) / (arrivals.last_ns - arrivals.first_ns) * UE_NS_PER_S;
    return arrivals.count == rounds * b->count ? 100 * fabs(rate / per_second - 1) : -1;
}

static void measure_rate_error(const struct bench *b) {
    static const unsigned rates[RATES] = {6000, 20000, 100000};
    double errors[RATES][RATE_ROUNDS], loop_ns[SAMPLES], worst = 0;
    bool is_complete = true;
    for (size_t i = 0; i < SAMPLES; i++) {
        loop_ns[i] = time_loop(b);
        double error = errors[i % RATES][i / RATES] = rate_error(b, rates[i % RATES]);
        is_complete = is_complete && error >= 0;
    }
    for (size_t i = 0; i < RATES; i++) {
        double median = figure_median(errors[i], RATE_ROUNDS);
        worst = median > worst ? median : worst;
    }
    figure_print(&(struct figure){.row = "T6",
                                  .figure = "rate error",
                                  .value = worst,
                                  .unit = "%",
                                  .spread = figure_spread(loop_ns, SAMPLES),
                                  .invalid = is_complete ? NULL : "datagrams were dropped on their way"});
}

static void measure_top_speed(const struct bench *b) {
    double loop_ns[ROUNDS], wire_ns[ROUNDS];
    char options[32], note[64];
    snprintf(options, sizeof options, "--speed 0 --loop %d", LOOPS);
    for (size_t i = 0; i < ROUNDS; i++) {
        loop_ns[i] = time_loop(b);
        wire_ns[i] = UE_NS_PER_S / finish_program(b, start_program(b, options), LOOPS, "datagrams_per_second");
    }
    double loop = figure_median(loop_ns, ROUNDS), wire = figure_median(wire_ns, ROUNDS);
    snprintf(note, sizeof note, "ns per datagram: %.0f, loop %.0f", wire, loop);
    figure_print(&(struct figure){.row = "T6",
                                  .figure = "top speed",
                                  .value = loop / wire,
                                  .unit = "x send()",
                                  .spread = figure_spread(loop_ns, ROUNDS),
                                  .note = note});
}

int main(int argc, char **argv) {
    static struct bench b;
    if (argc < 2 || getenv("UERUDP_PROGRAM") == NULL) {
        fail("usage: bench_replay BENCH_CAPTURE [--long] [T6]; environment: UERUDP_PROGRAM");
    }
    open_sink(&b);
    write_capture(&b, argv[1]);
    read_datagrams(&b);
    measure_rate_error(&b);
    measure_top_speed(&b);
    free(b.bytes);
    close(b.sink);
    unlink(b.capture);
    return 0;
}
