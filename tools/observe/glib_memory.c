/* SPDX-License-Identifier: MIT */
#include "tools/observe/glib_memory.h"

#include <glib.h>

static void *resize(void *user, void *old, size_t size_bytes) {
    (void)user;
    return g_realloc(old, size_bytes);
}

const struct ue_allocator glib_memory = {resize, NULL};
