/* SPDX-License-Identifier: MIT */
#include "tests/bench/endpoint/soak.h"

#include <string.h>
#include <time.h>
#include <uerudp/time_ns.h>

#define STEP_NS UINT64_C(16666667)
#define BEGIN_NS (100 * UE_NS_PER_S)
#define UP_BYTES 60
#define LINE_DATAGRAMS 256
#define LINE_BYTES 1500
#define REFERENCE_WORDS 4096
#define REFERENCE_STEPS 500000

/* A line on which datagrams wait until the other end reads. */
struct line {
    uint32_t count;
    size_t sizes[LINE_DATAGRAMS];
    uint8_t bytes[LINE_DATAGRAMS][LINE_BYTES];
};

struct soak {
    const struct rival *rival;
    void *pair;
    struct line lines[2]; /* by sender */
    uint64_t datagrams[2];
    uint64_t datagram_bytes[2];
    uint32_t delivered;
};

struct soak_load soak_echo_load;

/* For a profiler that is to count neither the harness nor its callbacks: what begins with soak_call_ is a candidate's
   work, what begins with soak_back_ is not (each entry flips the counting). */
#define APART __attribute__((noinline))

APART static void soak_back_emit(void *user, enum rival_side from, const uint8_t *bytes, size_t size_bytes) {
    struct soak *soak = user;
    struct line *line = &soak->lines[from];
    soak->datagrams[from]++;
    soak->datagram_bytes[from] += size_bytes;
    if (line->count < LINE_DATAGRAMS && size_bytes <= LINE_BYTES) {
        memcpy(line->bytes[line->count], bytes, size_bytes);
        line->sizes[line->count++] = size_bytes;
    }
}

APART static void soak_back_deliver(void *user, enum rival_side from, const uint8_t *message, size_t size_bytes) {
    ((struct soak *)user)->delivered += from == RIVAL_SERVER && size_bytes == SOAK_DOWN_BYTES;
}

APART static bool soak_call_send(struct soak *soak, enum rival_side from, uint64_t now_ns, bool reliable,
                                 const uint8_t *message, size_t size_bytes) {
    return soak->rival->send(soak->pair, from, now_ns, reliable, message, size_bytes);
}

APART static void soak_call_receive(struct soak *soak, enum rival_side at, uint64_t now_ns, const uint8_t *bytes,
                                    size_t size_bytes) {
    soak->rival->receive(soak->pair, at, now_ns, bytes, size_bytes);
}

APART static void soak_call_end_receive(struct soak *soak, enum rival_side at, uint64_t now_ns) {
    soak->rival->end_receive(soak->pair, at, now_ns);
}

APART static void soak_call_tick(struct soak *soak, enum rival_side at, uint64_t now_ns) {
    soak->rival->tick(soak->pair, at, now_ns);
}

static void read_line(struct soak *soak, enum rival_side at, uint64_t now_ns) {
    struct line *line = &soak->lines[at == RIVAL_CLIENT ? RIVAL_SERVER : RIVAL_CLIENT];
    for (uint32_t i = 0; i < line->count; i++) {
        soak_call_receive(soak, at, now_ns, line->bytes[i], line->sizes[i]);
    }
    line->count = 0;
    soak_call_end_receive(soak, at, now_ns);
}

static bool step(struct soak *soak, uint64_t now_ns, uint32_t messages) {
    static const uint8_t message[SOAK_DOWN_BYTES];
    read_line(soak, RIVAL_SERVER, now_ns);
    for (uint32_t i = 0; i < messages; i++) {
        if (!soak_call_send(soak, RIVAL_SERVER, now_ns, true, message, SOAK_DOWN_BYTES)) {
            return false;
        }
    }
    soak_call_tick(soak, RIVAL_SERVER, now_ns);
    read_line(soak, RIVAL_CLIENT, now_ns);
    soak_call_send(soak, RIVAL_CLIENT, now_ns, false, message, UP_BYTES);
    soak_call_tick(soak, RIVAL_CLIENT, now_ns);
    return true;
}

static uint64_t clock_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * UE_NS_PER_S + (uint64_t)time.tv_nsec;
}

static void fill_load(const struct soak *soak, uint32_t steps, uint32_t messages_per_step, struct soak_load *load) {
    *load = (struct soak_load){.messages = messages_per_step};
    for (size_t side = 0; side < 2; side++) {
        uint64_t datagrams = soak->datagrams[side];
        load->datagrams[side] = (double)datagrams / steps;
        load->bytes[side] = datagrams > 0 ? (double)soak->datagram_bytes[side] / (double)datagrams : 0;
    }
}

double soak_run(const struct rival *rival, uint32_t messages_per_step, uint32_t messages, struct soak_load *load) {
    static struct soak soak;
    const struct rival_host host = {soak_back_emit, soak_back_deliver, &soak};
    memset(&soak, 0, sizeof soak);
    soak.rival = rival;
    soak.pair = rival->create(&host, 1, BEGIN_NS);
    if (soak.pair == NULL) {
        return 0;
    }
    uint32_t sent = 0;
    bool ok = true;
    uint64_t begin_ns = clock_ns();
    for (uint64_t now_ns = BEGIN_NS; ok && sent < messages; now_ns += STEP_NS) {
        ok = step(&soak, now_ns, messages_per_step);
        sent += messages_per_step;
    }
    uint64_t used_ns = clock_ns() - begin_ns;
    rival->destroy(soak.pair);
    if (load != NULL) {
        fill_load(&soak, sent / messages_per_step, messages_per_step, load);
    }
    return ok && soak.delivered >= sent ? (double)used_ns / sent : 0;
}

double soak_reference_ns(void) {
    static uint64_t words[REFERENCE_WORDS];
    uint64_t value = 1;
    uint64_t begin_ns = clock_ns();
    for (uint32_t i = 0; i < REFERENCE_STEPS; i++) {
        value = value * UINT64_C(6364136223846793005) + 1442695040888963407;
        words[value >> 52] += value;
    }
    return (double)(clock_ns() - begin_ns);
}

/* ---- the harness alone ---- */

struct echo {
    struct rival_host host;
    double due[2]; /* datagrams, by sender */
};

static void *echo_create(const struct rival_host *host, uint64_t seed, uint64_t now_ns) {
    static struct echo echo;
    echo = (struct echo){.host = *host};
    return &echo;
}

static void echo_destroy(void *pair) {}

static bool echo_send(void *pair, enum rival_side from, uint64_t now_ns, bool reliable, const uint8_t *message,
                      size_t size_bytes) {
    return true;
}

static void echo_receive(void *pair, enum rival_side at, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {}

static void echo_end_receive(void *pair, enum rival_side at, uint64_t now_ns) {
    static const uint8_t message[SOAK_DOWN_BYTES];
    const struct rival_host *host = &((struct echo *)pair)->host;
    for (uint32_t i = 0; at == RIVAL_CLIENT && i < soak_echo_load.messages; i++) {
        host->deliver(host->user, RIVAL_SERVER, message, sizeof message);
    }
}

static void echo_tick(void *pair, enum rival_side at, uint64_t now_ns) {
    static const uint8_t datagram[LINE_BYTES];
    struct echo *echo = pair;
    for (echo->due[at] += soak_echo_load.datagrams[at]; echo->due[at] >= 1; echo->due[at]--) {
        echo->host.emit(echo->host.user, at, datagram, (size_t)soak_echo_load.bytes[at]);
    }
}

const struct rival rival_echo = {"harness",    echo_create,      echo_destroy, echo_send,
                                 echo_receive, echo_end_receive, echo_tick};
