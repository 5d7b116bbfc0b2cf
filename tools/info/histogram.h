/* SPDX-License-Identifier: MIT */
/* How values are spread, in memory that does not grow with their number: percentiles are off by less than 1 %. Each
   power of two is divided into 64 equal parts (a log-linear histogram); values below 64 are exact. */
#ifndef UERUDP_TOOLS_INFO_HISTOGRAM_H
#define UERUDP_TOOLS_INFO_HISTOGRAM_H

#include <stdint.h>

#define UE_HISTOGRAM_OCTAVES 58

/* Zeroed: empty. */
struct ue_histogram {
    uint64_t count;
    int64_t min, max;                        /* exact */
    uint64_t *octaves[UE_HISTOGRAM_OCTAVES]; /* 64 counts each, made when first needed */
};

/* A negative value counts as 0. */
void ue_histogram_add(struct ue_histogram *histogram, int64_t value);

/* The value of the nearest rank: at least `percent` of the values are no greater. -1: there are none. */
int64_t ue_histogram_percentile(const struct ue_histogram *histogram, double percent);

void ue_histogram_clear(struct ue_histogram *histogram);

#endif
