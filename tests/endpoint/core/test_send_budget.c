/* SPDX-License-Identifier: MIT */
/* Bandwidth, jitter, ping and traffic statistics: worked examples (endpoint.md 30 and 31). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <uerudp/time_ns.h>

#include "tools/endpoint/core/send_budget.h"

#define NS_PER_SECOND UINT64_C(1000000000)
#define HZ(n) (NS_PER_SECOND / (n))

static void assert_near(double value, double expected, double tolerance) {
    assert_true(fabs(value - expected) <= tolerance);
}

static void a_budget_drains_to_two_ticks_of_credit(void **state) {
    static const int32_t after[] = {870, -1796, -4462, -5332, -5332};
    struct ue_send_budget b = {.net_speed = 10000};
    ue_send_budget_sent(&b, 414);
    assert_int_equal(b.queued_bits, 3536);
    for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
        ue_send_budget_tick(&b, HZ(30), 0);
        assert_int_equal(b.queued_bits, after[i]);
        assert_int_equal(ue_send_budget_is_ready(&b, 0, false), after[i] <= 0);
    }
}

/* Bits that one tick subtracts from large queued bits. */
static int32_t allowance(int32_t net_speed, uint64_t elapsed_ns, uint64_t desired_tick_ns) {
    struct ue_send_budget b = {net_speed, INT32_MAX};
    ue_send_budget_tick(&b, elapsed_ns, desired_tick_ns);
    return (int32_t)(INT32_MAX - (int64_t)b.queued_bits);
}

static void the_allowance_of_a_tick_follows_net_speed_and_elapsed_time(void **state) {
    assert_int_equal(allowance(10000, HZ(30), 0), 2666);
    assert_int_equal(allowance(100000, HZ(60), 0), 13333);
    assert_int_equal(allowance(200000, HZ(30), 0), 53333);
    assert_int_equal(allowance(1800, HZ(10), 0), 1440);
    assert_int_equal(allowance(10000, NS_PER_SECOND, HZ(30)), 2666); /* the elapsed time is clamped */
    assert_int_equal(allowance(10000, NS_PER_SECOND, 0), 80000);
    assert_int_equal(allowance(10000, HZ(60), HZ(30)), 1333);
}

static void queued_bits_saturate(void **state) {
    struct ue_send_budget b = {10000, INT32_MAX - 999}; /* 2^31 - 1000 */
    ue_send_budget_sent(&b, 1024);
    assert_int_equal(b.queued_bits, 2147483647);
    ue_send_budget_sent(&b, UINT32_MAX);
    assert_int_equal(b.queued_bits, 2147483647);
    b = (struct ue_send_budget){INT32_MAX, 0};
    ue_send_budget_tick(&b, UINT64_MAX, 0);
    ue_send_budget_tick(&b, UINT64_MAX, 0);
    assert_true(b.queued_bits == INT32_MIN);
}

static void readiness_counts_the_bits_in_the_send_buffer(void **state) {
    struct ue_send_budget b = {10000, -100};
    assert_true(ue_send_budget_is_ready(&b, 100, false));
    assert_false(ue_send_budget_is_ready(&b, 101, false));
    b.queued_bits = 5000;
    assert_true(ue_send_budget_is_ready(&b, 101, true));
    assert_int_equal(b.queued_bits, -101);
    b.queued_bits = INT32_MAX;
    assert_false(ue_send_budget_is_ready(&b, UINT32_MAX, false));
}

static void net_speeds_are_clamped(void **state) {
    assert_int_equal(ue_net_speed_clamp(0, 15000), 1800);
    assert_int_equal(ue_net_speed_clamp(100, 15000), 1800);
    assert_int_equal(ue_net_speed_clamp(10000, 15000), 10000);
    assert_int_equal(ue_net_speed_clamp(200000, 15000), 15000);
    assert_int_equal(ue_net_speed_clamp(-5, 15000), 1800);
    assert_int_equal(ue_net_speed(0), 2600);
    assert_int_equal(ue_net_speed(1), 1800);
    assert_int_equal(ue_net_speed(-1), 1800);
    assert_int_equal(ue_net_speed(100000), 100000);
}

static void jitter_is_a_smoothed_average(void **state) {
    static const struct {
        uint16_t sent_ms;
        uint64_t received_ms;
        double average_ms;
    } rows[] = {
        {100, 150, 3.125},   {133, 184, 2.992188},  {166, 210, 3.242676}, {200, 260, 4.040009},
        {980, 30, 4.412508}, {1023, 777, 4.412508}, {20, 75, 4.449226},
    };
    struct ue_jitter j = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ue_jitter_feed(&j, rows[i].sent_ms, (3000 + rows[i].received_ms) * UE_NS_PER_MS);
        assert_near(j.average_ms, rows[i].average_ms, 1e-6);
    }
}

/* endpoint.md 31: real clients send 1023 first, then the clock. */
static void the_jitter_clock_is_not_sent_after_a_second(void **state) {
    struct ue_jitter_clock clock = {0};
    uint64_t now_ns = 5400 * UE_NS_PER_MS;
    assert_int_equal(ue_jitter_clock_read(&clock, now_ns), UE_JITTER_IGNORED);
    assert_int_equal(ue_jitter_clock_read(&clock, now_ns + 77 * UE_NS_PER_MS), 477);
    assert_int_equal(ue_jitter_clock_read(&clock, now_ns + 140 * UE_NS_PER_MS), 540);
    assert_int_equal(ue_jitter_clock_read(&clock, now_ns + 1140 * UE_NS_PER_MS - 1), 539);
    assert_int_equal(ue_jitter_clock_read(&clock, now_ns + 2140 * UE_NS_PER_MS), UE_JITTER_IGNORED);
}

static void a_reused_lag_slot_gives_no_sample(void **state) {
    struct ue_ping ping = {0};
    assert_false(ue_ping_feed(&ping, 1000, 1256, 0, NS_PER_SECOND, 0));
    assert_int_equal(ping.lag_count, 0);
    assert_true(ue_ping_feed(&ping, 1000, 1255, 0, NS_PER_SECOND, 0));
    assert_true(ping.last_ns == NS_PER_SECOND);
}

static void the_frame_time_is_subtracted_from_the_ping(void **state) {
    struct ue_ping ping = {0};
    assert_true(ue_ping_feed(&ping, 7, 7, 100 * UE_NS_PER_MS, 180 * UE_NS_PER_MS, 30));
    assert_true(ping.last_ns == 50 * UE_NS_PER_MS && ping.smoothed_ns == 50 * UE_NS_PER_MS);
    assert_true(ue_ping_feed(&ping, 8, 8, 200 * UE_NS_PER_MS, 210 * UE_NS_PER_MS, 30)); /* the ping is never negative */
    assert_true(ping.last_ns == 0);
    assert_near((double)ping.smoothed_ns, 43.75e6, 8);
}

static void traffic_rates_are_computed_once_a_second(void **state) {
    struct ue_traffic traffic = {.second_begin_ns = 3 * NS_PER_SECOND};
    struct ue_ping ping = {0};
    ue_ping_feed(&ping, 1, 1, 0, 40 * UE_NS_PER_MS, 0);
    ue_ping_feed(&ping, 2, 2, 0, 60 * UE_NS_PER_MS, 0);
    struct ue_counters counters = {.in_bytes = 4000};
    assert_false(ue_traffic_tick(&traffic, &counters, &ping, 4 * NS_PER_SECOND - 1));
    assert_true(ue_traffic_tick(&traffic, &counters, &ping, 5 * NS_PER_SECOND)); /* the tick is a second late */
    assert_int_equal(traffic.in_bytes_per_second, 2000);
    assert_true(ping.average_ns == 50 * UE_NS_PER_MS);
    assert_int_equal(ping.lag_count, 0);

    counters.in_bytes += 500;
    assert_true(ue_traffic_tick(&traffic, &counters, &ping, 6 * NS_PER_SECOND)); /* counts from the second before */
    assert_int_equal(traffic.in_bytes_per_second, 500);

    assert_true(ue_traffic_tick(&traffic, &counters, &ping, 7 * NS_PER_SECOND)); /* a second without traffic */
    assert_int_equal(traffic.in_bytes_per_second, 0);
    assert_true(ping.average_ns == 50 * UE_NS_PER_MS); /* of the last second with samples */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_budget_drains_to_two_ticks_of_credit),
        cmocka_unit_test(the_allowance_of_a_tick_follows_net_speed_and_elapsed_time),
        cmocka_unit_test(queued_bits_saturate),
        cmocka_unit_test(readiness_counts_the_bits_in_the_send_buffer),
        cmocka_unit_test(net_speeds_are_clamped),
        cmocka_unit_test(jitter_is_a_smoothed_average),
        cmocka_unit_test(the_jitter_clock_is_not_sent_after_a_second),
        cmocka_unit_test(a_reused_lag_slot_gives_no_sample),
        cmocka_unit_test(the_frame_time_is_subtracted_from_the_ping),
        cmocka_unit_test(traffic_rates_are_computed_once_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
