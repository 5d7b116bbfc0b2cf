/* SPDX-License-Identifier: MIT */
/* Counts what the program and the library take from the heap (linked with --wrap). */
#ifndef BENCH_ALLOCATIONS_H
#define BENCH_ALLOCATIONS_H

unsigned long allocations_count(void);

#endif
