/* SPDX-License-Identifier: MIT */
/* Work per message without a network: each step carries k reliable messages of 200 bytes one way and one datagram of 60
   bytes back. */
#ifndef UERUDP_TESTS_BENCH_ENDPOINT_SOAK_H
#define UERUDP_TESTS_BENCH_ENDPOINT_SOAK_H

#include "tests/bench/endpoint/rival.h"

#define SOAK_DOWN_BYTES 200

/* What a candidate sent in a soak: what the harness does without it can be measured with a load of the same size. */
struct soak_load {
    double datagrams[2]; /* per step, by sender */
    double bytes[2];     /* per datagram */
    uint32_t messages;   /* per step */
};

/* Runs steps until at least `messages` were delivered; returns nanoseconds of CPU time per message, both ends and the
   harness together; 0 when the pair could not be created or a message was missing. load may be NULL. */
double soak_run(const struct rival *rival, uint32_t messages_per_step, uint32_t messages, struct soak_load *load);

/* The load of the following runs of rival_echo and rival_enet_stub. */
extern struct soak_load soak_echo_load;

/* Nanoseconds of CPU time of a loop that never changes. */
double soak_reference_ns(void);

extern const struct rival rival_echo; /* nothing but the harness */
extern const struct rival
    *const rival_enet_stub; /* the harness and ENet's socket layer, after a run of ENet; NULL: not built in */

#endif
