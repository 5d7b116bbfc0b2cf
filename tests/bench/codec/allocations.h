/* SPDX-License-Identifier: MIT */
/* Counts what the program and the library take from the heap (linked with --wrap). */
#ifndef UERUDP_TESTS_BENCH_CODEC_ALLOCATIONS_H
#define UERUDP_TESTS_BENCH_CODEC_ALLOCATIONS_H

unsigned long allocations_count(void);

#endif
