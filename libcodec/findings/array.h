/* SPDX-License-Identifier: MIT */
/* A growing array of elements of one size. */
#ifndef UERUDP_LIBCODEC_FINDINGS_ARRAY_H
#define UERUDP_LIBCODEC_FINDINGS_ARRAY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "libcodec/base/memory_limit.h"

#define UE_ARRAY_MIN 8

/* Zeroed: empty. The first element that is inserted sets their size. */
struct ue_array {
    uint8_t *bytes;
    size_t count, capacity;
    size_t element_bytes;
};

/* Changes the number of elements that there is memory for. Returns false when there is no memory. */
static inline bool ue_array_resize(struct ue_limited_allocator *memory, struct ue_array *array, size_t capacity) {
    size_t size = array->element_bytes;
    void *bytes = ue_limited_allocator_resize(memory, array->bytes, array->capacity * size, capacity * size);
    if (bytes != NULL) {
        array->bytes = bytes;
        array->capacity = capacity;
    }
    return bytes != NULL;
}

static inline void *ue_array_at(const struct ue_array *array, size_t place) {
    return array->bytes + place * array->element_bytes;
}

/* Inserts a copy of *element before the element at a place. Returns false when there is no memory. */
#define ue_array_insert(memory, array, place, element)                                                                 \
    ue_array_insert_bytes(memory, array, place, element, sizeof *(element))

static inline bool ue_array_insert_bytes(struct ue_limited_allocator *memory, struct ue_array *array, size_t place,
                                         const void *element, size_t size) {
    array->element_bytes = size;
    size_t grown = array->capacity != 0 ? array->capacity + array->capacity / 2 : UE_ARRAY_MIN;
    if (array->count == array->capacity && !ue_array_resize(memory, array, grown)) {
        return false;
    }
    uint8_t *at = ue_array_at(array, place);
    if (place < array->count) { /* most are appended */
        memmove(at + size, at, (array->count - place) * size);
    }
    memcpy(at, element, size);
    array->count++;
    return true;
}

/* Of an array that is sorted by a uint32_t, the first member of its elements: the element with the same one as *added,
   which is inserted if there is none. Returns NULL when there is no memory. */
#define ue_array_require(memory, array, added) ue_array_require_bytes(memory, array, added, sizeof *(added))

static inline void *ue_array_require_bytes(struct ue_limited_allocator *memory, struct ue_array *array,
                                           const void *added, size_t size) {
    uint32_t wanted, found = 0;
    size_t low = 0, high = array->count;
    memcpy(&wanted, added, sizeof wanted);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        memcpy(&found, ue_array_at(array, middle), sizeof found);
        *(found < wanted ? &low : &high) = found < wanted ? middle + 1 : middle;
    }
    bool is_known = low < array->count;
    if (is_known) {
        memcpy(&found, ue_array_at(array, low), sizeof found);
        is_known = found == wanted;
    }
    bool has_it = is_known || ue_array_insert_bytes(memory, array, low, added, size);
    return has_it ? ue_array_at(array, low) : NULL;
}

/* Also returns memory after a peak: pointers to elements become invalid. */
static inline void ue_array_remove(struct ue_limited_allocator *memory, struct ue_array *array, size_t place,
                                   size_t count) {
    if (count == 0) {
        return; /* an empty array may have no memory */
    }
    uint8_t *at = ue_array_at(array, place);
    array->count -= count;
    memmove(at, at + count * array->element_bytes, (array->count - place) * array->element_bytes);
    if (array->capacity > UE_ARRAY_MIN && array->count < array->capacity / 4) {
        ue_array_resize(memory, array, array->capacity / 2);
    }
}

/* Frees the elements. */
static inline void ue_array_clear(struct ue_limited_allocator *memory, struct ue_array *array) {
    if (array->bytes != NULL) {
        ue_limited_allocator_resize(memory, array->bytes, array->capacity * array->element_bytes, 0);
    }
    *array = (struct ue_array){0};
}

#endif
