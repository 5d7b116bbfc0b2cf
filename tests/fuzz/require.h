/* SPDX-License-Identifier: MIT */
/* The assertion of the fuzz targets. */
#ifndef UERUDP_TESTS_FUZZ_REQUIRE_H
#define UERUDP_TESTS_FUZZ_REQUIRE_H

#include <stdio.h>
#include <stdlib.h>

/* Aborts, which the fuzzer reports, unless the condition holds. */
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
