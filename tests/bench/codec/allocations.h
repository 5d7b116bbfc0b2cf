/* SPDX-License-Identifier: MIT */
/* Counts the heap allocations of the program and the library (linked with --wrap). */
#ifndef UERUDP_TESTS_BENCH_CODEC_ALLOCATIONS_H
#define UERUDP_TESTS_BENCH_CODEC_ALLOCATIONS_H

unsigned long allocations_count(void);

#endif
