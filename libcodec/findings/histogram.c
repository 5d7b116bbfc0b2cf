/* SPDX-License-Identifier: MIT */
#include "libcodec/findings/findings_state.h"

#define PARTS 64
#define PART_BITS 6

/* Octave 0 holds values below 64, octave n values of n + 6 bits; the six bits after the leading one select the
   bucket. */
static unsigned octave_of(uint64_t value) {
    return value < PARTS ? 0 : 64 - PART_BITS - (unsigned)__builtin_clzll(value);
}

static unsigned part_of(uint64_t value, unsigned octave) {
    return (octave == 0 ? value : value >> (octave - 1)) % PARTS;
}

/* The middle of a bucket. */
static int64_t value_of(unsigned octave, unsigned part) {
    if (octave == 0) {
        return part;
    }
    uint64_t width = UINT64_C(1) << (octave - 1);
    return (int64_t)((PARTS + part) * width + width / 2);
}

static size_t size_of(unsigned octaves) {
    return octaves * PARTS * sizeof(uint32_t);
}

/* Adds the buckets of an octave. Returns false when there is no memory. */
static bool add_octave(struct ue_limited_allocator *memory, struct ue_histogram *histogram, unsigned octave) {
    size_t size_bytes = size_of(histogram->octaves);
    uint32_t *buckets =
        ue_limited_allocator_resize(memory, histogram->buckets, size_bytes, size_of(histogram->octaves + 1u));
    if (buckets == NULL) {
        return false;
    }
    histogram->buckets = buckets;
    memset(buckets + histogram->octaves * PARTS, 0, size_of(1));
    histogram->places[octave] = ++histogram->octaves;
    return true;
}

/* The first bucket of an octave that has values. */
static uint32_t *buckets_of(const struct ue_histogram *histogram, unsigned octave) {
    return histogram->buckets + (histogram->places[octave] - 1) * PARTS;
}

void ue_histogram_add(struct ue_limited_allocator *memory, struct ue_histogram *histogram, int64_t value) {
    value = value < 0 ? 0 : value;
    unsigned octave = octave_of((uint64_t)value);
    if (histogram->places[octave] == 0 && !add_octave(memory, histogram, octave)) {
        return;
    }
    uint32_t *bucket = buckets_of(histogram, octave) + part_of((uint64_t)value, octave);
    if (*bucket == UINT32_MAX) {
        return;
    }
    ++*bucket;
    histogram->min = histogram->count == 0 || value < histogram->min ? value : histogram->min;
    histogram->max = histogram->count == 0 || value > histogram->max ? value : histogram->max;
    histogram->count++;
}

static int64_t value_at_rank(const struct ue_histogram *histogram, uint64_t rank) {
    uint64_t before = 0;
    for (unsigned octave = 0; octave < UE_HISTOGRAM_OCTAVES; octave++) {
        for (unsigned part = 0; histogram->places[octave] != 0 && part < PARTS; part++) {
            before += buckets_of(histogram, octave)[part];
            if (before >= rank) {
                return value_of(octave, part);
            }
        }
    }
    return histogram->max;
}

int64_t ue_histogram_percentile(const struct ue_histogram *histogram, unsigned percent) {
    if (histogram->count == 0) {
        return -1;
    }
    uint64_t rank = (percent * histogram->count + 99) / 100;
    int64_t value = value_at_rank(histogram, rank == 0 ? 1 : rank);
    return value < histogram->min ? histogram->min : value > histogram->max ? histogram->max : value;
}

void ue_histogram_clear(struct ue_limited_allocator *memory, struct ue_histogram *histogram) {
    if (histogram->buckets != NULL) {
        ue_limited_allocator_resize(memory, histogram->buckets, size_of(histogram->octaves), 0);
    }
    *histogram = (struct ue_histogram){0};
}
