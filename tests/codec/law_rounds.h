/* SPDX-License-Identifier: MIT */
/* Repeated attempts of a law in every generation. */
#ifndef UERUDP_TESTS_CODEC_LAW_ROUNDS_H
#define UERUDP_TESTS_CODEC_LAW_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs `rounds` attempts in each generation, or the number in UERUDP_LAW_ROUNDS, and prints under the given name how
   many returned true. Fails if fewer than accepted_min percent did. */
void law_rounds_run(const char *name, uint64_t rounds, unsigned accepted_min, bool (*attempt)(size_t row));

/* Fails the test with the name of the law, the generation in that row and the number of the round. */
_Noreturn void law_rounds_fail(const char *problem, size_t row);

#endif
