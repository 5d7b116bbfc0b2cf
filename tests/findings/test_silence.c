/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/findings/findings_fixture.h"

#define MS INT64_C(1000000)

/* The client sends every 200 ms until end_ms; the server at 0 and at server_ms. */
static void server_is_silent(int64_t server_ms, int64_t end_ms, int64_t lost) {
    int64_t id = 1;
    findings_fixture_packet(0, SERVER, 1);
    for (int64_t ms = 10; ms < end_ms; ms += 200) {
        if (server_ms > 0 && ms > server_ms) {
            break;
        }
        findings_fixture_packet(ms, CLIENT, id++);
    }
    if (server_ms > 0) {
        if (lost != 0) {
            findings_fixture_lost(SERVER, 2, 1 + lost);
        }
        findings_fixture_packet(server_ms, SERVER, 2 + lost);
    }
}

static void test_silence(void **state) {
    server_is_silent(500, 1000, 0);
    const struct ue_finding *silence = findings_fixture_expect(UE_FINDING_UNCLOCKED_SILENCE);
    assert_int_equal(SERVER, silence->side);
    assert_int_equal(500 * MS, silence->values[UE_VALUE_SPAN].at_least);
    assert_int_equal(3, silence->values[UE_VALUE_OTHERS].at_least);
}

static void test_short_silence(void **state) {
    server_is_silent(499, 1000, 0);
    findings_fixture_finish(499, true);
    findings_fixture_expect_none();
}

static void test_pause(void **state) {
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_packet(10, CLIENT, 1);
    findings_fixture_packet(510, CLIENT, 2);
    assert_int_equal(500 * MS, findings_fixture_expect(UE_FINDING_PAUSE)->values[UE_VALUE_SPAN].at_least);
}

static void test_pause_after_disorder(void **state) {
    findings_fixture_packet(100, SERVER, 1);
    findings_fixture_packet(110, CLIENT, 2);
    findings_fixture_late_packet(60, CLIENT, 1);
    findings_fixture_packet(610, CLIENT, 3);
    const struct ue_finding *pause = findings_fixture_expect(UE_FINDING_PAUSE);
    assert_int_equal(500 * MS, pause->values[UE_VALUE_SPAN].at_least);
    assert_int_equal(550 * MS, pause->values[UE_VALUE_SPAN].at_most);
}

/* The latest packet before the pause is the server's in frame 3, although the client's has a later time. */
static void test_pause_after_disorder_of_sides(void **state) {
    findings_fixture_packet(40, SERVER, 1);
    findings_fixture_packet(110, CLIENT, 1);
    findings_fixture_packet(60, SERVER, 2);
    findings_fixture_packet(610, CLIENT, 2);
    const struct ue_finding *pause = findings_fixture_expect(UE_FINDING_PAUSE);
    assert_int_equal(3, pause->frames[0]);
    assert_int_equal(500 * MS, pause->values[UE_VALUE_SPAN].at_least);
    assert_int_equal(550 * MS, pause->values[UE_VALUE_SPAN].at_most);
}

static void test_short_pause(void **state) {
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_packet(10, CLIENT, 1);
    findings_fixture_packet(509, CLIENT, 2);
    findings_fixture_expect_none();
}

/* Another capture point sees the server's packet at 50 ms: the silence begins after that. */
static void other_point(int64_t server_ms) {
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_other_view(50);
    for (int64_t ms = 100; ms <= 500; ms += 100) {
        findings_fixture_packet(ms, CLIENT, ms / 100);
    }
    findings_fixture_packet(server_ms, SERVER, 2);
}

static void test_other_point(void **state) {
    other_point(550);
    const struct ue_finding *silence = findings_fixture_expect(UE_FINDING_UNCLOCKED_SILENCE);
    assert_int_equal(500 * MS, silence->values[UE_VALUE_SPAN].at_least);
    assert_int_equal(2, silence->frames[0]);
}

static void test_other_point_in_time(void **state) {
    other_point(549);
    findings_fixture_expect_none();
}

/* A client may send its Response again: it did not stop. */
static void test_handshake_in_a_pause(void **state) {
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_packet(10, CLIENT, 1);
    findings_fixture_handshake(400, CLIENT, UE_HANDSHAKE_RESPONSE);
    findings_fixture_packet(510, CLIENT, 2);
    findings_fixture_expect_none();
}

/* Nothing is known of a side whose packets are not in the capture. */
static void test_pause_of_one_direction(void **state) {
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_packet(600, SERVER, 2);
    findings_fixture_expect_none();
}

/* During a restart a client sends messages of the handshake and no packets. */
static void test_handshake_in_a_silence(void **state) {
    findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_packet(200, SERVER, 1);
    findings_fixture_handshake(300, CLIENT, UE_HANDSHAKE_INITIAL);
    findings_fixture_packet(400, SERVER, 2);
    findings_fixture_packet(510, CLIENT, 2);
    findings_fixture_expect_none();
}

/* Also if packets of it are missing: it was not silent. */
static void test_handshake_in_a_lost_silence(void **state) {
    findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_packet(200, SERVER, 1);
    findings_fixture_handshake(300, CLIENT, UE_HANDSHAKE_INITIAL);
    findings_fixture_packet(400, SERVER, 2);
    findings_fixture_lost(CLIENT, 2, 3);
    findings_fixture_packet(510, CLIENT, 4);
    findings_fixture_expect_none();
}

/* Packets from before the silence whose events come late do not count. */
static void test_earlier_packet_in_a_silence(void **state) {
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_packet(5, SERVER, 2);
    findings_fixture_earlier_packet(1, 5, CLIENT, 1);
    findings_fixture_packet(200, CLIENT, 2);
    findings_fixture_packet(400, CLIENT, 3);
    findings_fixture_packet(510, SERVER, 3);
    assert_int_equal(2, findings_fixture_expect(UE_FINDING_UNCLOCKED_SILENCE)->values[UE_VALUE_OTHERS].at_least);
}

/* A handshake message of the other side is no sign of this one. */
static void test_handshake_beside_a_silence(void **state) {
    findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_packet(200, SERVER, 1);
    findings_fixture_handshake(300, SERVER, UE_HANDSHAKE_RESTART_REQUEST);
    findings_fixture_packet(400, SERVER, 2);
    findings_fixture_packet(510, CLIENT, 2);
    findings_fixture_expect(UE_FINDING_UNCLOCKED_SILENCE);
}

static void test_handshake_beside_a_lost_silence(void **state) {
    findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_packet(200, SERVER, 1);
    findings_fixture_handshake(300, SERVER, UE_HANDSHAKE_RESTART_REQUEST);
    findings_fixture_packet(400, SERVER, 2);
    findings_fixture_lost(CLIENT, 2, 3);
    findings_fixture_packet(510, CLIENT, 4);
    findings_fixture_finish(520, true);
    assert_int_equal(2, findings_fixture_find(UE_FINDING_LOST_SILENCE)->values[UE_VALUE_OTHERS].at_least);
}

/* A side that fell silent before the end, or before the other side closed, is a finding; a timeout is another one. */
static void test_end(void **state) {
    server_is_silent(0, 1000, 0);
    findings_fixture_finish(1000, false);
    assert_int_equal(810 * MS, findings_fixture_expect(UE_FINDING_LAST_SILENCE)->values[UE_VALUE_SPAN].at_least);
}

static void test_end_before_close(void **state) {
    server_is_silent(0, 1000, 0);
    findings_fixture_finish(1000, true);
    assert_int_equal(SERVER, findings_fixture_expect(UE_FINDING_SILENCE_BEFORE_CLOSE)->side);
}

/* A side that sends messages of the handshake meanwhile is not silent. */
static void test_handshake_before_the_end(void **state) {
    server_is_silent(0, 800, 0);
    findings_fixture_handshake(810, SERVER, UE_HANDSHAKE_RESTART_REQUEST);
    findings_fixture_packet(1000, CLIENT, 6);
    findings_fixture_finish(1000, false);
    assert_int_equal(0, findings_fixture_count(UE_FINDING_LAST_SILENCE));
}

/* Those after the close are no sign of it. */
static void test_handshake_after_the_close(void **state) {
    server_is_silent(0, 1000, 0);
    findings_fixture_close();
    findings_fixture_handshake(1000, SERVER, UE_HANDSHAKE_RESTART_REQUEST);
    findings_fixture_finish(1000, false);
    assert_int_equal(1, findings_fixture_count(UE_FINDING_SILENCE_BEFORE_CLOSE));
}

static void test_end_of_timeout(void **state) {
    server_is_silent(0, 5400, 0);
    findings_fixture_finish(5400, false);
    assert_int_equal(SERVER, findings_fixture_expect(UE_FINDING_TIMEOUT)->side);
}

/* So many missing packets that the sequence after the silence may be damaged. */
static void after_a_jump(bool is_damaged) {
    server_is_silent(600, 600, 100);
    findings_fixture_expect_none();
    if (is_damaged) {
        findings_fixture_not_lost(SERVER, 2, 101);
    }
    findings_fixture_packet(610, SERVER, is_damaged ? 2 : 103);
}

/* Packets 2 to 4 of the server are missing before the packet that ends its silence. */
static void lose_three(void) {
    server_is_silent(600, 600, 3);
    findings_fixture_expect_none();
}

static void test_missing_packets_that_come_late(void **state) {
    lose_three();
    for (int64_t id = 2; id <= 4; id++) {
        findings_fixture_late_packet(620, SERVER, id);
    }
    findings_fixture_finish(630, true);
    assert_int_equal(3, findings_fixture_expect(UE_FINDING_LATE_SILENCE)->values[UE_VALUE_COUNT].at_least);
}

static void test_missing_packets_of_which_one_comes_late(void **state) {
    lose_three();
    findings_fixture_late_packet(620, SERVER, 3);
    findings_fixture_finish(630, true);
    assert_int_equal(2, findings_fixture_expect(UE_FINDING_LOST_SILENCE)->values[UE_VALUE_COUNT].at_least);
}

static void test_late_packet_from_before_a_silence(void **state) {
    lose_three();
    findings_fixture_late_packet(620, SERVER, 1);
    findings_fixture_finish(630, true);
    assert_int_equal(3, findings_fixture_expect(UE_FINDING_LOST_SILENCE)->values[UE_VALUE_COUNT].at_least);
}

/* They do not come any more when much later ones do. */
static void test_missing_packets_that_never_come(void **state) {
    lose_three();
    findings_fixture_packet(610, SERVER, 68);
    findings_fixture_expect_none();
    findings_fixture_packet(611, SERVER, 69);
    assert_int_equal(3, findings_fixture_expect(UE_FINDING_LOST_SILENCE)->values[UE_VALUE_COUNT].at_least);
}

/* The finding cannot be held: it has what is known so far. */
static void test_missing_packets_without_memory(void **state) {
    findings_fixture_exhaust_memory();
    server_is_silent(600, 600, 3);
    assert_int_equal(3, findings_fixture_expect(UE_FINDING_LOST_SILENCE)->values[UE_VALUE_COUNT].at_least);
}

static void test_silence_before_a_jump(void **state) {
    after_a_jump(false);
    findings_fixture_finish(620, true);
    assert_int_equal(100, findings_fixture_expect(UE_FINDING_LOST_SILENCE)->values[UE_VALUE_COUNT].at_least);
}

static void test_silence_before_a_damaged_sequence(void **state) {
    after_a_jump(true);
    findings_fixture_expect_none();
}

/* The server sends a malformed packet, which is no event, while the client sends. */
static void test_malformed_packet_in_a_silence(void **state) {
    static const struct ue_decode_result bad = {.fault = {.status = UE_E_TRUNCATED}};
    findings_fixture_packet(0, SERVER, 1);
    for (int64_t id = 1; id < 5; id++) {
        findings_fixture_packet(id * 150, CLIENT, id);
        if (id == 2) {
            findings_fixture_datagram(SERVER, &bad, false);
            findings_fixture_expect(UE_FINDING_MALFORMED);
        }
    }
    findings_fixture_packet(610, SERVER, 3);
    findings_fixture_expect_none();
}

/* The server sends a malformed packet, and then nothing for long. A packet that is lost may have been sent before the
   malformed one. */
static void be_silent_after_a_malformed_packet(bool is_one_lost) {
    static const struct ue_decode_result bad = {.fault = {.status = UE_E_TRUNCATED}};
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_packet(10, CLIENT, 1);
    findings_fixture_datagram(SERVER, &bad, false);
    findings_fixture_expect(UE_FINDING_MALFORMED);
    for (int64_t id = 2; id < 6; id++) {
        findings_fixture_packet(id * 150, CLIENT, id);
    }
    if (is_one_lost) {
        findings_fixture_lost(SERVER, 2, 2);
    }
    findings_fixture_lost_or_damaged(SERVER, 3, 3);
    findings_fixture_packet(800, SERVER, 4);
    findings_fixture_finish(810, true);
    assert_int_equal(1, findings_fixture_count(UE_FINDING_UNSURE_SILENCE));
}

static void test_malformed_packet_before_a_silence(void **state) {
    be_silent_after_a_malformed_packet(false);
}

static void test_lost_and_malformed_packet_before_a_silence(void **state) {
    be_silent_after_a_malformed_packet(true);
}

/* A side did not send the copies of its packets that the network made. */
static void test_copies_in_a_silence(void **state) {
    findings_fixture_packet(0, SERVER, 1);
    for (int64_t id = 1; id < 4; id++) {
        findings_fixture_packet(id * 150, CLIENT, id);
        findings_fixture_duplicate();
    }
    findings_fixture_packet(600, SERVER, 2);
    assert_int_equal(3, findings_fixture_expect(UE_FINDING_UNCLOCKED_SILENCE)->values[UE_VALUE_OTHERS].at_least);
}

/* Two packets of the server are captured in the wrong order: it was silent from the later time on, for 300 ms or 500
 * ms. */
static void be_silent_after_disorder(int64_t server_ms) {
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_packet(350, CLIENT, 2);
    findings_fixture_packet(400, SERVER, 3);
    findings_fixture_late_packet(100, SERVER, 2);
    findings_fixture_packet(550, CLIENT, 3);
    findings_fixture_packet(650, CLIENT, 4);
    findings_fixture_packet(server_ms, SERVER, 4);
}

static void test_no_silence_after_disorder(void **state) {
    be_silent_after_disorder(700);
    findings_fixture_expect_none();
}

static void test_silence_after_disorder(void **state) {
    be_silent_after_disorder(900);
    const struct ue_finding *silence = findings_fixture_expect(UE_FINDING_UNSURE_SILENCE);
    assert_int_equal(500 * MS, silence->values[UE_VALUE_SPAN].at_least);
    assert_int_equal(800 * MS, silence->values[UE_VALUE_SPAN].at_most); /* from the time of its first frame */
    assert_int_equal(5, silence->frames[0]);
}

/* The packet after the silence is late, or a copy: those that are missing before it are not known. */
static void be_silent_before(uint64_t (*old_packet)(int64_t ms, unsigned side, int64_t id)) {
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_packet(10, SERVER, 20);
    for (int64_t id = 1; id < 4; id++) {
        findings_fixture_packet(id * 200, CLIENT, id);
    }
    old_packet(610, SERVER, 5);
    findings_fixture_expect(UE_FINDING_UNSURE_SILENCE);
}

static void test_late_after_a_silence(void **state) {
    be_silent_before(findings_fixture_late_packet);
}

static void test_copy_after_a_silence(void **state) {
    be_silent_before(findings_fixture_late_copy);
}

/* A copy comes after a malformed packet, and packets may be missing before both. */
static void test_copy_before_a_silence(void **state) {
    findings_fixture_packet(0, SERVER, 1);
    findings_fixture_opaque(10, SERVER);
    findings_fixture_late_copy(20, SERVER, 1);
    for (int64_t id = 1; id < 4; id++) {
        findings_fixture_packet(id * 200, CLIENT, id);
    }
    findings_fixture_lost(SERVER, 2, 2);
    findings_fixture_packet(610, SERVER, 4);
    findings_fixture_finish(620, true);
    assert_int_equal(1, findings_fixture_count(UE_FINDING_UNSURE_SILENCE));
}

/* An id before or after the silence cannot be read: packets may be missing. */
static void be_silent_unread(bool is_before) {
    findings_fixture_packet(0, SERVER, 1);
    if (is_before) {
        findings_fixture_opaque(10, SERVER);
    }
    for (int64_t id = 1; id < 4; id++) {
        findings_fixture_packet(id * 200, CLIENT, id);
    }
    if (is_before) {
        findings_fixture_packet(610, SERVER, 3);
    } else {
        findings_fixture_opaque(610, SERVER);
    }
    findings_fixture_expect(UE_FINDING_UNSURE_SILENCE);
}

static void test_unread_before_a_silence(void **state) {
    be_silent_unread(true);
}

static void test_unread_after_a_silence(void **state) {
    be_silent_unread(false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_silence, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_short_silence, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_pause, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_pause_after_disorder, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_handshake_in_a_pause, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_pause_after_disorder_of_sides, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_pause_of_one_direction, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_handshake_in_a_silence, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_earlier_packet_in_a_silence, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_handshake_in_a_lost_silence, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_handshake_beside_a_lost_silence, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_handshake_beside_a_silence, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_short_pause, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_end, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_end_before_close, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_end_of_timeout, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_other_point, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_other_point_in_time, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_missing_packets_that_come_late, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_missing_packets_of_which_one_comes_late, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_late_packet_from_before_a_silence, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_missing_packets_that_never_come, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_silence_before_a_jump, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_silence_before_a_damaged_sequence, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_lost_and_malformed_packet_before_a_silence, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_malformed_packet_before_a_silence, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_malformed_packet_in_a_silence, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_copies_in_a_silence, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_no_silence_after_disorder, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_silence_after_disorder, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_late_after_a_silence, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_copy_after_a_silence, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_copy_before_a_silence, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unread_before_a_silence, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unread_after_a_silence, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_handshake_before_the_end, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_handshake_after_the_close, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_missing_packets_without_memory, findings_fixture_set_up,
                                        findings_fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
