/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/rng.h"
#include "tests/support/within.h"
#include "libcodec/findings/findings_state.h"
#include "tests/support/counting_allocator.h"

#define VALUES 5000

static struct counting_allocator counting;
static struct ue_limited_allocator memory;

static int begin(void **state) {
    counting_allocator_init(&counting, 1 << 20);
    memory = (struct ue_limited_allocator){counting.allocator, 0, 1 << 20};
    return 0;
}

static int end(void **state) {
    return counting.blocks == 0 && memory.bytes == 0 ? 0 : -1;
}

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
    static int64_t values[VALUES];
    struct rng rng = {1};
    for (unsigned shift = 1; shift < 63; shift += 4) {
        struct ue_histogram histogram = {0};
        for (size_t i = 0; i < VALUES; i++) {
            values[i] = (int64_t)(rng_next(&rng) >> (64 - shift + rng_next(&rng) % shift));
            ue_histogram_add(&memory, &histogram, values[i]);
        }
        qsort(values, VALUES, sizeof *values, compare);
        for (unsigned percent = 0; percent <= 100; percent++) {
            int64_t exact = nearest_rank(values, VALUES, percent);
            int64_t found = ue_histogram_percentile(&histogram, percent);
            assert_true(is_within((uint64_t)llabs(found - exact), 0, (uint64_t)exact / 100));
        }
        assert_int_equal(values[0], histogram.min);
        assert_int_equal(values[VALUES - 1], histogram.max);
        ue_histogram_clear(&memory, &histogram);
    }
}

static void test_few_values(void **state) {
    struct ue_histogram histogram = {0};
    assert_int_equal(-1, ue_histogram_percentile(&histogram, 50));
    ue_histogram_add(&memory, &histogram, 1000003);
    assert_int_equal(1000003, ue_histogram_percentile(&histogram, 0));
    assert_int_equal(1000003, ue_histogram_percentile(&histogram, 99));
    ue_histogram_add(&memory, &histogram, -5);
    assert_int_equal(0, ue_histogram_percentile(&histogram, 50));
    assert_int_equal(0, histogram.min);
    ue_histogram_clear(&memory, &histogram);
    assert_int_equal(0, histogram.count);
}

static void test_bounds(void **state) {
    struct ue_histogram histogram = {0};
    ue_histogram_add(&memory, &histogram, INT64_MAX);
    assert_int_equal(INT64_MAX, ue_histogram_percentile(&histogram, 100));
    ue_histogram_add(&memory, &histogram, 63);
    ue_histogram_add(&memory, &histogram, 64);
    assert_int_equal(63, ue_histogram_percentile(&histogram, 33));
    assert_int_equal(64, ue_histogram_percentile(&histogram, 66));
    ue_histogram_clear(&memory, &histogram);
}

/* Without memory a value does not count, and values of known octaves still do. */
static void test_no_memory(void **state) {
    struct ue_histogram histogram = {0};
    ue_histogram_add(&memory, &histogram, 100);
    counting.limit_bytes = counting.used_bytes;
    ue_histogram_add(&memory, &histogram, 1000000);
    ue_histogram_add(&memory, &histogram, 101);
    assert_int_equal(2, histogram.count);
    assert_int_equal(101, histogram.max);
    ue_histogram_clear(&memory, &histogram);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_percentiles_within_one_percent, begin, end),
        cmocka_unit_test_setup_teardown(test_few_values, begin, end),
        cmocka_unit_test_setup_teardown(test_bounds, begin, end),
        cmocka_unit_test_setup_teardown(test_no_memory, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
