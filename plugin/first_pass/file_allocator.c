/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/file_allocator.h"

#include "plugin/compat.h"

#include <epan/packet.h>
#include <epan/wmem_scopes.h>

/* Caches small freed blocks by size. wmem would merge each freed block with its neighbours, which takes longer than all
   other work on a fragment when many streams share the scope. */
#define CLASS_BYTES 32
#define CLASS_COUNT 32
#define CACHED_MAX 64 /* cached blocks of one size */

#ifndef __has_feature
#define __has_feature(name) 0 /* clang has no __SANITIZE_ADDRESS__ */
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define SMALL_BYTES_MAX 0 /* AddressSanitizer must see every allocation */
#else
#define SMALL_BYTES_MAX (CLASS_COUNT * CLASS_BYTES)
#endif

struct cached_block {
    size_t size_class;         /* CLASS_COUNT: larger than every class */
    struct cached_block *next; /* of a cached block; the caller's memory begins here */
};
#define HEAD_BYTES offsetof(struct cached_block, next)

static struct cached_block *cached[CLASS_COUNT];
static unsigned cached_count[CLASS_COUNT];

static void reset(void) {
    memset(cached, 0, sizeof cached);
    memset(cached_count, 0, sizeof cached_count);
}

void uerudp_file_allocator_register(void) {
    register_init_routine(reset);
}

static size_t class_of(size_t size_bytes) {
    return size_bytes <= SMALL_BYTES_MAX ? (size_bytes - 1) / CLASS_BYTES : CLASS_COUNT;
}

static struct cached_block *block_of(void *used) {
    return (struct cached_block *)((char *)used - HEAD_BYTES);
}

static void *mark(struct cached_block *block, size_t size_class) {
    block->size_class = size_class;
    return &block->next;
}

static void *allocate(size_t size_bytes) {
    size_t size_class = class_of(size_bytes);
    if (size_class == CLASS_COUNT) {
        return mark(wmem_alloc(wmem_file_scope(), HEAD_BYTES + size_bytes), size_class);
    }
    struct cached_block *block = cached[size_class];
    if (block == NULL) {
        return mark(wmem_alloc(wmem_file_scope(), HEAD_BYTES + (size_class + 1) * CLASS_BYTES), size_class);
    }
    cached[size_class] = block->next;
    cached_count[size_class]--;
    return &block->next;
}

static void release(void *used) {
    struct cached_block *block = block_of(used);
    size_t size_class = block->size_class;
    if (size_class == CLASS_COUNT || cached_count[size_class] == CACHED_MAX) {
        wmem_free(wmem_file_scope(), block);
        return;
    }
    block->next = cached[size_class];
    cached[size_class] = block;
    cached_count[size_class]++;
}

static void *reallocate(void *old, size_t size_bytes) {
    size_t size_class = block_of(old)->size_class;
    if (class_of(size_bytes) == size_class) {
        return size_class < CLASS_COUNT
                   ? old
                   : mark(wmem_realloc(wmem_file_scope(), block_of(old), HEAD_BYTES + size_bytes), CLASS_COUNT);
    }
    void *resized = allocate(size_bytes);
    memcpy(resized, old, MIN(size_bytes, (size_class + 1) * CLASS_BYTES));
    release(old);
    return resized;
}

static void *resize(void *user _U_, void *old, size_t size_bytes) {
    if (size_bytes != 0) {
        return old != NULL ? reallocate(old, size_bytes) : allocate(size_bytes);
    }
    if (old != NULL) {
        release(old);
    }
    return NULL;
}

const struct ue_allocator uerudp_file_allocator = {resize, NULL};
