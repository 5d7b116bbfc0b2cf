/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/findings/findings_fixture.h"

#define MS INT64_C(1000000)

static const struct ue_decode_result good = {.item_count = 1};

static void test_implausible_times(void **state) {
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_packet(100, CLIENT, 1);
    findings_fixture_datagram(CLIENT, &good, false);
    findings_fixture_packet(-5, SERVER, 2);
    findings_fixture_packet(9000, CLIENT, 2);
    findings_fixture_packet(20000, CLIENT, 3); /* the clock stands still: no silence and no timeout of the server */
    findings_fixture_finish(20000, false);
    assert_int_equal(1, findings_fixture_expect(UE_FINDING_TIMES)->values[UE_VALUE_COUNT].at_least);
}

/* The client closes after the server fell silent, or before. */
static void close_after(int64_t silent_ms) {
    findings_fixture_datagram(SERVER, &good, false);
    uint64_t frame = findings_fixture_packet(1000, SERVER, 1);
    for (int64_t ms = 0; ms <= silent_ms; ms += 200) {
        findings_fixture_packet(1000 + ms, CLIENT, ms / 200 + 1);
    }
    findings_fixture_finish(1000 + silent_ms, true);
    if (silent_ms >= 5000) {
        const struct ue_finding *timeout = findings_fixture_expect(UE_FINDING_TIMEOUT);
        assert_int_equal(SERVER, timeout->side);
        assert_int_equal(frame, timeout->frames[0]);
        assert_int_equal(silent_ms * MS, timeout->values[UE_VALUE_SPAN].at_least);
        assert_int_equal(1, timeout->values[UE_VALUE_OTHERS].at_least); /* then closed */
    }
}

static void test_timeout(void **state) {
    close_after(5000);
}

/* After the last captured packet of a side, in frame 1, the other one sends every 200 ms, and acknowledges later
   packets of it up to acked_ms. */
static void acknowledge_until(unsigned side, int64_t acked_ms, int64_t end_ms) {
    findings_fixture_packet(0, side, 1);
    for (int64_t ms = 200; ms <= end_ms; ms += 200) {
        findings_fixture_packet(ms, !side, ms / 200);
        if (ms <= acked_ms) {
            findings_fixture_ack(1 + ms / 200, 0, -1);
        }
    }
}

/* The part of the capture that was analysed ends in a silence: the side may send again. */
static void test_silent_part(void **state) {
    findings_fixture_go_on();
    acknowledge_until(SERVER, 0, 6000);
    findings_fixture_finish(6000, false);
    assert_int_equal(SERVER, findings_fixture_expect(UE_FINDING_LAST_SILENCE)->side);
    assert_int_equal(-1, ue_findings_gone_side(findings_fixture_findings()));
    assert_false(ue_findings_has_timed_out(findings_fixture_findings()));
}

/* After a close nothing can change that the side was silent. */
static void test_timeout_in_part(void **state) {
    findings_fixture_go_on();
    close_after(5000);
    assert_int_equal(SERVER, ue_findings_gone_side(findings_fixture_findings()));
}

static void test_close_before_timeout(void **state) {
    close_after(4800);
    findings_fixture_expect(UE_FINDING_SILENCE_BEFORE_CLOSE);
}

/* The client sends for 6 s after the server's last packets: one that was not read, and perhaps one that was. */
static void end_unread(bool is_read_after) {
    static const struct ue_decode_result opaque = {.is_opaque = true, .closed_by = UE_HANDLER_AESGCM};
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_packet(10, CLIENT, 1);
    findings_fixture_datagram(SERVER, &opaque, false);
    if (is_read_after) {
        findings_fixture_packet(30, SERVER, 3);
    }
    for (int64_t ms = 200; ms <= 6200; ms += 200) {
        findings_fixture_packet(ms, CLIENT, 1 + ms / 200);
    }
    findings_fixture_finish(6200, false);
}

/* It may be the close of the server. */
static void test_unread_end(void **state) {
    end_unread(false);
    findings_fixture_find(UE_FINDING_UNREAD_SILENCE);
    assert_int_equal(0, findings_fixture_count(UE_FINDING_LAST_SILENCE));
    assert_int_equal(0, findings_fixture_count(UE_FINDING_TIMEOUT));
    assert_int_equal(-1, ue_findings_gone_side(findings_fixture_findings()));
}

static void test_unread_before_end(void **state) {
    end_unread(true);
    findings_fixture_find(UE_FINDING_TIMEOUT);
    assert_int_equal(0, findings_fixture_count(UE_FINDING_LAST_SILENCE));
    assert_int_equal(SERVER, ue_findings_gone_side(findings_fixture_findings()));
}

/* A side that sends nothing more after a close did not fall silent, however long the other side repeats the close. */
static void test_packets_after_close(void **state) {
    findings_fixture_packet(1000, SERVER, 1);
    findings_fixture_packet(1100, CLIENT, 1);
    findings_fixture_close();
    for (int64_t ms = 1300; ms <= 9000; ms += 200) {
        findings_fixture_packet(ms, CLIENT, ms);
    }
    findings_fixture_finish(9000, false);
    findings_fixture_expect_none();
}

/* ---- packets that were acknowledged and not captured ---- */

/* The side sent until the end: the capture lacks its packets. */
static void test_live_side(void **state) {
    for (unsigned side = 0; side < 2; side++) {
        for (int is_closed = 0; is_closed < 2; is_closed++) {
            findings_fixture_tear_down(state);
            findings_fixture_set_up(state);
            acknowledge_until(side, 6000, 6000);
            findings_fixture_finish(6000, is_closed != 0);
            assert_int_equal(-1, ue_findings_gone_side(findings_fixture_findings()));
            const struct ue_finding *end = findings_fixture_find(UE_FINDING_INCOMPLETE_END);
            assert_int_equal(side, end->side);
            assert_int_equal(1, end->frames[0]);
            assert_int_equal(31, end->frames[1]);
            assert_int_equal(6000 * MS, end->values[UE_VALUE_SPAN].at_least);
            assert_int_equal(30, end->values[UE_VALUE_COUNT].at_least);
            assert_int_equal(30, end->values[UE_VALUE_OTHERS].at_least);
            assert_int_equal(is_closed, end->values[UE_VALUE_OF].at_least);
            assert_int_equal(0, findings_fixture_count(UE_FINDING_TIMEOUT));
            assert_int_equal(0, findings_fixture_count(UE_FINDING_ACKED_TIMEOUT));
            assert_int_equal(0, findings_fixture_count(UE_FINDING_LAST_SILENCE));
            assert_int_equal(0, findings_fixture_count(UE_FINDING_SILENCE_BEFORE_CLOSE));
        }
    }
}

/* A few packets were not captured, then the side stopped. */
static void test_timeout_after_the_last_ack(void **state) {
    acknowledge_until(SERVER, 400, 5400);
    findings_fixture_finish(5400, true);
    const struct ue_finding *timeout = findings_fixture_find(UE_FINDING_ACKED_TIMEOUT);
    assert_int_equal(SERVER, timeout->side);
    assert_int_equal(1, timeout->frames[0]);
    assert_int_equal(3, timeout->frames[1]);
    assert_int_equal(5000 * MS, timeout->values[UE_VALUE_SPAN].at_least);
    assert_int_equal(5000 * MS, timeout->values[UE_VALUE_SPAN].at_most);
    assert_int_equal(25, timeout->values[UE_VALUE_COUNT].at_least);
    assert_int_equal(2, timeout->values[UE_VALUE_OF].at_least);
    assert_int_equal(1, timeout->values[UE_VALUE_OTHERS].at_least); /* then closed */
    assert_int_equal(SERVER, ue_findings_gone_side(findings_fixture_findings()));
}

/* Less than the threshold of a timeout after the last ack. */
static void test_silence_after_the_last_ack(void **state) {
    acknowledge_until(CLIENT, 600, 5400);
    findings_fixture_finish(5400, false);
    const struct ue_finding *silence = findings_fixture_find(UE_FINDING_ACKED_LAST_SILENCE);
    assert_int_equal(CLIENT, silence->side);
    assert_int_equal(4800 * MS, silence->values[UE_VALUE_SPAN].at_least);
    assert_int_equal(4800 * MS, silence->values[UE_VALUE_SPAN].at_most);
    assert_int_equal(3, silence->values[UE_VALUE_COUNT].at_least);
    assert_int_equal(24, silence->values[UE_VALUE_OTHERS].at_least);
    assert_int_equal(-1, ue_findings_gone_side(findings_fixture_findings()));
}

/* Acks of packets before the last captured one show nothing of the time after it. */
static void test_acks_of_earlier_packets(void **state) {
    findings_fixture_packet(0, SERVER, 9);
    for (int64_t ms = 200; ms <= 5200; ms += 200) {
        findings_fixture_packet(ms, CLIENT, ms / 200);
        if (ms <= 1000) {
            findings_fixture_ack(ms / 200, 0, -1);
        }
    }
    findings_fixture_finish(5200, false);
    assert_int_equal(1, findings_fixture_count(UE_FINDING_TIMEOUT));
    assert_int_equal(0, findings_fixture_count(UE_FINDING_INCOMPLETE_END));
}

/* Without a gap of half a second at the end there is nothing to say. */
static void test_short_end(void **state) {
    acknowledge_until(SERVER, 400, 400);
    findings_fixture_finish(400, false);
    assert_int_equal(0, findings_fixture_count(UE_FINDING_INCOMPLETE_END));
}

/* Nothing of the other side was captured. */
static void test_one_direction(void **state) {
    for (int64_t ms = 200; ms <= 6000; ms += 200) {
        findings_fixture_packet(ms, CLIENT, ms / 200);
        findings_fixture_ack(ms / 200, 0, -1);
    }
    findings_fixture_finish(6000, false);
    assert_int_equal(0, findings_fixture_count(UE_FINDING_INCOMPLETE_END));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_implausible_times, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_timeout, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_silent_part, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_timeout_in_part, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unread_end, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unread_before_end, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_packets_after_close, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_close_before_timeout, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_live_side, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_timeout_after_the_last_ack, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_silence_after_the_last_ack, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_acks_of_earlier_packets, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_short_end, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_one_direction, findings_fixture_set_up, findings_fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
