/* SPDX-License-Identifier: MIT */
/* Numbers in environment variables. */
#ifndef UERUDP_TESTS_SUPPORT_ENVIRONMENT_H
#define UERUDP_TESTS_SUPPORT_ENVIRONMENT_H

#include <stdint.h>

/* The number in a variable, or the fallback if the variable is not set or empty. */
uint64_t environment_number(const char *variable, uint64_t fallback);

#endif
