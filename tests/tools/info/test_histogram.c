/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/rng.h"
#include "tests/support/within.h"
#include "tools/info/histogram.h"

#define VALUES 5000

static int compare(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return left < right ? -1 : left > right;
}

/* The rule of the nearest rank, on all values. */
static int64_t nearest_rank(const int64_t *sorted, size_t count, unsigned percent) {
    size_t rank = (percent * count + 99) / 100;
    return sorted[rank == 0 ? 0 : rank - 1];
}

static void test_percentiles_within_one_percent(void **state) {
    (void)state;
    static int64_t values[VALUES];
    struct rng rng = {1};
    for (unsigned shift = 1; shift < 63; shift += 4) {
        struct info_histogram histogram = {0};
        for (size_t i = 0; i < VALUES; i++) {
            values[i] = (int64_t)(rng_next(&rng) >> (64 - shift + rng_next(&rng) % shift));
            info_histogram_add(&histogram, values[i]);
        }
        qsort(values, VALUES, sizeof *values, compare);
        for (unsigned percent = 0; percent <= 100; percent++) {
            int64_t exact = nearest_rank(values, VALUES, percent);
            int64_t found = info_histogram_percentile(&histogram, percent);
            assert_true(is_within((uint64_t)llabs(found - exact), 0, (uint64_t)exact / 100));
        }
        assert_int_equal(values[0], histogram.min);
        assert_int_equal(values[VALUES - 1], histogram.max);
        info_histogram_clear(&histogram);
    }
}

static void test_few_values(void **state) {
    (void)state;
    struct info_histogram histogram = {0};
    assert_int_equal(-1, info_histogram_percentile(&histogram, 50));
    info_histogram_add(&histogram, 1000003);
    assert_int_equal(1000003, info_histogram_percentile(&histogram, 0));
    assert_int_equal(1000003, info_histogram_percentile(&histogram, 99));
    info_histogram_add(&histogram, -5);
    assert_int_equal(0, info_histogram_percentile(&histogram, 50));
    assert_int_equal(0, histogram.min);
    info_histogram_clear(&histogram);
    assert_int_equal(0, histogram.count);
}

static void test_bounds(void **state) {
    (void)state;
    struct info_histogram histogram = {0};
    info_histogram_add(&histogram, INT64_MAX);
    assert_int_equal(INT64_MAX, info_histogram_percentile(&histogram, 100));
    info_histogram_add(&histogram, 63);
    info_histogram_add(&histogram, 64);
    assert_int_equal(63, info_histogram_percentile(&histogram, 33));
    assert_int_equal(64, info_histogram_percentile(&histogram, 66));
    info_histogram_clear(&histogram);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percentiles_within_one_percent),
        cmocka_unit_test(test_few_values),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
