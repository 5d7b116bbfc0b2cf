/* SPDX-License-Identifier: MIT */
#include "tests/bench/figure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void figure_print(const struct figure *figure) {
    printf("{\"row\":\"%s\",\"figure\":\"%s\",\"value\":%.6g,\"unit\":\"%s\"", figure->row, figure->figure,
           figure->value, figure->unit);
    if (figure->spread >= 0) {
        printf(",\"spread\":%.4f", figure->spread);
    }
    if (figure->note != NULL) {
        printf(",\"note\":\"%s\"", figure->note);
    }
    if (figure->invalid != NULL) {
        printf(",\"invalid\":\"%s\"", figure->invalid);
    }
    printf("}\n");
    fflush(stdout);
}

void figure_print_value(const char *row, const char *figure, double value, const char *unit) {
    figure_print(&(struct figure){.row = row, .figure = figure, .value = value, .unit = unit, .spread = -1});
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double figure_median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare);
    return count == 0 ? 0 : values[count / 2];
}

double figure_spread(double *values, size_t count) {
    double median = figure_median(values, count);
    return median > 0 ? (values[count * 9 / 10] - values[count / 10]) / median : 1;
}

bool figure_is_wanted(int argc, char **argv, const char *row) {
    bool names_rows = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], row) == 0) {
            return true;
        }
        names_rows |= argv[i][0] != '-';
    }
    return !names_rows;
}
