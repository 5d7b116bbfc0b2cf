/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/findings/findings_fixture.h"

#define MS INT64_C(1000000)

/* A bunch in packet 1 is lost, and sent again in packet 2. Returns the frame of packet 2. */
static uint64_t lose_once(int64_t resent_ms, int64_t acked_ms) {
    uint64_t first = findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_bunch(3, 70);
    findings_fixture_packet(50, SERVER, 1);
    findings_fixture_nak(1, first);
    uint64_t second = findings_fixture_packet(resent_ms, CLIENT, 2);
    findings_fixture_bunch(3, 70);
    findings_fixture_packet(acked_ms, SERVER, 2);
    findings_fixture_ack(2, second, acked_ms - resent_ms);
    return second;
}

static void test_stall(void **state) {
    uint64_t second = lose_once(300, 350);
    findings_fixture_finish(360, true);
    const struct ue_finding *stall = findings_fixture_expect(UE_FINDING_STALL);
    assert_int_equal(CLIENT, stall->side);
    assert_int_equal(300 * MS, stall->values[UE_VALUE_SPAN].at_least);
    assert_int_equal(3, stall->values[UE_VALUE_CHANNEL].at_least);
    assert_int_equal(70, stall->values[UE_VALUE_FIRST_SEQ].at_least);
    assert_int_equal(1, stall->values[UE_VALUE_COUNT].at_least);
    assert_int_equal(2, stall->frame_count);
    assert_int_equal(1, stall->frames[0]);
    assert_int_equal(second, stall->frames[1]);
}

/* A bunch in packets 1 to 3 that are not delivered, one every 150 ms; those in the bit mask may have arrived and been
   refused. It arrives with packet 4. */
static void lose_or_refuse(unsigned refused) {
    uint64_t frame = findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_bunch(3, 70);
    for (int64_t id = 1; id <= 3; id++) {
        findings_fixture_packet(id * 150 - 50, SERVER, id);
        if ((refused >> id & 1) != 0) {
            findings_fixture_nak_or_refused(id, frame);
        } else {
            findings_fixture_nak(id, frame);
        }
        frame = findings_fixture_packet(id * 150, CLIENT, id + 1);
        findings_fixture_copy(3, 70);
    }
    findings_fixture_packet(500, SERVER, 4);
    findings_fixture_ack(4, frame, 50);
    findings_fixture_finish(510, true);
}

/* Bunches of a packet that is refused are delivered: the delay ends with the first that may have been. */
static void test_refused(void **state) {
    static const struct {
        unsigned refused;
        enum ue_finding_id id;
        int64_t least_ms;
        int64_t refused_count;
    } cases[] = {{0, UE_FINDING_STALL, 450, 0},
                 {1 << 3, UE_FINDING_STALL, 300, 1},
                 {1 << 1, UE_FINDING_STALL_UNSURE, 0, 1},
                 {1 << 1 | 1 << 2, UE_FINDING_STALL_UNSURE, 0, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        findings_fixture_tear_down(state);
        findings_fixture_set_up(state);
        lose_or_refuse(cases[i].refused);
        const struct ue_finding *stall = findings_fixture_expect(cases[i].id);
        assert_int_equal(cases[i].least_ms * MS, stall->values[UE_VALUE_SPAN].at_least);
        assert_int_equal(450 * MS, stall->values[UE_VALUE_SPAN].at_most);
        assert_int_equal(cases[i].refused_count, stall->values[UE_VALUE_MAYBE_REFUSED].at_least);
        assert_int_equal(3, stall->values[UE_VALUE_COUNT].at_least);
    }
}

/* Of two bunches in a packet, the one that is a stall in any case makes the finding. */
static void test_refused_beside_lost(void **state) {
    uint64_t first = findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_bunch(3, 70);
    findings_fixture_packet(30, SERVER, 1);
    findings_fixture_nak_or_refused(1, first);
    uint64_t second = findings_fixture_packet(50, CLIENT, 2);
    findings_fixture_bunch(4, 80);
    findings_fixture_packet(100, SERVER, 2);
    findings_fixture_nak(2, second);
    uint64_t third = findings_fixture_packet(300, CLIENT, 3);
    findings_fixture_copy(3, 70);
    findings_fixture_copy(4, 80);
    findings_fixture_packet(350, SERVER, 3);
    findings_fixture_ack(3, third, 50);
    findings_fixture_finish(360, true);
    const struct ue_finding *stall = findings_fixture_expect(UE_FINDING_STALL);
    assert_int_equal(4, stall->values[UE_VALUE_CHANNEL].at_least);
    assert_int_equal(250 * MS, stall->values[UE_VALUE_SPAN].at_least);
    assert_int_equal(1, stall->values[UE_VALUE_OTHERS].at_least);
}

/* A bunch in packet 1 is lost, and sent again in packets 2 and 3, of which 3 is acknowledged, and 2 has no report, or
   is not delivered. */
static void lose_twice(bool is_reported) {
    uint64_t first = findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_bunch(3, 70);
    findings_fixture_packet(50, SERVER, 1);
    findings_fixture_nak(1, first);
    uint64_t second = findings_fixture_packet(80, CLIENT, 2);
    findings_fixture_copy(3, 70);
    uint64_t third = findings_fixture_packet(400, CLIENT, 3);
    findings_fixture_copy(3, 70);
    findings_fixture_packet(450, SERVER, 2);
    if (is_reported) {
        findings_fixture_nak(2, second);
    }
    findings_fixture_ack(3, third, 50);
    findings_fixture_finish(460, true);
}

static void test_unreported_copy(void **state) {
    lose_twice(false);
    findings_fixture_expect_none();
}

static void test_reported_copy(void **state) {
    lose_twice(true);
    const struct ue_finding *stall = findings_fixture_expect(UE_FINDING_STALL);
    assert_int_equal(400 * MS, stall->values[UE_VALUE_SPAN].at_least);
}

/* The first transmission, in packet 1, has no report, or is not delivered. */
static void lose_after_first(bool is_reported) {
    uint64_t first = findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_bunch(3, 70);
    uint64_t second = findings_fixture_packet(80, CLIENT, 2);
    findings_fixture_copy(3, 70);
    findings_fixture_packet(120, SERVER, 1);
    if (is_reported) {
        findings_fixture_nak(1, first);
    }
    findings_fixture_nak(2, second);
    uint64_t third = findings_fixture_packet(400, CLIENT, 3);
    findings_fixture_copy(3, 70);
    findings_fixture_packet(450, SERVER, 2);
    findings_fixture_ack(3, third, 50);
    findings_fixture_finish(460, true);
}

static void test_unreported_first(void **state) {
    lose_after_first(false);
    findings_fixture_expect_none();
}

static void test_reported_first(void **state) {
    lose_after_first(true);
    const struct ue_finding *stall = findings_fixture_expect(UE_FINDING_STALL);
    assert_int_equal(400 * MS, stall->values[UE_VALUE_SPAN].at_least);
}

/* One loss that is repaired in time is no finding. */
static void test_quick_retransmission(void **state) {
    lose_once(99, 140);
    findings_fixture_finish(150, true);
    findings_fixture_expect_none();
}

/* On a slow path 300 ms are less than two round trips. */
static void test_slow_path(void **state) {
    uint64_t frame = findings_fixture_packet(0, SERVER, 0);
    findings_fixture_packet(1, CLIENT, 0);
    findings_fixture_ack(0, frame, 100);
    lose_once(300, 400);
    findings_fixture_finish(410, true);
    assert_int_equal(0, findings_fixture_count(UE_FINDING_STALL));
}

static void test_repeated_loss(void **state) {
    for (int64_t id = 1; id <= 2; id++) {
        uint64_t frame = findings_fixture_packet(id * 20, CLIENT, id);
        findings_fixture_bunch(3, 70);
        findings_fixture_packet(id * 20 + 10, SERVER, id);
        findings_fixture_nak(id, frame);
    }
    uint64_t frame = findings_fixture_packet(60, CLIENT, 3);
    findings_fixture_bunch(3, 70);
    findings_fixture_packet(70, SERVER, 3);
    findings_fixture_ack(3, frame, 10);
    findings_fixture_finish(80, true);
    assert_int_equal(2, findings_fixture_expect(UE_FINDING_REPEATED)->values[UE_VALUE_COUNT].at_least);
}

/* The side sends every 200 ms. */
static void keep_sending(unsigned side, int64_t end_ms) {
    for (int64_t ms = 200; ms < end_ms; ms += 200) {
        findings_fixture_packet(ms, side, 3 + ms / 200);
    }
}

/* The bunch of the client's first packet is lost, and the client goes on sending. */
static void lose_first(int64_t end_ms) {
    uint64_t frame = findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_bunch(3, 70);
    findings_fixture_packet(50, SERVER, 1);
    findings_fixture_nak(1, frame);
    keep_sending(CLIENT, end_ms);
}

static void lose_and_finish(int64_t end_ms) {
    lose_first(end_ms);
    findings_fixture_packet(end_ms, SERVER, 2);
    findings_fixture_finish(end_ms, true);
}

static void test_undelivered(void **state) {
    lose_and_finish(1050);
    const struct ue_finding *undelivered = findings_fixture_find(UE_FINDING_UNDELIVERED);
    assert_int_equal(1050 * MS, undelivered->values[UE_VALUE_SPAN].at_least);
    assert_int_equal(INT64_MAX, undelivered->values[UE_VALUE_SPAN].at_most);
}

/* The packets of the server after its report, which would report the next transmission, were not captured, or, up to
   4.21, some of them. */
static void test_undelivered_without_reports(void **state) {
    for (int has_last = 0; has_last < 2; has_last++) {
        findings_fixture_tear_down(state);
        findings_fixture_set_up(state);
        lose_first(1400);
        if (has_last) {
            findings_fixture_lost(SERVER, 2, 2);
            findings_fixture_packet(1300, SERVER, 3);
        }
        findings_fixture_finish(1400, true);
        assert_int_equal(0, findings_fixture_count(UE_FINDING_UNDELIVERED));
        assert_int_equal(0, findings_fixture_count(UE_FINDING_UNDELIVERED_YET));
    }
}

/* The retransmission overtook the first transmission, which was reported before it came. It has arrived if the packet
   of the retransmission was acknowledged before. */
static void test_overtaken(void **state) {
    for (int is_delivered = 0; is_delivered < 2; is_delivered++) {
        findings_fixture_tear_down(state);
        findings_fixture_set_up(state);
        uint64_t second = findings_fixture_packet(0, CLIENT, 2);
        findings_fixture_bunch(3, 70);
        findings_fixture_packet(50, SERVER, 1);
        findings_fixture_nak(1, 0);
        if (is_delivered) {
            findings_fixture_ack(2, second, 50);
        } else {
            findings_fixture_nak(2, second);
        }
        findings_fixture_refused_packet(60, CLIENT, 1);
        (is_delivered ? findings_fixture_delivered : findings_fixture_copy)(3, 70);
        keep_sending(CLIENT, 1500);
        findings_fixture_packet(1500, SERVER, 2);
        findings_fixture_finish(1500, true);
        assert_int_equal(!is_delivered, findings_fixture_count(UE_FINDING_UNDELIVERED));
    }
}

/* A packet that was acknowledged and not captured may have the next transmission, unless it was sent before the lost
   one. */
static void test_unseen_packet(void **state) {
    for (int64_t unseen_id = 1; unseen_id <= 3; unseen_id += 2) {
        findings_fixture_tear_down(state);
        findings_fixture_set_up(state);
        uint64_t frame = findings_fixture_packet(0, CLIENT, 2);
        findings_fixture_bunch(3, 70);
        findings_fixture_packet(50, SERVER, 1);
        if (unseen_id == 1) {
            findings_fixture_ack(1, 0, -1);
        }
        findings_fixture_nak(2, frame);
        keep_sending(CLIENT, 1500);
        findings_fixture_packet(1550, SERVER, 2);
        if (unseen_id == 3) {
            findings_fixture_ack(3, 0, -1);
        }
        findings_fixture_finish(1560, true);
        assert_int_equal(unseen_id == 1, findings_fixture_count(UE_FINDING_UNDELIVERED));
    }
}

/* Up to 4.21 a bunch is sent again although it arrived, if the acks were lost: when it arrived is not known, if a
   packet between was not captured. */
static void test_unseen_between(void **state) {
    static const enum ue_packet_layout layouts[] = {UE_PACKET_LEGACY, UE_PACKET_KBPS};
    for (size_t i = 0; i < 2; i++) {
        findings_fixture_tear_down(state);
        findings_fixture_set_up(state);
        findings_fixture_layout(layouts[i]);
        uint64_t first = findings_fixture_packet(0, CLIENT, 1);
        findings_fixture_bunch(3, 70);
        findings_fixture_packet(50, SERVER, 1);
        findings_fixture_nak(1, first);
        findings_fixture_packet(100, SERVER, 2);
        findings_fixture_ack(2, 0, -1);
        uint64_t third = findings_fixture_packet(400, CLIENT, 3);
        findings_fixture_copy(3, 70);
        findings_fixture_packet(450, SERVER, 3);
        findings_fixture_ack(3, third, 50);
        findings_fixture_finish(460, true);
        assert_int_equal(layouts[i] != UE_PACKET_LEGACY, findings_fixture_count(UE_FINDING_STALL));
    }
}

/* Likewise if the report of a packet that was not captured may be in one that was not captured either. */
static void test_skipped_between(void **state) {
    for (int is_reported = 0; is_reported < 2; is_reported++) {
        findings_fixture_tear_down(state);
        findings_fixture_set_up(state);
        findings_fixture_layout(UE_PACKET_LEGACY);
        uint64_t first = findings_fixture_packet(0, CLIENT, 1);
        findings_fixture_bunch(3, 70);
        findings_fixture_packet(50, SERVER, 1);
        findings_fixture_nak(1, first);
        findings_fixture_lost(CLIENT, 2, 2);
        uint64_t third = findings_fixture_packet(400, CLIENT, 3);
        findings_fixture_copy(3, 70);
        findings_fixture_packet(450, SERVER, 3);
        if (is_reported) {
            findings_fixture_nak(2, 0);
        }
        findings_fixture_ack(3, third, 50);
        findings_fixture_finish(460, true);
        assert_int_equal(is_reported, findings_fixture_count(UE_FINDING_STALL));
    }
}

/* Up to 4.21 a packet may be captured after a later one was reported, while one before both has no report. */
static void test_legacy_late_packet(void **state) {
    findings_fixture_layout(UE_PACKET_LEGACY);
    findings_fixture_packet(0, CLIENT, 3);
    findings_fixture_bunch(3, 70);
    uint64_t later = findings_fixture_packet(1, CLIENT, 5);
    findings_fixture_bunch(3, 72);
    findings_fixture_packet(50, SERVER, 1);
    findings_fixture_ack(5, later, 49);
    uint64_t late = findings_fixture_packet(60, CLIENT, 4);
    findings_fixture_bunch(3, 71);
    findings_fixture_packet(100, SERVER, 2);
    findings_fixture_nak(4, late);
    uint64_t resent = findings_fixture_packet(400, CLIENT, 6);
    findings_fixture_copy(3, 71);
    findings_fixture_packet(450, SERVER, 3);
    findings_fixture_ack(6, resent, 50);
    findings_fixture_finish(460, true);
    const struct ue_finding *stall = findings_fixture_expect(UE_FINDING_STALL);
    assert_int_equal(71, stall->values[UE_VALUE_FIRST_SEQ].at_least);
    assert_int_equal(late, stall->frames[0]);
}

/* Packets that cannot be read may have the retransmission. */
static void test_opaque_packets(void **state) {
    uint64_t frame = findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_bunch(3, 70);
    findings_fixture_packet(50, SERVER, 1);
    findings_fixture_nak(1, frame);
    for (int64_t ms = 200; ms < 2000; ms += 200) {
        findings_fixture_opaque(ms, CLIENT);
    }
    findings_fixture_finish(2000, true);
    assert_int_equal(0, findings_fixture_count(UE_FINDING_UNDELIVERED));
}

/* A datagram of a side that is cut or malformed may have the retransmission, unless it was sent before the report. */
static void test_unread_datagrams(void **state) {
    static const struct ue_decode_result good, bad = {.fault = {.status = UE_E_TRUNCATED}};
    static const struct {
        const struct ue_decode_result *result;
        unsigned side;
        bool is_cut, is_early, is_undelivered;
    } cases[] = {{&good, CLIENT, false, false, true},
                 {&good, CLIENT, true, false, false},
                 {&bad, CLIENT, false, false, false},
                 {&good, CLIENT, true, true, true},
                 {&good, SERVER, true, false, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        findings_fixture_tear_down(state);
        findings_fixture_set_up(state);
        uint64_t frame = findings_fixture_packet(0, CLIENT, 1);
        findings_fixture_bunch(3, 70);
        if (cases[i].is_early) {
            findings_fixture_datagram(cases[i].side, cases[i].result, cases[i].is_cut);
        }
        findings_fixture_packet(50, SERVER, 1);
        findings_fixture_nak(1, frame);
        for (int64_t ms = 200; ms < 2000; ms += 200) {
            findings_fixture_packet(ms, SERVER, 1 + ms / 200);
        }
        if (!cases[i].is_early) {
            findings_fixture_datagram(cases[i].side, cases[i].result, cases[i].is_cut);
        }
        findings_fixture_finish(2000, true);
        assert_int_equal(cases[i].is_undelivered, findings_fixture_count(UE_FINDING_UNDELIVERED));
    }
}

/* A copy that was sent before the ack of the first one could be known is lost: the bunch has arrived. */
static void test_lost_copy(void **state) {
    uint64_t first = findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_bunch(3, 70);
    uint64_t second = findings_fixture_packet(20, CLIENT, 2);
    findings_fixture_copy(3, 70);
    findings_fixture_packet(60, SERVER, 1);
    findings_fixture_ack(1, first, 60);
    findings_fixture_nak(2, second);
    for (int64_t ms = 200; ms < 2000; ms += 200) {
        findings_fixture_packet(ms, CLIENT, 2 + ms / 200);
    }
    findings_fixture_finish(2000, true);
    assert_int_equal(0, findings_fixture_count(UE_FINDING_UNDELIVERED));
}

/* The capture ends before the retransmission can be expected. */
static void test_end_of_capture(void **state) {
    lose_and_finish(1049);
    assert_int_equal(0, findings_fixture_count(UE_FINDING_UNDELIVERED));
    assert_int_equal(0, findings_fixture_count(UE_FINDING_UNDELIVERED_YET));
}

/* The client's bunch is lost at each of the times, and reported 50 ms later. */
static void lose_at(const int64_t *times_ms, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t frame = findings_fixture_packet(times_ms[i], CLIENT, 1 + (int64_t)i);
        if (i == 0) {
            findings_fixture_bunch(3, 70);
        } else {
            findings_fixture_copy(3, 70);
        }
        findings_fixture_packet(times_ms[i] + 50, SERVER, 1 + (int64_t)i);
        findings_fixture_nak(1 + (int64_t)i, frame);
    }
}

/* The last copy is in flight when the capture ends, and what was lost before makes it a stall already. */
static void test_end_of_capture_in_a_stall(void **state) {
    static const int64_t times_ms[] = {0, 300};
    lose_at(times_ms, 2);
    findings_fixture_packet(360, CLIENT, 3);
    findings_fixture_copy(3, 70);
    findings_fixture_finish(400, true);
    const struct ue_finding *yet = findings_fixture_expect(UE_FINDING_UNDELIVERED_YET);
    assert_int_equal(350 * MS, yet->values[UE_VALUE_SPAN].at_least);
    assert_int_equal(INT64_MAX, yet->values[UE_VALUE_SPAN].at_most);
    assert_int_equal(2, yet->values[UE_VALUE_COUNT].at_least);
    assert_int_equal(0, findings_fixture_count(UE_FINDING_UNDELIVERED));
}

/* The first transmission has no report: it may have arrived. */
static void test_end_of_capture_after_an_unreported_first(void **state) {
    findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_bunch(3, 70);
    uint64_t frames[] = {findings_fixture_packet(10, CLIENT, 1000), 0, 0};
    findings_fixture_packet(50, SERVER, 1);
    findings_fixture_ack(1000, frames[0], 40);
    for (unsigned i = 1; i <= 2; i++) {
        frames[i] = findings_fixture_packet(i * 300, CLIENT, 1000 + i);
        findings_fixture_copy(3, 70);
        findings_fixture_packet(i * 300 + 50, SERVER, 1 + i);
        findings_fixture_nak(1000 + i, frames[i]);
    }
    findings_fixture_finish(700, true);
    assert_int_equal(0, findings_fixture_count(UE_FINDING_UNDELIVERED_YET));
}

/* What was lost twice within less than a stall, or arrived after it, is not undelivered. */
static void test_end_of_capture_without_a_stall(void **state) {
    static const int64_t short_ms[] = {0, 40}, long_ms[] = {0, 300};
    lose_at(short_ms, 2);
    findings_fixture_finish(100, true);
    assert_int_equal(0, findings_fixture_count(UE_FINDING_UNDELIVERED_YET));
    findings_fixture_tear_down(state);
    findings_fixture_set_up(state);
    lose_at(long_ms, 2);
    uint64_t frame = findings_fixture_packet(360, CLIENT, 3);
    findings_fixture_copy(3, 70);
    findings_fixture_packet(390, SERVER, 3);
    findings_fixture_ack(3, frame, 30);
    findings_fixture_finish(400, true);
    assert_int_equal(0, findings_fixture_count(UE_FINDING_UNDELIVERED_YET));
}

/* What does not fit into the memory is not known, so it is no finding. */
static void test_no_memory(void **state) {
    findings_fixture_exhaust_memory();
    lose_once(300, 350);
    findings_fixture_finish(360, true);
    findings_fixture_expect_none();
}

/* A bunch in packets 1 to 3, one every 100 ms, arrives with packet 4. Up to 4.21 the report of packet 2 may come before
   that of packet 1, or alone. */
static void lose_copy_first(bool is_first_reported) {
    uint64_t frames[5];
    for (int64_t id = 1; id <= 4; id++) {
        frames[id] = findings_fixture_packet(id * 100, CLIENT, id);
        if (id == 1) {
            findings_fixture_bunch(3, 70);
        } else {
            findings_fixture_copy(3, 70);
        }
    }
    findings_fixture_packet(450, SERVER, 1);
    findings_fixture_nak(2, frames[2]);
    if (is_first_reported) {
        findings_fixture_nak(1, frames[1]);
    }
    findings_fixture_nak(3, frames[3]);
    findings_fixture_ack(4, frames[4], 50);
    findings_fixture_finish(460, true);
}

static void test_copy_is_reported_before_the_first(void **state) {
    lose_copy_first(true);
    const struct ue_finding *stall = findings_fixture_expect(UE_FINDING_STALL);
    assert_int_equal(300 * MS, stall->values[UE_VALUE_SPAN].at_least);
    assert_int_equal(3, stall->values[UE_VALUE_COUNT].at_least);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(i + 1, stall->frames[i]);
    }
}

/* The first transmission may have arrived. */
static void test_first_is_not_reported(void **state) {
    lose_copy_first(false);
    findings_fixture_expect_none();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_copy_is_reported_before_the_first, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_first_is_not_reported, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_stall, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_refused, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_refused_beside_lost, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unreported_copy, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_reported_copy, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unreported_first, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_reported_first, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_quick_retransmission, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_slow_path, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_repeated_loss, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_undelivered, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_undelivered_without_reports, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_overtaken, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unseen_packet, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unseen_between, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_legacy_late_packet, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_opaque_packets, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unread_datagrams, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_lost_copy, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_end_of_capture, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_end_of_capture_in_a_stall, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_end_of_capture_without_a_stall, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_no_memory, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_end_of_capture_after_an_unreported_first, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_skipped_between, findings_fixture_set_up, findings_fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
