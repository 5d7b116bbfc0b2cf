/* SPDX-License-Identifier: MIT */
#include "tests/support/environment.h"

#include <stdlib.h>

uint64_t environment_number(const char *variable, uint64_t fallback) {
    const char *text = getenv(variable);
    return text != NULL && *text != '\0' ? strtoull(text, NULL, 0) : fallback;
}
