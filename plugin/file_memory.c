/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/file_memory.h"

#include "plugin/compat.h"

#include <epan/wmem_scopes.h>

static void *resize(void *user _U_, void *old, size_t size_bytes) {
    if (size_bytes == 0) {
        wmem_free(wmem_file_scope(), old);
        return NULL;
    }
    return wmem_realloc(wmem_file_scope(), old, size_bytes);
}

const struct ue_track_memory ue_file_memory = {resize, NULL};
