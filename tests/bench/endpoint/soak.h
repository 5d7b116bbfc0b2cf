/* SPDX-License-Identifier: MIT */
/* Work per message without a network: each step carries k reliable messages of 200 bytes one way and one datagram of 60
   bytes back (performance 2.4). */
#ifndef UERUDP_TESTS_BENCH_ENDPOINT_SOAK_H
#define UERUDP_TESTS_BENCH_ENDPOINT_SOAK_H

#include "tests/bench/endpoint/rival.h"

/* Runs steps until at least `messages` were delivered; returns nanoseconds of work per message, both sides together; 0
   when the pair could not be created or a message was missing. */
double soak_run(const struct rival *rival, uint32_t messages_per_step, uint32_t messages);

#endif
