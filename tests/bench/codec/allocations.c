/* SPDX-License-Identifier: MIT */
#include "tests/bench/codec/allocations.h"

#include <stddef.h>

static unsigned long count;

void *__real_malloc(size_t size);
void *__real_calloc(size_t number, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t number, size_t size);
void *__wrap_realloc(void *block, size_t size);

void *__wrap_malloc(size_t size) {
    count++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t number, size_t size) {
    count++;
    return __real_calloc(number, size);
}

void *__wrap_realloc(void *block, size_t size) {
    count++;
    return __real_realloc(block, size);
}

unsigned long allocations_count(void) {
    return count;
}
