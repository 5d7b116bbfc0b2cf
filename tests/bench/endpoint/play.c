/* SPDX-License-Identifier: MIT */
#include "tests/bench/endpoint/play.h"

#include <stdlib.h>
#include <string.h>
#include <uerudp/time_ns.h>

#define BEGIN_NS (100 * UE_NS_PER_S) /* handshakes lie before */
#define DRAIN_NS (20 * UE_NS_PER_S)
#define SERVER_HZ 60.0
#define CLIENT_HZ 59.9
#define UDP_IP_BYTES 28
#define MESSAGE_BYTES_MAX 1024
#define BULK_BYTES 900
#define ARRIVED_MAX 1024
#define DATAGRAM_BYTES_MAX 2048

/* What a message begins with. */
struct stamp {
    uint32_t number;
    uint32_t reliable;
};

struct playing {
    const struct rival *rival;
    const struct play *play;
    struct play_result *result;
    void *pair;
    struct sim_link *links[2]; /* by sender */
    uint64_t poll_ns[2];
    uint64_t polls[2];
    uint32_t polls_per_tick;
    uint64_t now_ns;
    uint64_t app_bytes;
    uint64_t wire_bytes; /* before the last message was sent */
    bool is_draining;
    uint64_t *sent_ns; /* of reliable messages, by number */
    double *latency_ms;
    uint64_t capacity;
    uint32_t numbers[2]; /* next of the server's, by reliability */
};

static void emit(void *user, enum rival_side from, const uint8_t *bytes, size_t size_bytes) {
    struct playing *p = user;
    p->wire_bytes += p->is_draining ? 0 : size_bytes + (p->play->has_ip_headers ? 0 : UDP_IP_BYTES);
    p->result->datagrams[from]++;
    sim_link_send(p->links[from], p->now_ns, bytes, size_bytes);
}

/* When the program of this side gets what arrives now. */
static uint64_t tick_at(const struct playing *p, enum rival_side side) {
    uint64_t ticks = (p->polls[side] + p->polls_per_tick - 1) / p->polls_per_tick;
    return BEGIN_NS + ticks * p->polls_per_tick * p->poll_ns[side];
}

static void deliver(void *user, enum rival_side from, const uint8_t *message, size_t size_bytes) {
    struct playing *p = user;
    struct stamp stamp;
    if (from != RIVAL_SERVER || size_bytes < sizeof stamp) {
        return;
    }
    memcpy(&stamp, message, sizeof stamp);
    if (stamp.reliable == 0) {
        p->result->unreliable_received++;
        return;
    }
    uint64_t expected = p->result->reliable_received;
    if (stamp.number != expected || expected >= p->numbers[1]) {
        p->result->ok = false;
        return;
    }
    p->latency_ms[expected] = (double)(tick_at(p, !from) - p->sent_ns[expected]) / UE_NS_PER_MS;
    p->result->reliable_received++;
}

static bool send_message(struct playing *p, enum rival_side from, bool reliable, size_t size_bytes) {
    uint8_t message[MESSAGE_BYTES_MAX] = {0};
    struct stamp stamp = {.number = p->numbers[reliable], .reliable = reliable};
    if (reliable && stamp.number >= p->capacity) {
        return false;
    }
    memcpy(message, &stamp, sizeof stamp);
    if (reliable) {
        p->sent_ns[stamp.number] = p->now_ns;
    }
    if (!p->rival->send(p->pair, from, p->now_ns, reliable, message, size_bytes)) {
        return false;
    }
    p->app_bytes += size_bytes;
    if (from == RIVAL_SERVER) {
        p->numbers[reliable]++;
        p->result->reliable_sent += reliable;
        p->result->unreliable_sent += !reliable;
    }
    return true;
}

/* A 200-byte reliable message every third tick, a 600-byte unreliable one every second; back, 60
   unreliable bytes each tick. */
static void send_game(struct playing *p, enum rival_side side) {
    if (side == RIVAL_CLIENT) {
        send_message(p, side, false, 60);
        return;
    }
    uint64_t ticks = p->polls[side] / p->polls_per_tick;
    if (ticks % 3 == 0) {
        send_message(p, side, true, 200);
    }
    if (ticks % 2 == 0) {
        send_message(p, side, false, 600);
    }
}

static void send_bulk(struct playing *p, enum rival_side side) {
    while (side == RIVAL_SERVER && p->numbers[1] * (uint64_t)BULK_BYTES < p->play->bulk_bytes &&
           send_message(p, side, true, BULK_BYTES)) {
    }
}

static void send_sparse(struct playing *p, enum rival_side side) {
    if (side == RIVAL_SERVER && p->polls[side] / p->polls_per_tick % p->play->sparse_ticks == 0) {
        send_message(p, side, true, 200);
    }
}

static uint8_t arrived[ARRIVED_MAX][DATAGRAM_BYTES_MAX]; /* in one poll */

static void poll(struct playing *p, enum rival_side side, bool is_sending) {
    bool is_tick = p->polls[side] % p->polls_per_tick == 0;
    const uint8_t *bytes;
    size_t size_bytes;
    for (size_t i = 0; sim_link_pop(p->links[!side], p->now_ns, &bytes, &size_bytes); i = (i + 1) % ARRIVED_MAX) {
        size_bytes = size_bytes < DATAGRAM_BYTES_MAX ? size_bytes : DATAGRAM_BYTES_MAX;
        memcpy(arrived[i], bytes, size_bytes);
        p->rival->receive(p->pair, side, p->now_ns, arrived[i], size_bytes);
    }
    p->rival->end_receive(p->pair, side, p->now_ns);
    if (is_tick && is_sending && p->play->bulk_bytes != 0) {
        send_bulk(p, side);
    } else if (is_tick && is_sending && p->play->sparse_ticks != 0) {
        send_sparse(p, side);
    } else if (is_tick && is_sending) {
        send_game(p, side);
    }
    p->rival->tick(p->pair, side, p->now_ns);
    p->polls[side]++;
}

static bool is_bulk_done(const struct playing *p) {
    return p->play->bulk_bytes != 0 && p->result->reliable_received * BULK_BYTES >= p->play->bulk_bytes;
}

static void run_until(struct playing *p, uint64_t end_ns, bool is_sending) {
    while (p->now_ns < end_ns && !is_bulk_done(p)) {
        uint64_t client_ns = BEGIN_NS + p->polls[RIVAL_CLIENT] * p->poll_ns[RIVAL_CLIENT];
        uint64_t server_ns = BEGIN_NS + p->polls[RIVAL_SERVER] * p->poll_ns[RIVAL_SERVER];
        p->now_ns = client_ns <= server_ns ? client_ns : server_ns;
        poll(p, client_ns <= server_ns ? RIVAL_CLIENT : RIVAL_SERVER, is_sending);
    }
}

/* ---- results ---- */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void finish(struct playing *p) {
    struct play_result *r = p->result;
    uint64_t count = r->reliable_received;
    qsort(p->latency_ms, count, sizeof *p->latency_ms, compare);
    if (count > 0) {
        r->p50_ms = p->latency_ms[count / 2];
        r->p99_ms = p->latency_ms[count * 99 / 100];
        r->p999_ms = p->latency_ms[count * 999 / 1000];
        r->max_ms = p->latency_ms[count - 1];
    }
    r->wire_per_app = p->app_bytes > 0 ? (double)p->wire_bytes / (double)p->app_bytes : 0;
    r->bulk_seconds = is_bulk_done(p) ? (double)(p->now_ns - BEGIN_NS) / UE_NS_PER_S : 0;
    for (size_t side = 0; side < 2; side++) {
        r->datagrams_lost[side] = sim_link_event_counts(p->links[side])[SIM_DATAGRAM_LOST];
    }
}

static bool make(struct playing *p) {
    const struct rival_host host = {emit, deliver, p};
    double messages = p->play->bulk_bytes != 0 ? (double)p->play->bulk_bytes / BULK_BYTES : p->play->seconds * 20;
    p->capacity = (uint64_t)messages + 100;
    p->sent_ns = calloc(p->capacity, sizeof *p->sent_ns);
    p->latency_ms = calloc(p->capacity, sizeof *p->latency_ms);
    p->links[RIVAL_CLIENT] = sim_link_new(&p->play->path, 1, p->play->seed, RIVAL_CLIENT);
    p->links[RIVAL_SERVER] = sim_link_new(&p->play->path, 1, p->play->seed, RIVAL_SERVER);
    p->polls_per_tick = p->play->polls != 0 ? p->play->polls : 1;
    p->poll_ns[RIVAL_CLIENT] = (uint64_t)(UE_NS_PER_S / CLIENT_HZ / p->polls_per_tick);
    p->poll_ns[RIVAL_SERVER] = (uint64_t)(UE_NS_PER_S / SERVER_HZ / p->polls_per_tick);
    p->now_ns = BEGIN_NS;
    p->pair = p->rival->create(&host, p->play->seed, BEGIN_NS);
    return p->sent_ns != NULL && p->latency_ms != NULL && p->links[0] != NULL && p->links[1] != NULL && p->pair != NULL;
}

static void destroy(struct playing *p) {
    if (p->pair != NULL) {
        p->rival->destroy(p->pair);
    }
    sim_link_free(p->links[0]);
    sim_link_free(p->links[1]);
    free(p->sent_ns);
    free(p->latency_ms);
}

bool play_run(const struct rival *rival, const struct play *play, struct play_result *result) {
    struct playing p = {.rival = rival, .play = play, .result = result};
    *result = (struct play_result){.ok = true};
    bool made = make(&p);
    if (made) {
        double seconds = play->bulk_bytes != 0 ? play->limit_seconds : play->seconds;
        uint64_t end_ns = BEGIN_NS + (uint64_t)(seconds * UE_NS_PER_S);
        run_until(&p, end_ns, true);
        p.is_draining = true;
        run_until(&p, end_ns + (play->bulk_bytes != 0 ? 0 : DRAIN_NS), false);
        finish(&p);
    }
    destroy(&p);
    return made;
}
