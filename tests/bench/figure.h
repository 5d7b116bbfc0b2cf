/* SPDX-License-Identifier: MIT */
/* What a measuring program prints: a line of JSON for each figure of goals.json. */
#ifndef UERUDP_TESTS_BENCH_FIGURE_H
#define UERUDP_TESTS_BENCH_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

struct figure {
    const char *row;
    const char *figure;
    double value;
    const char *unit;
    double spread;       /* how far a reference loop in the same run varied, as a fraction; negative: there was none */
    const char *note;    /* NULL: none */
    const char *invalid; /* why the figure cannot be judged; NULL: it can be */
};

void figure_print(const struct figure *figure);

/* A figure that has no more than these. */
void figure_print_value(const char *row, const char *figure, double value, const char *unit);

/* Sorts the values. 0 without any. */
double figure_median(double *values, size_t count);

/* How far values of a loop that never changes varied: from the tenth percentile to the ninetieth, over the median.
   Sorts the values. */
double figure_spread(double *values, size_t count);

/* Whether the arguments of the program name the row, or no row at all. */
bool figure_is_wanted(int argc, char **argv, const char *row);

#endif
