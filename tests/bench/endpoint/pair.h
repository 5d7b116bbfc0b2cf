/* SPDX-License-Identifier: MIT */
/* The reference endpoint as a rival, with what only its own goals look at. */
#ifndef UERUDP_TESTS_BENCH_ENDPOINT_PAIR_H
#define UERUDP_TESTS_BENCH_ENDPOINT_PAIR_H

#include <uerudp/endpoint.h>
#include "tests/bench/endpoint/rival.h"

#define PAIR_CHANNEL 2 /* carries all messages */

struct pair_config {
    const char *release;
    struct ue_conn_options options[2]; /* by side */
    uint32_t net_speed;                /* bytes per second; 0: no limit */
    uint32_t channels;                 /* open, PAIR_CHANNEL among them; 0 counts as 1 */
};

/* As create of a rival. */
void *pair_create(const struct rival_host *host, uint64_t seed, uint64_t now_ns, const struct pair_config *config);
struct ue_conn *pair_conn(void *pair, enum rival_side side);

#endif
