/* SPDX-License-Identifier: MIT */
/* cmocka's own assertion on ranges has another name in each of its generations. */
#ifndef UERUDP_TESTS_SUPPORT_WITHIN_H
#define UERUDP_TESTS_SUPPORT_WITHIN_H

#include <stdbool.h>
#include <stdint.h>

static inline bool is_within(uint64_t value, uint64_t least, uint64_t most) {
    return least <= value && value <= most;
}

#endif
