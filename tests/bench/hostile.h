/* SPDX-License-Identifier: MIT */
/* Input that no sender writes, in the length of input that one does. */
#ifndef BENCH_HOSTILE_H
#define BENCH_HOSTILE_H

#include "tests/bench/workload.h"

/* Names of the ways to spoil a packet; NULL behind the last. */
const char *hostile_name(size_t way);

/* Spoils every packet of a pool; the meanings no longer hold. */
void hostile_spoil(struct pool *pool, size_t way, struct random *random);

#endif
