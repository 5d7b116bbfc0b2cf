/* SPDX-License-Identifier: MIT */
/* The reference endpoint as a rival, with what only its own goals look at. */
#ifndef BENCH_RIVAL_UE_H
#define BENCH_RIVAL_UE_H

#include "tests/bench/rival.h"
#include "tools/endpoint/endpoint.h"

#define UE_PAIR_CHANNEL 2 /* carries all messages */

struct ue_pair_config {
    const char *release;
    struct ue_conn_options options;
    uint32_t channels;    /* open, UE_PAIR_CHANNEL among them; 0 counts as 1 */
    struct ue_pool *pool; /* shared by many, or NULL: one of its own */
};

/* As create of a rival. */
void *ue_pair_create(const struct rival_host *host, uint64_t seed, uint64_t now_ns,
                     const struct ue_pair_config *config);
struct ue_conn *ue_pair_conn(void *pair, enum rival_side side);

#endif
