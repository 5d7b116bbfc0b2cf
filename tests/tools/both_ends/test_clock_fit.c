/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/rng.h"
#include "tools/both_ends/clock_fit.h"

#define COUNT 400
#define MS INT64_C(1000000)
#define STEP_NS (50 * MS)
#define BEGIN_NS INT64_C(1767225600000000000)
#define INACCURACY_NS 50000 /* of the times of a packet */

static struct clock_sample samples[2][COUNT];
static const struct clock_sample *const both[2] = {samples[0], samples[1]};
static const size_t counts[2] = {COUNT, COUNT};

/* Packets every 50 ms, of delay_ns and up to jitter_ns more, between clocks with this offset and drift. */
static void fill(int64_t offset_ns, double drift, const int64_t delay_ns[2], int64_t jitter_ns) {
    struct rng rng = {1};
    for (int i = 0; i < COUNT; i++) {
        for (int way = 0; way < 2; way++) {
            int64_t since_ns = i * STEP_NS, delay = delay_ns[way] + (int64_t)rng_below(&rng, (uint64_t)jitter_ns);
            samples[way][i].time_ns = BEGIN_NS + since_ns;
            samples[way][i].ahead_ns = offset_ns + (int64_t)(drift * (double)since_ns) + (way == 0 ? delay : -delay);
        }
    }
}

static void assert_near(int64_t expected, int64_t actual, int64_t within) {
    assert_true(llabs(expected - actual) <= within);
}

static void test_offset(void **state) {
    fill(-7 * MS, 0, (const int64_t[]){30 * MS, 30 * MS}, 0);
    struct clock_fit fit = clock_fit_of(both, counts);
    assert_int_equal(CLOCK_FIT_KNOWN, fit.result);
    assert_int_equal(-7 * MS, fit.offset_ns);
    assert_int_equal(30 * MS + INACCURACY_NS, fit.bound_ns);
    assert_false(fit.has_drift);
    assert_int_equal(-7 * MS, clock_fit_offset_ns(&fit, BEGIN_NS + COUNT * STEP_NS));
}

/* Half of the difference is in the offset, which its bound covers. */
static void test_asymmetry(void **state) {
    fill(0, 0, (const int64_t[]){50 * MS, 10 * MS}, 0);
    struct clock_fit fit = clock_fit_of(both, counts);
    assert_int_equal(20 * MS, fit.offset_ns);
    assert_int_equal(30 * MS + INACCURACY_NS, fit.bound_ns);
}

static void test_drift(void **state) {
    fill(3 * MS, 50e-6, (const int64_t[]){30 * MS, 30 * MS}, 5 * MS);
    struct clock_fit fit = clock_fit_of(both, counts);
    assert_true(fit.has_drift);
    assert_near(50, (int64_t)(fit.drift * 1e6), 15);
    assert_near(4 * MS, clock_fit_offset_ns(&fit, BEGIN_NS + COUNT * STEP_NS), MS / 2);
}

/* The offset is that of the time, and not of what the second clock shows an hour ahead. */
static void test_second_clock(void **state) {
    fill(3600000 * MS, 50e-6, (const int64_t[]){30 * MS, 30 * MS}, 5 * MS);
    struct clock_fit fit = clock_fit_of(both, counts);
    int64_t time_ns = BEGIN_NS + COUNT * STEP_NS;
    assert_true(fit.has_drift);
    assert_near(time_ns, clock_fit_to_first_ns(&fit, time_ns + clock_fit_offset_ns(&fit, time_ns)), MS / 1000);
}

/* What varies by chance is no drift. */
static void test_no_drift(void **state) {
    fill(3 * MS, 0, (const int64_t[]){30 * MS, 30 * MS}, 40 * MS);
    struct clock_fit fit = clock_fit_of(both, counts);
    assert_false(fit.has_drift);
    assert_true(fit.is_drift_measured);
    assert_near(3 * MS, fit.offset_ns, MS);
}

/* On a fast network a drift of which the parts show little leaves some delays negative, unless it is assumed. */
static void test_fast_network(void **state) {
    fill(0, 40e-6, (const int64_t[]){50000, 50000}, 20000);
    struct clock_fit fit = clock_fit_of(both, counts);
    assert_int_equal(CLOCK_FIT_KNOWN, fit.result);
    assert_true(fit.has_drift);
    assert_near(0, clock_fit_offset_ns(&fit, BEGIN_NS), 30000);
}

/* A queue that grows in one direction, and empties, is a delay: with the clocks of the other tests no drift explains
 * it. */
static void test_queue(void **state) {
    for (int64_t growth_us = 100; growth_us <= 10000; growth_us *= 10) {
        fill(3 * MS, 0, (const int64_t[]){30 * MS, 30 * MS}, 5 * MS);
        for (int i = 0; i < COUNT; i++) {
            samples[0][i].ahead_ns += i * growth_us * 1000;
        }
        struct clock_fit fit = clock_fit_of(both, counts);
        assert_int_equal(CLOCK_FIT_KNOWN, fit.result);
        assert_false(fit.has_drift);
        assert_near(3 * MS, fit.offset_ns, 3 * MS);
        fill(3 * MS, 0, (const int64_t[]){30 * MS, 30 * MS}, 5 * MS);
        for (int i = 0; i < COUNT / 4; i++) {
            samples[0][i].ahead_ns += (COUNT / 4 - i) * growth_us * 1000;
        }
        fit = clock_fit_of(both, counts);
        assert_int_equal(CLOCK_FIT_KNOWN, fit.result);
        assert_near(3 * MS, fit.offset_ns, 3 * MS);
    }
}

/* A drift beside a queue that grows: that there is one follows from packets that would arrive too early, not from the
   line. */
static void test_drift_beside_queue(void **state) {
    fill(3 * MS, 300e-6, (const int64_t[]){MS, MS}, MS / 5);
    struct clock_fit fit = clock_fit_of(both, counts);
    assert_true(fit.has_drift && fit.is_drift_measured);
    for (int i = 0; i < COUNT; i++) {
        samples[0][i].ahead_ns += i * MS / 10;
    }
    fit = clock_fit_of(both, counts);
    assert_int_equal(CLOCK_FIT_KNOWN, fit.result);
    assert_true(fit.has_drift && !fit.is_drift_measured);
    assert_true(fit.drift >= 250e-6 && fit.drift <= CLOCK_FIT_DRIFT_MAX);
}

/* With these delays between the fastest packets, the drifts that leave all delays positive. */
static void assert_bounds(const struct clock_fit *fit, double least_ppm, double most_ppm) {
    assert_int_equal(CLOCK_FIT_KNOWN, fit->result);
    assert_true(fabs(fit->least_drift * 1e6 - least_ppm) < 0.01);
    assert_true(fabs(fit->most_drift * 1e6 - most_ppm) < 0.01);
    assert_true(fit->least_drift <= fit->drift && fit->drift <= fit->most_drift);
}

/* The steepest lines between the packets of both directions are from the first of one to the last of the other. */
static void test_drift_bounds(void **state) {
    double span_ns = (COUNT - 1) * (double)STEP_NS;
    for (int ppm = -200; ppm <= 200; ppm += 100) {
        fill(3 * MS, ppm * 1e-6, (const int64_t[]){MS, 3 * MS}, 0);
        struct clock_fit fit = clock_fit_of(both, counts);
        double most = (4 * MS + 2 * INACCURACY_NS) / span_ns * 1e6;
        assert_bounds(&fit, ppm - most, ppm + most);
    }
    fill(3 * MS, 0, (const int64_t[]){30 * MS, 30 * MS}, 5 * MS);
    struct clock_fit fit = clock_fit_of(both, counts);
    assert_bounds(&fit, -CLOCK_FIT_DRIFT_MAX * 1e6, CLOCK_FIT_DRIFT_MAX * 1e6); /* a short capture shows no more */
}

/* Whatever grows in one direction or both, the true offset and drift are within the bounds, also where the line is not.
 */
static void test_bounds_hold(void **state) {
    unsigned wrong_lines = 0;
    for (int growth_us = -40; growth_us <= 40; growth_us += 5) {
        for (int ppm = -400; ppm <= 400; ppm += 100) {
            fill(-9 * MS, ppm * 1e-6, (const int64_t[]){4 * MS, MS}, MS);
            for (int i = 0; i < COUNT; i++) {
                samples[0][i].ahead_ns += growth_us > 0 ? i * growth_us * 1000 : 0;
                samples[1][i].ahead_ns -= growth_us < 0 ? i * -growth_us * 1000 : 0;
            }
            struct clock_fit fit = clock_fit_of(both, counts);
            assert_int_equal(CLOCK_FIT_KNOWN, fit.result);
            assert_true(fit.least_drift <= ppm * 1e-6 && ppm * 1e-6 <= fit.most_drift);
            assert_true(llabs(fit.offset_ns + 9 * MS) <= fit.bound_ns);
            wrong_lines += fabs(fit.drift * 1e6 - ppm) > 50;
        }
    }
    assert_true(wrong_lines != 0);
}

static void test_step(void **state) {
    fill(0, 0, (const int64_t[]){10 * MS, 10 * MS}, MS);
    for (int i = COUNT / 2; i < COUNT; i++) {
        samples[0][i].ahead_ns += 300 * MS;
        samples[1][i].ahead_ns += 300 * MS;
    }
    assert_int_equal(CLOCK_FIT_NOT_LINEAR, clock_fit_of(both, counts).result);
}

/* A capture can hold any 64-bit time: two parts of a capture 19 years apart, and 380 years, which saturates. */
static void test_far_times(void **state) {
    static const int64_t far_s[] = {300000000, 6000000000};
    for (int far = 0; far < 2; far++) {
        fill(7 * MS, 0, (const int64_t[]){30 * MS, 30 * MS}, 0);
        for (int i = 0; i < COUNT; i++) {
            for (int way = 0; way < 2; way++) {
                samples[way][i].time_ns += (i < COUNT / 2 ? -far_s[far] : far_s[far]) * 1000 * MS - BEGIN_NS;
            }
        }
        struct clock_fit fit = clock_fit_of(both, counts);
        assert_int_equal(CLOCK_FIT_KNOWN, fit.result);
        assert_int_equal(7 * MS, fit.offset_ns);
        assert_int_equal(30 * MS + INACCURACY_NS, fit.bound_ns);
    }
}

static void test_one_way(void **state) {
    fill(9 * MS, 0, (const int64_t[]){10 * MS, 10 * MS}, 0);
    const size_t one[2] = {COUNT, 0};
    struct clock_fit fit = clock_fit_of(both, one);
    assert_int_equal(CLOCK_FIT_ONE_WAY, fit.result);
    assert_int_equal(19 * MS, fit.offset_ns);
    assert_int_equal(CLOCK_ORDER_UNKNOWN, clock_order_of(both, one));
    assert_int_equal(CLOCK_FIT_ONE_WAY, clock_fit_of(both, (const size_t[2]){0, 0}).result);
}

static void test_order(void **state) {
    const struct clock_sample *const swapped[2] = {samples[1], samples[0]};
    for (int64_t offset_ms = -1000; offset_ms <= 1000; offset_ms += 500) {
        fill(offset_ms * MS, 60e-6, (const int64_t[]){5 * MS, 9 * MS}, 40 * MS);
        assert_int_equal(CLOCK_ORDER_FIRST, clock_order_of(both, counts));
        assert_int_equal(CLOCK_ORDER_SECOND, clock_order_of(swapped, counts));
    }
    fill(0, 0, (const int64_t[]){0, 0}, 0);
    assert_int_equal(CLOCK_ORDER_SAME, clock_order_of(both, counts));
}

/* Half of the parts say one order, and half the other: not that the captures are in one place. */
static void test_order_of_a_tie(void **state) {
    fill(0, 0, (const int64_t[]){5 * MS, 5 * MS}, 0);
    for (int i = COUNT / 2; i < COUNT; i++) {
        samples[0][i].ahead_ns *= -1;
        samples[1][i].ahead_ns *= -1;
    }
    assert_int_equal(CLOCK_ORDER_UNKNOWN, clock_order_of(both, counts));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offset),
        cmocka_unit_test(test_asymmetry),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_no_drift),
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_far_times),
        cmocka_unit_test(test_one_way),
        cmocka_unit_test(test_fast_network),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_order_of_a_tie),
        cmocka_unit_test(test_second_clock),
        cmocka_unit_test(test_queue),
        cmocka_unit_test(test_drift_beside_queue),
        cmocka_unit_test(test_drift_bounds),
        cmocka_unit_test(test_bounds_hold),
    };
    return cmocka_run_group_tests_name("clock_fit", tests, NULL, NULL);
}
