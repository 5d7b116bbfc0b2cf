/* SPDX-License-Identifier: MIT */
/* What bench_sim compares: a pair of ends of some protocol that carries reliable and unreliable messages, without
   sockets and without a clock of its own. */
#ifndef UERUDP_TESTS_BENCH_ENDPOINT_RIVAL_H
#define UERUDP_TESTS_BENCH_ENDPOINT_RIVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rival_side { RIVAL_CLIENT, RIVAL_SERVER };

/* Called with each datagram that a pair sends, and with each message that it receives. */
struct rival_host {
    void (*emit)(void *user, enum rival_side from, const uint8_t *bytes, size_t size_bytes);
    void (*deliver)(void *user, enum rival_side from, const uint8_t *message, size_t size_bytes);
    void *user;
};

/* All calls for one side come with times that do not run backwards. */
struct rival {
    const char *name;
    /* Connected, after a perfect handshake, at this time; NULL: no memory, or it cannot run here. */
    void *(*create)(const struct rival_host *host, uint64_t seed, uint64_t now_ns);
    void (*destroy)(void *pair);
    /* False: the send queue is full. */
    bool (*send)(void *pair, enum rival_side from, uint64_t now_ns, bool reliable, const uint8_t *message,
                 size_t size_bytes);
    /* The bytes stay where they are until end_receive of the same side. */
    void (*receive)(void *pair, enum rival_side at, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes);
    /* Everything that arrived in this tick was received. */
    void (*end_receive)(void *pair, enum rival_side at, uint64_t now_ns);
    /* All messages of this tick were sent. */
    void (*tick)(void *pair, enum rival_side at, uint64_t now_ns);
};

extern const struct rival rival_ue;            /* the reference endpoint, 5.1: the window of 256 */
extern const struct rival rival_ue_repeat;     /* the same; the server has repeat_reliable */
extern const struct rival rival_ue_sparse;     /* and tail_probe, quiet, repeat_ticks 2 */
extern const struct rival rival_ue_budget;     /* the same with a Netspeed of 30,000 */
extern const struct rival rival_ue_waiting;    /* the client has reorder_wait_ns, longer than jitter */
extern const struct rival rival_nak;           /* model-nak */
extern const struct rival rival_red;           /* model-red */
extern const struct rival *const rival_enet;   /* NULL: not built in */
extern const struct rival *const rival_ngtcp2; /* the same */
extern const struct rival *const rival_lwip;   /* the same; it sends IP packets, and works as a kernel does */

#endif
