/* SPDX-License-Identifier: MIT */
/* The clock of the capture is set while a connection continues, or time passes in which nothing is captured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/findings/findings_fixture.h"

#define MS INT64_C(1000000)

static void step_to(int64_t ms) {
    findings_fixture_packet(2000, SERVER, 1);
    findings_fixture_packet(2010, CLIENT, 1);
    findings_fixture_packet(ms, SERVER, 2);
    findings_fixture_finish(2020, true);
}

static void test_set_back(void **state) {
    step_to(1010);
    const struct ue_finding *set_back = findings_fixture_expect(UE_FINDING_SET_BACK);
    assert_int_equal(1000 * MS, set_back->values[UE_VALUE_SPAN].at_least);
    assert_int_equal(3, set_back->frames[0]);
    assert_false(set_back->has_time);
}

/* The client sends every 100 ms, at 800 ms by a clock that was set back by 10 s; the server sends again after it. */
static void be_silent(int64_t step_ms) {
    findings_fixture_packet(20000, SERVER, 1);
    for (int64_t ms = 0; ms < 800; ms += 100) {
        findings_fixture_packet(20010 + ms, CLIENT, 1 + ms / 100);
    }
    findings_fixture_packet(20800 - step_ms, CLIENT, 9);
    findings_fixture_packet(20900 - step_ms, SERVER, 2);
    findings_fixture_finish(20910 - step_ms, true);
}

static void test_set_back_in_a_silence(void **state) {
    be_silent(10000);
    findings_fixture_expect(UE_FINDING_SET_BACK);
}

static void test_silence(void **state) {
    be_silent(0);
    findings_fixture_expect(UE_FINDING_UNCLOCKED_SILENCE);
}

/* A bunch is lost twice, while the clock is set back by step_ms. */
static const struct ue_finding *lose_twice(int64_t step_ms) {
    uint64_t frame = findings_fixture_packet(20000, CLIENT, 1);
    findings_fixture_bunch(3, 70);
    for (int64_t id = 1; id <= 2; id++) {
        findings_fixture_packet(20000 + id * 30 - 10 - step_ms, SERVER, id);
        findings_fixture_nak(id, frame);
        frame = findings_fixture_packet(20000 + id * 30 - step_ms, CLIENT, id + 1);
        findings_fixture_copy(3, 70);
    }
    findings_fixture_packet(20070 - step_ms, SERVER, 3);
    findings_fixture_ack(3, frame, 10);
    findings_fixture_finish(20080 - step_ms, true);
    return findings_fixture_find(UE_FINDING_REPEATED);
}

/* A span that is not known has no number. */
static void expect_unknown_delay(int64_t step_ms) {
    char text[UE_FINDING_TEXT_BYTES];
    const struct ue_finding *delay = lose_twice(step_ms);
    assert_false(ue_finding_is_span_known(delay));
    ue_finding_text(delay, text, sizeof text);
    assert_string_equal("reliable delay on channel 3, ChSequence 70 (client to server): not delivered twice (frames 1 "
                        "and 3), arrived with frame 5",
                        text);
}

static void test_set_back_in_a_delay(void **state) {
    expect_unknown_delay(10000);
}

/* By less than is a finding itself. */
static void test_small_step_in_a_delay(void **state) {
    expect_unknown_delay(400);
}

static void test_delay(void **state) {
    char text[UE_FINDING_TEXT_BYTES];
    const struct ue_finding *delay = lose_twice(0);
    assert_true(ue_finding_is_span_known(delay));
    assert_int_equal(60 * MS, delay->values[UE_VALUE_SPAN].at_least);
    ue_finding_text(delay, text, sizeof text);
    assert_string_equal("reliable delay of 60 ms on channel 3, ChSequence 70 (client to server): not delivered twice "
                        "(frames 1 and 3), arrived with frame 5",
                        text);
}

/* Several queues of a network card. */
static void test_out_of_order(void **state) {
    step_to(1011);
    findings_fixture_expect_none();
}

/* The client loses a bunch and sends it again after 30 s. Meanwhile the server sends two packets; `lost` of the
   client's are missing after that. */
static void pause_between(int64_t lost) {
    findings_fixture_packet(0, SERVER, 1);
    uint64_t first = findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_bunch(3, 70);
    findings_fixture_packet(10, SERVER, 2);
    findings_fixture_nak(1, first);
    findings_fixture_packet(20, SERVER, 3);
    findings_fixture_packet(30020, SERVER, 4);
    if (lost != 0) {
        findings_fixture_lost(CLIENT, 2, 1 + lost);
    }
    uint64_t again = findings_fixture_packet(30040, CLIENT, 2 + lost);
    findings_fixture_bunch(3, 70);
    findings_fixture_packet(30050, SERVER, 5);
    for (int64_t id = 2; id < 2 + lost; id++) {
        findings_fixture_nak(id, 0);
    }
    findings_fixture_ack(2 + lost, again, 10);
    findings_fixture_finish(30060, true);
}

/* No packet is missing: the clock may have been set by 30 s. */
static void test_set_forward(void **state) {
    pause_between(0);
    findings_fixture_expect(UE_FINDING_PAUSE);
}

/* A side sends five packets a second at least. */
static void test_capture_stopped(void **state) {
    pause_between(150);
    assert_int_equal(1, findings_fixture_count(UE_FINDING_LOST_SILENCE));
    assert_int_equal(1, findings_fixture_count(UE_FINDING_STALL));
}

/* The clock is set right after the handshake, when only the client has sent a packet. */
static void test_set_forward_after_the_handshake(void **state) {
    findings_fixture_handshake(0, CLIENT, UE_HANDSHAKE_RESPONSE);
    findings_fixture_handshake(100, SERVER, UE_HANDSHAKE_ACK);
    findings_fixture_packet(110, CLIENT, 1);
    findings_fixture_packet(3600210, SERVER, 1);
    findings_fixture_packet(3600210, SERVER, 2);
    findings_fixture_packet(3600220, CLIENT, 2);
    findings_fixture_finish(3600230, true);
    assert_int_equal(0, findings_fixture_count(UE_FINDING_UNCLOCKED_SILENCE));
}

/* The server is gone; the clock is set while the client goes on. */
static void test_set_forward_in_a_silence(void **state) {
    findings_fixture_packet(0, SERVER, 1);
    for (int64_t ms = 10; ms <= 2010; ms += 200) {
        findings_fixture_packet(ms < 1500 ? ms : ms + 3600000, CLIENT, 1 + ms / 200);
    }
    findings_fixture_finish(3602020, false);
    assert_int_equal(1, findings_fixture_count(UE_FINDING_LAST_SILENCE));
    assert_int_equal(0, findings_fixture_count(UE_FINDING_TIMEOUT));
}

/* The server is gone, and the client sends every 600 ms: these pauses are its own, but for one. */
static void test_slow_sender_in_a_silence(void **state) {
    findings_fixture_packet(0, SERVER, 1);
    for (int64_t id = 0; id < 20; id++) {
        findings_fixture_packet(10 + id * 600, CLIENT, id);
    }
    findings_fixture_finish(11420, false);
    assert_int_equal(1, findings_fixture_count(UE_FINDING_TIMEOUT));
}

/* The client sends every 2 ms, and the clock is set by 1 s, or a second passes, while `lost` of its packets are
   missing. */
static void lose_at_the_pause(int64_t lost) {
    int64_t id = 0;
    findings_fixture_packet(0, SERVER, 1);
    for (int64_t ms = 0; ms < 100; ms += 2) {
        findings_fixture_packet(ms, CLIENT, ++id);
    }
    findings_fixture_packet(100, SERVER, 2);
    findings_fixture_packet(1100, SERVER, 3);
    findings_fixture_packet(1101, SERVER, 4);
    findings_fixture_lost(CLIENT, id + 1, id + lost);
    findings_fixture_packet(1102, CLIENT, id + lost + 1);
    findings_fixture_packet(1104, CLIENT, id + lost + 2);
    findings_fixture_finish(1130, true);
}

static void test_few_lost_when_set_forward(void **state) {
    lose_at_the_pause(5);
    assert_int_equal(0, findings_fixture_count(UE_FINDING_LOST_SILENCE));
}

static void test_many_lost_in_a_pause(void **state) {
    lose_at_the_pause(400);
    assert_int_equal(1, findings_fixture_count(UE_FINDING_LOST_SILENCE));
}

/* Of 1320 ms, 320 ms are certain. */
static void test_stall_with_a_pause(void **state) {
    uint64_t first = findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_bunch(3, 70);
    for (int64_t ms = 10; ms <= 210; ms += 100) {
        findings_fixture_packet(ms, SERVER, ms / 100 + 1);
        findings_fixture_packet(ms, CLIENT, ms / 100 + 2);
    }
    findings_fixture_packet(220, SERVER, 4);
    findings_fixture_nak(1, first);
    findings_fixture_packet(1220, SERVER, 5);
    uint64_t again = findings_fixture_packet(1320, CLIENT, 5);
    findings_fixture_bunch(3, 70);
    findings_fixture_packet(1330, SERVER, 6);
    findings_fixture_ack(5, again, 10);
    findings_fixture_expect(UE_FINDING_PAUSE);
    findings_fixture_finish(1340, true);
    const struct ue_finding *stall = findings_fixture_expect(UE_FINDING_STALL);
    assert_int_equal(320 * MS, stall->values[UE_VALUE_SPAN].at_least);
    assert_int_equal(1320 * MS, stall->values[UE_VALUE_SPAN].at_most);
}

#define IN(test) cmocka_unit_test_setup_teardown(test, findings_fixture_set_up, findings_fixture_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN(test_set_back_in_a_silence),
        IN(test_set_back_in_a_delay),
        IN(test_small_step_in_a_delay),
        IN(test_delay),
        IN(test_silence),
        IN(test_set_back),
        IN(test_out_of_order),
        IN(test_set_forward),
        IN(test_capture_stopped),
        IN(test_stall_with_a_pause),
        IN(test_set_forward_after_the_handshake),
        IN(test_set_forward_in_a_silence),
        IN(test_few_lost_when_set_forward),
        IN(test_many_lost_in_a_pause),
        IN(test_slow_sender_in_a_silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
