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

void ue_histogram_add(struct ue_limited_allocator *memory, struct ue_histogram *histogram, int64_t value) {
    value = value < 0 ? 0 : value;
    unsigned octave = octave_of((uint64_t)value);
    if (histogram->octaves[octave] == NULL) {
        uint64_t *parts = ue_limited_allocator_resize(memory, NULL, 0, PARTS * sizeof *parts);
        if (parts == NULL) {
            return;
        }
        memset(parts, 0, PARTS * sizeof *parts);
        histogram->octaves[octave] = parts;
    }
    histogram->octaves[octave][part_of((uint64_t)value, octave)]++;
    histogram->min = histogram->count == 0 || value < histogram->min ? value : histogram->min;
    histogram->max = histogram->count == 0 || value > histogram->max ? value : histogram->max;
    histogram->count++;
}

static int64_t value_at_rank(const struct ue_histogram *histogram, uint64_t rank) {
    uint64_t before = 0;
    for (unsigned i = 0; i < UE_HISTOGRAM_OCTAVES * PARTS; i++) {
        const uint64_t *octave = histogram->octaves[i / PARTS];
        before += octave != NULL ? octave[i % PARTS] : 0;
        if (before >= rank) {
            return value_of(i / PARTS, i % PARTS);
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
    for (unsigned i = 0; i < UE_HISTOGRAM_OCTAVES; i++) {
        if (histogram->octaves[i] != NULL) {
            ue_limited_allocator_resize(memory, histogram->octaves[i], PARTS * sizeof(uint64_t), 0);
        }
    }
    *histogram = (struct ue_histogram){0};
}
