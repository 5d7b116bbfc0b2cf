/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/findings/findings_fixture.h"

/* Packets of the client that the server reports as lost, and at last one that arrived. */
static void lose(int64_t count, bool is_captured) {
    uint64_t frames[8] = {0};
    for (int64_t id = 0; id <= count; id++) {
        frames[id] = findings_fixture_packet(id * 10, CLIENT, id);
    }
    findings_fixture_packet(100, SERVER, 1);
    for (int64_t id = 0; id < count; id++) {
        findings_fixture_nak(id, is_captured ? frames[id] : 0);
    }
    findings_fixture_ack(count, frames[count], 20);
    findings_fixture_finish(110, true);
}

static void test_burst(void **state) {
    lose(4, true);
    const struct ue_finding *burst = findings_fixture_expect(UE_FINDING_LOSS_BURST);
    assert_int_equal(CLIENT, burst->side);
    assert_int_equal(4, burst->values[UE_VALUE_COUNT].at_least);
    assert_int_equal(0, burst->values[UE_VALUE_FIRST_ID].at_least);
    assert_int_equal(3, burst->values[UE_VALUE_LAST_ID].at_least);
    assert_int_equal(1, burst->frames[0]);
    assert_int_equal(4, burst->frames[1]);
    assert_int_equal(0, burst->values[UE_VALUE_OTHERS].at_least);
}

/* Some of the packets are in the capture. */
static void test_burst_that_is_partly_captured(void **state) {
    const uint64_t frame = findings_fixture_packet(0, CLIENT, 2);
    findings_fixture_packet(100, SERVER, 1);
    for (int64_t id = 0; id < 4; id++) {
        findings_fixture_nak(id, id == 2 ? frame : 0);
    }
    findings_fixture_finish(110, true);
    assert_int_equal(3, findings_fixture_expect(UE_FINDING_LOSS_BURST)->values[UE_VALUE_OTHERS].at_least);
}

/* The network reordered the packets that were then lost. */
static void test_reordered_burst(void **state) {
    static const int64_t ids[] = {2, 0, 3, 1};
    uint64_t frames[4];
    for (unsigned i = 0; i < 4; i++) {
        frames[ids[i]] = findings_fixture_packet(i * 10, CLIENT, ids[i]);
    }
    findings_fixture_packet(100, SERVER, 1);
    for (int64_t id = 0; id < 4; id++) {
        findings_fixture_nak(id, frames[id]);
    }
    findings_fixture_finish(110, true);
    const struct ue_finding *burst = findings_fixture_expect(UE_FINDING_LOSS_BURST);
    assert_int_equal(1, burst->frames[0]);
    assert_int_equal(4, burst->frames[1]);
}

/* The server reports packet 1, and up to 4.21 may skip one of which it is not known whether it was delivered, before
   or after four that were not. */
static void lose_beside(int64_t skipped_before, int64_t skipped_after) {
    findings_fixture_packet(100, SERVER, 1);
    findings_fixture_ack(1, 0, 20);
    int64_t first_id = 2 + skipped_before;
    for (int64_t id = first_id; id < first_id + 4; id++) {
        findings_fixture_nak(id, 0);
    }
    findings_fixture_ack(first_id + 4 + skipped_after, 0, 20);
}

static void expect_least(bool is_at_least) {
    findings_fixture_finish(110, true);
    const struct ue_finding *burst = findings_fixture_expect(UE_FINDING_UNSEEN_BURST);
    assert_int_equal(4, burst->values[UE_VALUE_COUNT].at_least);
    assert_int_equal(is_at_least, burst->values[UE_VALUE_LEAST].at_least);
    assert_int_equal(is_at_least ? INT64_MAX : 4, burst->values[UE_VALUE_COUNT].at_most);
}

static void test_burst_beside_skipped_packets(void **state) {
    for (unsigned skipped = 0; skipped < 4; skipped++) {
        findings_fixture_tear_down(state);
        findings_fixture_set_up(state);
        lose_beside(skipped & 1, skipped >> 1);
        expect_least(skipped != 0);
    }
}

/* A packet that was skipped is reported later, before the burst. */
static void test_burst_beside_a_packet_that_was_reported_late(void **state) {
    findings_fixture_packet(100, SERVER, 1);
    findings_fixture_ack(1, 0, 20);
    findings_fixture_ack(7, 0, 20);
    findings_fixture_ack(2, 0, 20);
    for (int64_t id = 3; id < 7; id++) {
        findings_fixture_nak(id, 0);
    }
    findings_fixture_ack(8, 0, 20);
    expect_least(false);
}

/* Packets before the first one of the capture: on the wire their ids are below 16384. */
static void test_burst_before_the_capture(void **state) {
    findings_fixture_packet(100, SERVER, 1);
    for (int64_t id = -6; id < -2; id++) {
        findings_fixture_nak(id, 0);
    }
    findings_fixture_finish(110, true);
    const struct ue_finding *burst = findings_fixture_expect(UE_FINDING_UNSEEN_BURST);
    assert_int_equal(16378, burst->values[UE_VALUE_FIRST_ID].at_least);
    assert_int_equal(16381, burst->values[UE_VALUE_LAST_ID].at_least);
}

static void test_unseen_burst(void **state) {
    lose(4, false);
    assert_int_equal(6, findings_fixture_expect(UE_FINDING_UNSEEN_BURST)->frames[0]);
}

/* Packets that are reported before they pass the capture point are captured later: the first `count` of four, while the
   burst goes on if `is_current`. Copies count once. */
static void test_burst_that_is_captured_later(void **state) {
    for (unsigned turn = 0; turn < 6; turn++) {
        bool is_current = turn % 2 != 0;
        int64_t count = turn < 2 ? 0 : turn < 4 ? 3 : 4;
        findings_fixture_tear_down(state);
        findings_fixture_set_up(state);
        findings_fixture_packet(100, SERVER, 1);
        for (int64_t id = 0; id < 4; id++) {
            findings_fixture_nak(id, 0);
        }
        if (!is_current) {
            findings_fixture_ack(4, 0, 20);
        }
        for (int64_t id = 0; id < count; id++) {
            findings_fixture_late_packet(110, CLIENT, id);
            findings_fixture_late_copy(120, CLIENT, id);
        }
        findings_fixture_late_packet(130, CLIENT, 4);
        findings_fixture_finish(140, true);
        const struct ue_finding *burst =
            findings_fixture_find(count != 0 ? UE_FINDING_LOSS_BURST : UE_FINDING_UNSEEN_BURST);
        assert_int_equal(4 - count, burst->values[UE_VALUE_OTHERS].at_least);
        assert_int_equal(count != 0 ? 2 : 1, burst->frames[0]);
        assert_int_equal(count != 0 ? 2 * count : 0, burst->frames[1]);
    }
}

static void test_three_packets(void **state) {
    lose(3, true);
    findings_fixture_expect_none();
}

/* Losses that are not next to each other are no burst. */
static void test_scattered(void **state) {
    findings_fixture_packet(0, SERVER, 1);
    for (int64_t id = 0; id < 16; id++) {
        if (id % 4 == 3) {
            findings_fixture_ack(id, 0, 20);
        } else {
            findings_fixture_nak(id, 0);
        }
    }
    findings_fixture_finish(10, true);
    findings_fixture_expect_none();
}

/* Every packet of the client is reported as lost; of the server's packets `acked` are reported as delivered. */
static void lose_one_way(int64_t acked, uint64_t unsure) {
    findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_packet(0, SERVER, 1);
    for (int64_t id = 0; id < 40; id += 4) {
        findings_fixture_nak(id, 0);
    }
    uint64_t frame = findings_fixture_packet(1, CLIENT, 2);
    for (int64_t id = 0; id < acked; id++) {
        findings_fixture_ack(id, frame, 1);
    }
    findings_fixture_count_reports(CLIENT, 0, 10);
    findings_fixture_count_unsure(SERVER, (uint64_t)acked, unsure);
    findings_fixture_finish(2, true);
}

static void test_one_way(void **state) {
    lose_one_way(1, 0);
    assert_int_equal(1, findings_fixture_expect(UE_FINDING_ONE_WAY_LOSS)->values[UE_VALUE_OTHERS_OF].at_least);
}

/* The loss of a direction of which nothing is reported is not known. */
static void test_loss_of_other_way_unknown(void **state) {
    lose_one_way(0, 0);
    findings_fixture_expect(UE_FINDING_LOSS);
}

/* Up to 4.21 the sender may have regarded these packets as lost, too. */
static void test_loss_of_other_way_unsure(void **state) {
    lose_one_way(10, 2);
    findings_fixture_expect(UE_FINDING_LOSS);
}

static void test_one_way_although_one_is_unsure(void **state) {
    lose_one_way(10, 1);
    assert_int_equal(1, findings_fixture_expect(UE_FINDING_ONE_WAY_LOSS)->values[UE_VALUE_OTHERS].at_most);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_burst, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_burst_that_is_partly_captured, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_burst_beside_skipped_packets, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_burst_beside_a_packet_that_was_reported_late, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_reordered_burst, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_burst_before_the_capture, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unseen_burst, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_burst_that_is_captured_later, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_three_packets, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_scattered, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_one_way, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_loss_of_other_way_unsure, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_one_way_although_one_is_unsure, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_loss_of_other_way_unknown, findings_fixture_set_up,
                                        findings_fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
