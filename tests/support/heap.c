/* SPDX-License-Identifier: MIT */
#include "tests/support/heap.h"

#include <stdlib.h>

static void *resize(void *user, void *old, size_t size_bytes) {
    if (size_bytes != 0) {
        return realloc(old, size_bytes);
    }
    free(old);
    return NULL;
}

const struct ue_allocator heap = {resize, NULL};
