/* SPDX-License-Identifier: MIT */
/* A log-linear histogram in constant memory: each power of two has 64 buckets of equal width, so percentiles are off
   by less than 1 %; values below 64 are exact. */
#ifndef UERUDP_TOOLS_INFO_HISTOGRAM_H
#define UERUDP_TOOLS_INFO_HISTOGRAM_H

#include <stdint.h>

#define INFO_HISTOGRAM_OCTAVES 58

/* Zeroed: empty. */
struct info_histogram {
    uint64_t count;
    int64_t min, max;                          /* exact */
    uint64_t *octaves[INFO_HISTOGRAM_OCTAVES]; /* 64 buckets each, allocated on first use */
};

/* A negative value counts as 0. */
void info_histogram_add(struct info_histogram *histogram, int64_t value);

/* The nearest-rank percentile: at least `percent` of the values are not greater. -1: no values. */
int64_t info_histogram_percentile(const struct info_histogram *histogram, double percent);

void info_histogram_clear(struct info_histogram *histogram);

#endif
