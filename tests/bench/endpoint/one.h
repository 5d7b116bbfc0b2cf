/* SPDX-License-Identifier: MIT */
/* One candidate alone, for looking closer: no goals, no verdicts. Both return the exit status: 77 for a candidate that
   is not built in. */
#ifndef UERUDP_TESTS_BENCH_ENDPOINT_ONE_H
#define UERUDP_TESTS_BENCH_ENDPOINT_ONE_H

#include <stdint.h>

/* The soak, for callgrind. */
int one_count(const char *name, uint32_t messages_per_step, uint32_t messages);

/* argv[0] is the candidate; then -l loss, -b mean burst, -j jitter ms, -r round trip ms, -R bytes per second, -q queue
   bytes, -d seconds, -B bulk MB, -p polls per tick, -s seed. */
int one_play(int argc, char **argv);

#endif
