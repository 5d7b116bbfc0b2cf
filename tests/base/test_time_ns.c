/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <uerudp/time_ns.h>
#include "tests/support/rng.h"

#define MAX_S (INT64_MAX / UE_NS_PER_S)

static const struct {
    int64_t seconds, nanoseconds, time_ns;
} sums[] = {
    {0, 0, 0},
    {5, 7, 5 * UE_NS_PER_S + 7},
    {5, -7, 5 * UE_NS_PER_S - 7},
    {-5, 7, -5 * UE_NS_PER_S + 7},
    {1, -UE_NS_PER_S, 0},
    {0, INT64_MAX, INT64_MAX},
    {0, INT64_MIN, INT64_MIN},
    {MAX_S, INT64_MAX % UE_NS_PER_S, INT64_MAX},
    {MAX_S, INT64_MAX % UE_NS_PER_S + 1, INT64_MAX}, /* saturates */
    {-MAX_S, INT64_MIN % UE_NS_PER_S, INT64_MIN},
    {-MAX_S, INT64_MIN % UE_NS_PER_S - 1, INT64_MIN}, /* saturates */
    /* The seconds overflow, the sum does not. */
    {MAX_S + 1, -UE_NS_PER_S, MAX_S *UE_NS_PER_S},
    {MAX_S + 1, -999999999, MAX_S *UE_NS_PER_S + 1},
    {-MAX_S - 1, UE_NS_PER_S, -MAX_S *UE_NS_PER_S},
    {-MAX_S - 1, 999999999, -MAX_S *UE_NS_PER_S - 1},
    {2 * MAX_S, -MAX_S *UE_NS_PER_S, MAX_S *UE_NS_PER_S},
    {-2 * MAX_S, MAX_S *UE_NS_PER_S, -MAX_S *UE_NS_PER_S},
    /* The sum does, too. */
    {INT64_MAX, INT64_MIN, INT64_MAX},
    {INT64_MAX, INT64_MAX, INT64_MAX},
    {INT64_MIN, INT64_MAX, INT64_MIN},
    {INT64_MIN, INT64_MIN, INT64_MIN},
};

static void only_the_sum_saturates(void **state) {
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        assert_int_equal(ue_time_ns_from(sums[i].seconds, sums[i].nanoseconds), sums[i].time_ns);
    }
}

/* Seconds may move between the arguments. */
static void equal_sums_are_equal(void **state) {
    struct rng rng = {1};
    for (int i = 0; i < 10000; i++) {
        int64_t time_ns = (int64_t)rng_next(&rng);
        int64_t moved_s = (int64_t)rng_below(&rng, 2 * MAX_S) - MAX_S;
        int64_t seconds = time_ns / UE_NS_PER_S, rest_ns = time_ns % UE_NS_PER_S;
        int64_t moved_ns = ue_time_ns_add(rest_ns, -moved_s * UE_NS_PER_S);
        assert_int_equal(ue_time_ns_from(seconds, rest_ns), time_ns);
        assert_int_equal(ue_time_ns_from(seconds + moved_s, moved_ns), time_ns);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_the_sum_saturates),
                                       cmocka_unit_test(equal_sums_are_equal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
