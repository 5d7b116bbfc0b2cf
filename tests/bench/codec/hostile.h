/* SPDX-License-Identifier: MIT */
/* Input that no sender writes, in the length of input that one does. */
#ifndef UERUDP_TESTS_BENCH_CODEC_HOSTILE_H
#define UERUDP_TESTS_BENCH_CODEC_HOSTILE_H

#include "tests/bench/codec/workload.h"

/* Names of the ways to damage a packet; NULL after the last. */
const char *hostile_name(size_t way);

/* Damages every packet of a pool, so that its sample no longer describes it. */
void hostile_damage(struct pool *pool, size_t way, struct random *random);

#endif
