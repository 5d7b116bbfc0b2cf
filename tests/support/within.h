/* SPDX-License-Identifier: MIT */
/* Replaces cmocka's assertion on ranges, whose name differs between its versions. */
#ifndef UERUDP_TESTS_SUPPORT_WITHIN_H
#define UERUDP_TESTS_SUPPORT_WITHIN_H

#include <stdbool.h>
#include <stdint.h>

static inline bool is_within(uint64_t value, uint64_t least, uint64_t most) {
    return least <= value && value <= most;
}

#endif
