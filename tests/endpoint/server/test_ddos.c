/* SPDX-License-Identifier: MIT */
/* DDoS detection (endpoint.md 35). Every number follows from the rules by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/endpoint/server/ddos.h"

#define MS UINT64_C(1000000)
#define BEGIN (UINT64_C(123456789) * MS) /* the times in the tests are relative to this */
#define NO_QUOTA                                                                                                       \
    .quota_packets = -1, .quota_left = -1, .quota_bad = -1, .quota_time_ms = -1, .limit_packets = -1,                  \
    .limit_time_ms = -1, .limit_connected_ms = -1

static const struct ue_ddos_severity no_limits = {NO_QUOTA};

static struct ue_ddos ddos;

static void init_ddos(struct ue_ddos_config config, uint32_t count, const struct ue_ddos_severity *severities) {
    config.severity_count = count;
    memcpy(config.severities, severities, count * sizeof *severities);
    assert_int_equal(ue_ddos_init(&ddos, &config), UE_OK);
}

/* Runs one frame with this number of packets from unknown addresses; returns how many were allowed. */
static uint32_t run_frame(uint64_t at_ms, uint32_t packets) {
    uint32_t passed = 0;
    ue_ddos_begin_frame(&ddos, BEGIN + at_ms * MS);
    for (uint32_t i = 0; i < packets; i++) {
        passed += ue_ddos_allow_unknown(&ddos, BEGIN + at_ms * MS, false);
    }
    ue_ddos_end_frame(&ddos, BEGIN + at_ms * MS);
    return passed;
}

static void without_severities_every_packet_is_allowed(void **state) {
    init_ddos((struct ue_ddos_config){0}, 0, &no_limits);
    assert_int_equal(run_frame(0, 100000), 100000);
    assert_true(ue_ddos_allow_connected(&ddos, BEGIN));
    assert_true(ue_ddos_may_log(&ddos));
    assert_int_equal(ddos.state, 0);
}

static void configurations_beyond_the_limits_are_refused(void **state) {
    struct ue_ddos_config config = {.severity_count = UE_DDOS_STATES_MAX + 1};
    assert_int_equal(ue_ddos_init(&ddos, &config), UE_E_RANGE);
    config = (struct ue_ddos_config){.severity_count = 1, .severities = {{.cool_off_s = UE_DDOS_COOL_OFF_MAX_S + 1}}};
    assert_int_equal(ue_ddos_init(&ddos, &config), UE_E_RANGE);
    config.severities[0].cool_off_s = UE_DDOS_COOL_OFF_MAX_S;
    assert_int_equal(ue_ddos_init(&ddos, &config), UE_OK);
}

/* The third packet of a second reaches the quota of 3; the state that starts then allows 2 packets per frame. */
static void a_reached_quota_escalates_and_the_new_limit_applies_at_once(void **state) {
    struct ue_ddos_severity severities[] = {no_limits, no_limits};
    severities[0].quota_packets = 3;
    severities[1].limit_packets = 2;
    severities[1].cool_off_s = 10;
    init_ddos((struct ue_ddos_config){0}, 2, severities);
    assert_int_equal(run_frame(0, 2), 2);
    assert_int_equal(ddos.state, 0);
    assert_int_equal(run_frame(500, 5), 2);
    assert_int_equal(ddos.state, 1);
    assert_int_equal(ddos.escalations, 1);
    assert_int_equal(ddos.second.unknown, 7);
    assert_int_equal(ddos.second.dropped, 3);
    assert_int_equal(run_frame(600, 1), 1);
}

static void the_last_state_does_not_escalate(void **state) {
    struct ue_ddos_severity severities[] = {no_limits, no_limits};
    severities[0].quota_packets = 1;
    severities[1].quota_packets = 1;
    severities[1].cool_off_s = 1;
    init_ddos((struct ue_ddos_config){0}, 2, severities);
    run_frame(0, 100);
    assert_int_equal(ddos.state, 1);
    assert_int_equal(ddos.escalations, 1);
    run_frame(900, 1); /* its own quota has no effect, the quota of the state below still has */
    run_frame(1800, 0);
    assert_int_equal(ddos.state, 1);
    run_frame(1901, 0);
    assert_int_equal(ddos.state, 0);
}

static void a_quota_of_zero_escalates_at_once(void **state) {
    for (int by_time = 0; by_time < 2; by_time++) {
        struct ue_ddos_severity severities[] = {no_limits, no_limits};
        severities[0].quota_packets = by_time ? -1 : 0;
        severities[0].quota_time_ms = by_time ? 0 : -1;
        init_ddos((struct ue_ddos_config){0}, 2, severities);
        run_frame(0, 0);
        assert_int_equal(ddos.state, 1);
    }
}

static void quotas_count_per_second(void **state) {
    struct ue_ddos_severity severities[] = {no_limits, no_limits};
    severities[0].quota_packets = 3;
    init_ddos((struct ue_ddos_config){0}, 2, severities);
    for (uint64_t second = 0; second < 10; second++) {
        assert_int_equal(run_frame(1000 * second, 1), 1);
        assert_int_equal(run_frame(1000 * second + 999, 1), 1);
        assert_int_equal(ddos.state, 0);
    }
    run_frame(10000, 3);
    assert_int_equal(ddos.state, 1);
}

static void a_limit_of_zero_drops_every_unknown_packet(void **state) {
    struct ue_ddos_severity severities[] = {no_limits};
    severities[0].limit_packets = 0;
    init_ddos((struct ue_ddos_config){0}, 1, severities);
    assert_int_equal(run_frame(0, 3), 0);
    assert_true(ue_ddos_allow_connected(&ddos, BEGIN));
}

static void packets_of_disconnected_addresses_have_their_own_quota(void **state) {
    struct ue_ddos_severity severities[] = {no_limits, no_limits};
    severities[0].quota_packets = 2;
    severities[0].quota_left = 3;
    init_ddos((struct ue_ddos_config){0}, 2, severities);
    ue_ddos_begin_frame(&ddos, BEGIN);
    assert_true(ue_ddos_allow_unknown(&ddos, BEGIN, false));
    assert_true(ue_ddos_allow_unknown(&ddos, BEGIN, true));
    assert_true(ue_ddos_allow_unknown(&ddos, BEGIN, true));
    assert_int_equal(ddos.state, 0);
    assert_true(ue_ddos_allow_unknown(&ddos, BEGIN, true));
    assert_int_equal(ddos.state, 1);
}

static void bad_packets_count_at_the_end_of_the_frame(void **state) {
    struct ue_ddos_severity severities[] = {no_limits, no_limits};
    severities[0].quota_bad = 2;
    init_ddos((struct ue_ddos_config){0}, 2, severities);
    ue_ddos_begin_frame(&ddos, BEGIN);
    ue_ddos_count_bad(&ddos);
    ue_ddos_count_error(&ddos);
    ue_ddos_count_bad(&ddos);
    assert_int_equal(ddos.state, 0);
    ue_ddos_end_frame(&ddos, BEGIN);
    assert_int_equal(ddos.state, 1);
    assert_int_equal(ddos.second.errors, 1);
    ue_ddos_allow_connected(&ddos, BEGIN);
    assert_int_equal(ddos.second.connected, 1);
}

/* At 5 ms the frame reaches its quota of 5 ms; at 8 ms the limit of the new state, which applies to unknown addresses
   only; at 20 ms connections must wait, too. */
static void receive_time_counts_against_quota_and_limits(void **state) {
    struct ue_ddos_severity severities[] = {no_limits, no_limits};
    severities[0].quota_time_ms = 5;
    severities[1].limit_time_ms = 8;
    severities[1].limit_connected_ms = 20;
    severities[1].cool_off_s = 2;
    init_ddos((struct ue_ddos_config){0}, 2, severities);
    ue_ddos_begin_frame(&ddos, BEGIN + 100 * MS);
    assert_true(ue_ddos_allow_unknown(&ddos, BEGIN + 105 * MS - 1, false));
    assert_int_equal(ddos.state, 0);
    assert_true(ue_ddos_allow_unknown(&ddos, BEGIN + 105 * MS, false));
    assert_int_equal(ddos.state, 1);
    assert_false(ue_ddos_allow_unknown(&ddos, BEGIN + 108 * MS, false));
    assert_true(ue_ddos_allow_connected(&ddos, BEGIN + 120 * MS - 1));
    assert_false(ue_ddos_allow_connected(&ddos, BEGIN + 120 * MS));
    ue_ddos_end_frame(&ddos, BEGIN + 121 * MS);
    assert_int_equal(run_frame(200, 1), 1); /* a short frame; the long one before it no longer counts */
    assert_true(ddos.condition_ns == BEGIN + 121 * MS);
}

/* The cool-off time of 2 s starts when the condition last held: 3 packets within one second. */
static void the_state_is_left_after_its_cool_off_time(void **state) {
    struct ue_ddos_severity severities[] = {no_limits, no_limits};
    severities[0].quota_packets = 3;
    severities[1].cool_off_s = 2;
    init_ddos((struct ue_ddos_config){0}, 2, severities);
    run_frame(0, 3);
    assert_int_equal(ddos.state, 1);
    run_frame(1500, 3); /* the condition holds again, until 3500 */
    run_frame(2600, 0);
    assert_int_equal(ddos.state, 1);
    run_frame(3500, 0);
    assert_int_equal(ddos.state, 1);
    run_frame(3501, 0);
    assert_int_equal(ddos.state, 0);
}

/* If a frame ends the cool-off while the quota of its own second is reached, the state escalates again: quotas count
   from the start of the second. */
static void a_continuous_flood_keeps_the_state(void **state) {
    struct ue_ddos_severity severities[] = {no_limits, no_limits};
    severities[0].quota_packets = 30;
    severities[1].limit_packets = 1;
    severities[1].cool_off_s = 3;
    init_ddos((struct ue_ddos_config){0}, 2, severities);
    run_frame(0, 40);
    for (uint64_t at = 100; at < 60000; at += 100) {
        run_frame(at, 40);
        assert_int_equal(ddos.state, 1);
    }
    assert_int_equal(ddos.escalations, 1);
}

static void escalate_twice(uint32_t cool_off_1, uint32_t cool_off_2) {
    struct ue_ddos_severity severities[] = {no_limits, no_limits, no_limits};
    severities[0].quota_packets = 10;
    severities[1].quota_packets = 20;
    severities[1].cool_off_s = cool_off_1;
    severities[2].cool_off_s = cool_off_2;
    init_ddos((struct ue_ddos_config){0}, 3, severities);
    run_frame(0, 9);
    assert_int_equal(ddos.state, 0);
    run_frame(100, 10);
    assert_int_equal(ddos.state, 1);
    run_frame(200, 1);
    assert_int_equal(ddos.state, 2);
}

/* State 1 needs 10 packets per second within 5 s: the first second had 20 and ended at 1000, so state 1 lasts to
   6000. */
static void the_history_decides_how_far_the_state_falls(void **state) {
    escalate_twice(5, 2);
    run_frame(2200, 0);
    assert_int_equal(ddos.state, 2);
    run_frame(2500, 0);
    assert_int_equal(ddos.state, 1);
    run_frame(6000, 0);
    assert_int_equal(ddos.state, 1);
    run_frame(6001, 0);
    assert_int_equal(ddos.state, 0);
}

/* State 1 looks 1 s back: the third second was quiet, so both states are left at once. */
static void a_quiet_history_resets_several_states_at_once(void **state) {
    escalate_twice(1, 3);
    run_frame(3200, 0);
    assert_int_equal(ddos.state, 2);
    run_frame(3500, 0);
    assert_int_equal(ddos.state, 0);
}

/* State 1 looks exactly 2 s back, to the first second, which ended at 1000. */
static void the_oldest_second_within_the_cool_off_time_counts(void **state) {
    escalate_twice(2, 1);
    run_frame(2100, 0);
    assert_int_equal(ddos.state, 1);
    run_frame(3000, 0);
    assert_int_equal(ddos.state, 1);
    run_frame(3001, 0);
    assert_int_equal(ddos.state, 0);
}

static void a_long_pause_clears_the_history(void **state) {
    escalate_twice(120, 120);
    run_frame(UINT64_C(4000000), 0); /* more seconds than the history holds */
    assert_int_equal(ddos.state, 0);
    assert_int_equal(ddos.history_count, UE_DDOS_COOL_OFF_MAX_S);
    assert_int_equal(run_frame(UINT64_C(4000500), 9), 9);
    assert_int_equal(ddos.state, 0);
}

/* Expected frame time 100 ms, quota 8: a frame of 200 ms has quota 16, one of 50 ms 4, one of 10 ms not 0.8 but 2. */
static void quotas_scale_with_the_frame_time(void **state) {
    struct ue_ddos_severity severities[] = {no_limits, no_limits};
    severities[0].quota_packets = 8;
    static const struct {
        uint64_t after_ms;
        uint32_t quota;
    } cases[] = {{100, 8}, {200, 16}, {50, 4}, {10, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        init_ddos((struct ue_ddos_config){.frame_ns = 100 * MS}, 2, severities);
        run_frame(0, 0);
        run_frame(cases[i].after_ms, cases[i].quota - 1);
        assert_int_equal(ddos.state, 0);
        init_ddos((struct ue_ddos_config){.frame_ns = 100 * MS}, 2, severities);
        run_frame(0, 0);
        run_frame(cases[i].after_ms, cases[i].quota);
        assert_int_equal(ddos.state, 1);
    }
}

/* Frames of 600 ms are hitches, longer than 500 ms: the first still scales the quota of 8 to 48; from the second in a
   row on it is 8. */
static void consecutive_hitches_do_not_scale_quotas(void **state) {
    struct ue_ddos_severity severities[] = {no_limits, no_limits};
    severities[0].quota_packets = 8;
    init_ddos((struct ue_ddos_config){.frame_ns = 100 * MS, .hitch_ns = 500 * MS, .hitch_tolerance = 2}, 2, severities);
    run_frame(0, 0);
    run_frame(600, 7);
    assert_true(ddos.scale > 5.99 && ddos.scale < 6.01);
    run_frame(700, 0); /* no hitch: the count restarts */
    run_frame(1300, 8);
    assert_int_equal(ddos.state, 0);
    run_frame(1900, 0);
    assert_int_equal(ddos.hitches, 2);
    assert_true(ddos.scale == 1);
    assert_int_equal(ddos.state, 1); /* the second from 1000 to 2000 has 8 packets */
    run_frame(2000, 0);
    assert_int_equal(ddos.hitches, 0);
    assert_true(ddos.scale > 0.99 && ddos.scale < 1.01);
}

static void log_lines_are_limited_in_an_escalated_state(void **state) {
    struct ue_ddos_severity severities[] = {no_limits, no_limits};
    severities[0].quota_packets = 1;
    init_ddos((struct ue_ddos_config){.log_lines_per_frame = 2}, 2, severities);
    ue_ddos_begin_frame(&ddos, BEGIN);
    for (int i = 0; i < 10; i++) {
        assert_true(ue_ddos_may_log(&ddos));
    }
    ue_ddos_allow_unknown(&ddos, BEGIN, false);
    assert_true(ue_ddos_may_log(&ddos));
    assert_true(ue_ddos_may_log(&ddos));
    assert_false(ue_ddos_may_log(&ddos));
    run_frame(1, 0);
    assert_true(ue_ddos_may_log(&ddos));
    init_ddos((struct ue_ddos_config){0}, 2, severities);
    run_frame(0, 1);
    for (int i = 0; i < 65; i++) {
        assert_int_equal(ue_ddos_may_log(&ddos), i < 64);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_severities_every_packet_is_allowed),
        cmocka_unit_test(configurations_beyond_the_limits_are_refused),
        cmocka_unit_test(a_reached_quota_escalates_and_the_new_limit_applies_at_once),
        cmocka_unit_test(the_last_state_does_not_escalate),
        cmocka_unit_test(a_quota_of_zero_escalates_at_once),
        cmocka_unit_test(quotas_count_per_second),
        cmocka_unit_test(a_limit_of_zero_drops_every_unknown_packet),
        cmocka_unit_test(packets_of_disconnected_addresses_have_their_own_quota),
        cmocka_unit_test(bad_packets_count_at_the_end_of_the_frame),
        cmocka_unit_test(receive_time_counts_against_quota_and_limits),
        cmocka_unit_test(the_state_is_left_after_its_cool_off_time),
        cmocka_unit_test(a_continuous_flood_keeps_the_state),
        cmocka_unit_test(the_history_decides_how_far_the_state_falls),
        cmocka_unit_test(a_quiet_history_resets_several_states_at_once),
        cmocka_unit_test(the_oldest_second_within_the_cool_off_time_counts),
        cmocka_unit_test(a_long_pause_clears_the_history),
        cmocka_unit_test(quotas_scale_with_the_frame_time),
        cmocka_unit_test(consecutive_hitches_do_not_scale_quotas),
        cmocka_unit_test(log_lines_are_limited_in_an_escalated_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
