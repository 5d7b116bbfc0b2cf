/* SPDX-License-Identifier: MIT */
/* How values are spread, in memory that does not grow with their number: percentiles are off by less than 1 %. Each
   power of two is divided into 64 equal parts (a log-linear histogram); values below 64 are exact. */
#ifndef UERUDP_TOOLS_INFO_HISTOGRAM_H
#define UERUDP_TOOLS_INFO_HISTOGRAM_H

#include <stdint.h>

#define INFO_HISTOGRAM_OCTAVES 58

/* Zeroed: empty. */
struct info_histogram {
    uint64_t count;
    int64_t min, max;                        /* exact */
    uint64_t *octaves[INFO_HISTOGRAM_OCTAVES]; /* 64 counts each, made when first needed */
};

/* A negative value counts as 0. */
void info_histogram_add(struct info_histogram *histogram, int64_t value);

/* The value of the nearest rank: at least `percent` of the values are no greater. -1: there are none. */
int64_t info_histogram_percentile(const struct info_histogram *histogram, double percent);

void info_histogram_clear(struct info_histogram *histogram);

#endif
