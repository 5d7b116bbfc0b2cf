/* SPDX-License-Identifier: MIT */
/* Input that no sender writes, in the length of input that one does. */
#ifndef UERUDP_TESTS_BENCH_CODEC_HOSTILE_H
#define UERUDP_TESTS_BENCH_CODEC_HOSTILE_H

#include "tests/bench/codec/workload.h"

/* Names of the ways to spoil a packet; NULL behind the last. */
const char *hostile_name(size_t way);

/* Spoils every packet of a pool; the meanings no longer hold. */
void hostile_spoil(struct pool *pool, size_t way, struct random *random);

#endif
