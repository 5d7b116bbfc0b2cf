/* SPDX-License-Identifier: MIT */
#include "tests/bench/endpoint/scale.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uerudp/time_ns.h>

#include "tests/bench/endpoint/pair.h"

#define TICK_NS UINT64_C(16666667)
#define BEGIN_NS (100 * UE_NS_PER_S)
#define WARM_TICKS 20
#define RELEASE "5.5"
#define BUNCHES 200
#define BUNCH_BYTES 200
#define DOWN_BYTES 300
#define UP_BYTES 60
#define DATAGRAMS 4
#define DATAGRAM_BYTES 1024

/* A line that every pair uses in its turn: it is empty between steps, so that only the endpoints' own memory grows with
   their number. */
static struct line {
    uint32_t counts[2]; /* waiting, by sender */
    size_t sizes[2][DATAGRAMS];
    uint8_t bytes[2][DATAGRAMS][DATAGRAM_BYTES];
} line;

struct scaled {
    void *pair;
    uint64_t packets;
};

static void emit(void *user, enum rival_side from, const uint8_t *bytes, size_t size_bytes) {
    struct scaled *s = user;
    if (line.counts[from] < DATAGRAMS && size_bytes <= DATAGRAM_BYTES) {
        memcpy(line.bytes[from][line.counts[from]], bytes, size_bytes);
        line.sizes[from][line.counts[from]++] = size_bytes;
        s->packets++;
    }
}

static void deliver(void *user, enum rival_side from, const uint8_t *message, size_t size_bytes) {}

static bool make(struct scaled *s, const char *release, uint32_t channels, uint64_t seed) {
    const struct rival_host host = {emit, deliver, s};
    memset(s, 0, sizeof *s);
    s->pair = pair_create(&host, seed, BEGIN_NS, &(struct pair_config){.release = release, .channels = channels});
    return s->pair != NULL;
}

double scale_idle_bytes(const char *release) {
    struct scaled *s = malloc(sizeof *s);
    double bytes = 0;
    if (s != NULL && make(s, release, 1, 1)) {
        size_t client = ue_conn_memory_bytes(pair_conn(s->pair, RIVAL_CLIENT), NULL);
        size_t server = ue_conn_memory_bytes(pair_conn(s->pair, RIVAL_SERVER), NULL);
        bytes = (double)(client > server ? client : server);
        rival_ue.destroy(s->pair);
    }
    free(s);
    return bytes;
}

static double bunch_bytes(struct scaled *s) {
    static const uint8_t message[BUNCH_BYTES];
    struct ue_conn *conn = pair_conn(s->pair, RIVAL_SERVER);
    size_t before = ue_conn_memory_bytes(conn, NULL);
    for (uint32_t i = 0; i < BUNCHES; i++) {
        if (!rival_ue.send(s->pair, RIVAL_SERVER, BEGIN_NS, true, message, BUNCH_BYTES)) {
            return 0;
        }
    }
    rival_ue.tick(s->pair, RIVAL_SERVER, BEGIN_NS);
    rival_ue.end_receive(s->pair, RIVAL_SERVER, BEGIN_NS); /* frees the datagrams that were emitted */
    return (double)(ue_conn_memory_bytes(conn, NULL) - before) / BUNCHES - BUNCH_BYTES;
}

double scale_bunch_bytes(const char *release) {
    struct scaled *s = malloc(sizeof *s);
    double bytes = 0;
    if (s != NULL && make(s, release, 1, 1)) {
        bytes = bunch_bytes(s);
        line.counts[RIVAL_SERVER] = 0;
        rival_ue.destroy(s->pair);
    }
    free(s);
    return bytes;
}

/* ---- time ---- */

static void read_all(struct scaled *s, enum rival_side at, uint64_t now_ns) {
    enum rival_side from = at == RIVAL_CLIENT ? RIVAL_SERVER : RIVAL_CLIENT;
    for (uint32_t i = 0; i < line.counts[from]; i++) {
        rival_ue.receive(s->pair, at, now_ns, line.bytes[from][i], line.sizes[from][i]);
    }
    line.counts[from] = 0;
    rival_ue.end_receive(s->pair, at, now_ns);
}

static void step(struct scaled *s, uint64_t now_ns) {
    static const uint8_t message[DOWN_BYTES];
    rival_ue.send(s->pair, RIVAL_SERVER, now_ns, true, message, DOWN_BYTES);
    rival_ue.tick(s->pair, RIVAL_SERVER, now_ns);
    read_all(s, RIVAL_CLIENT, now_ns);
    rival_ue.send(s->pair, RIVAL_CLIENT, now_ns, false, message, UP_BYTES);
    rival_ue.tick(s->pair, RIVAL_CLIENT, now_ns);
    read_all(s, RIVAL_SERVER, now_ns);
}

static uint64_t clock_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * UE_NS_PER_S + (uint64_t)time.tv_nsec;
}

static uint64_t run_ticks(struct scaled *all, uint32_t connections, uint32_t first, uint32_t ticks) {
    uint64_t packets = 0;
    for (uint32_t tick = first; tick < first + ticks; tick++) {
        for (uint32_t i = 0; i < connections; i++) {
            step(&all[i], BEGIN_NS + tick * TICK_NS);
        }
    }
    for (uint32_t i = 0; i < connections; i++) {
        packets += all[i].packets;
        all[i].packets = 0;
    }
    return packets;
}

static double time_steps(struct scaled *all, uint32_t connections, uint32_t ticks) {
    run_ticks(all, connections, 0, WARM_TICKS); /* memory is touched for the first time */
    uint64_t begin_ns = clock_ns();
    uint64_t packets = run_ticks(all, connections, WARM_TICKS, ticks);
    return packets > 0 ? (double)(clock_ns() - begin_ns) / (double)packets : 0;
}

double scale_packet_ns(uint32_t connections, uint32_t channels, uint32_t ticks) {
    struct scaled *all = calloc(connections, sizeof *all);
    uint32_t made = 0;
    while (all != NULL && made < connections && make(&all[made], RELEASE, channels, made)) {
        made++;
    }
    double ns = made == connections ? time_steps(all, connections, ticks) : 0;
    for (uint32_t i = 0; i < made; i++) {
        rival_ue.destroy(all[i].pair);
    }
    free(all);
    return ns;
}
