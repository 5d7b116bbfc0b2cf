/* SPDX-License-Identifier: MIT */
#include "tests/support/counting_allocator.h"

#include <stdbool.h>
#include <stdlib.h>

/* Each block begins with its size. */
static void *resize(void *user, void *old, size_t size_bytes) {
    struct counting_allocator *counting = user;
    size_t *head = old != NULL ? (size_t *)old - 2 : NULL;
    size_t old_bytes = head != NULL ? *head : 0;
    bool fails = size_bytes != 0 && ++counting->allocations == counting->failing;
    if (fails || counting->used_bytes - old_bytes + size_bytes > counting->limit_bytes) {
        return NULL;
    }
    counting->used_bytes += size_bytes - old_bytes;
    if (counting->used_bytes > counting->peak_bytes) {
        counting->peak_bytes = counting->used_bytes;
    }
    counting->blocks += old == NULL && size_bytes != 0;
    counting->blocks -= old != NULL && size_bytes == 0;
    if (size_bytes == 0) {
        free(head);
        return NULL;
    }
    size_t *resized = realloc(head, size_bytes + 2 * sizeof *head);
    if (resized == NULL) {
        abort();
    }
    *resized = size_bytes;
    return resized + 2;
}

void counting_allocator_init(struct counting_allocator *counting, size_t limit_bytes) {
    *counting = (struct counting_allocator){.allocator = {resize, counting}, .limit_bytes = limit_bytes};
}
