/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/file_allocator.h"

#include "plugin/compat.h"

#include <epan/packet.h>
#include <epan/wmem_scopes.h>

/* Small blocks that are given back soon serve again. The scope would join each with its neighbours, and look at them
   for that: among the memory of many streams, this takes longer than all else about a fragment. */
#define CLASS_BYTES 32
#define CLASS_COUNT 32
#define SPARES_MAX 64 /* of one size */

#ifndef __has_feature
#define __has_feature(name) 0 /* clang's way to say it */
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define SMALL_BYTES_MAX 0 /* to find what steps out of its block, or comes back to it */
#else
#define SMALL_BYTES_MAX (CLASS_COUNT * CLASS_BYTES)
#endif

struct block {
    size_t size_class;  /* CLASS_COUNT: too large for any */
    struct block *next; /* of a spare one: what is used begins here */
};
#define HEAD_BYTES offsetof(struct block, next)

static struct block *spares[CLASS_COUNT];
static unsigned spare_count[CLASS_COUNT];

static void forget(void) {
    memset(spares, 0, sizeof spares);
    memset(spare_count, 0, sizeof spare_count);
}

void uerudp_file_allocator_register(void) {
    register_init_routine(forget);
}

static size_t class_of(size_t size_bytes) {
    return size_bytes <= SMALL_BYTES_MAX ? (size_bytes - 1) / CLASS_BYTES : CLASS_COUNT;
}

static struct block *block_of(void *used) {
    return (struct block *)((char *)used - HEAD_BYTES);
}

static void *use(struct block *block, size_t size_class) {
    block->size_class = size_class;
    return &block->next;
}

static void *take(size_t size_bytes) {
    size_t size_class = class_of(size_bytes);
    if (size_class == CLASS_COUNT) {
        return use(wmem_alloc(wmem_file_scope(), HEAD_BYTES + size_bytes), size_class);
    }
    struct block *block = spares[size_class];
    if (block == NULL) {
        return use(wmem_alloc(wmem_file_scope(), HEAD_BYTES + (size_class + 1) * CLASS_BYTES), size_class);
    }
    spares[size_class] = block->next;
    spare_count[size_class]--;
    return &block->next;
}

static void give(void *used) {
    struct block *block = block_of(used);
    size_t size_class = block->size_class;
    if (size_class == CLASS_COUNT || spare_count[size_class] == SPARES_MAX) {
        wmem_free(wmem_file_scope(), block);
        return;
    }
    block->next = spares[size_class];
    spares[size_class] = block;
    spare_count[size_class]++;
}

static void *resize_used(void *old, size_t size_bytes) {
    size_t size_class = block_of(old)->size_class;
    if (class_of(size_bytes) == size_class) {
        return size_class < CLASS_COUNT
                   ? old
                   : use(wmem_realloc(wmem_file_scope(), block_of(old), HEAD_BYTES + size_bytes), CLASS_COUNT);
    }
    void *resized = take(size_bytes);
    memcpy(resized, old, MIN(size_bytes, (size_class + 1) * CLASS_BYTES));
    give(old);
    return resized;
}

static void *resize(void *user _U_, void *old, size_t size_bytes) {
    if (size_bytes != 0) {
        return old != NULL ? resize_used(old, size_bytes) : take(size_bytes);
    }
    if (old != NULL) {
        give(old);
    }
    return NULL;
}

const struct ue_allocator uerudp_file_allocator = {resize, NULL};
