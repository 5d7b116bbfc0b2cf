/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/findings/findings_fixture.h"

static const struct ue_decode_result good = {.item_count = 1};

/* Initial and Challenge of a client with this id. Returns the frame of the Initial. */
static uint64_t shake_hands(uint8_t id) {
    findings_fixture_datagram(CLIENT, &good, false);
    findings_fixture_datagram(SERVER, &good, false);
    findings_fixture_client_id(id);
    uint64_t frame = findings_fixture_handshake(0, CLIENT, UE_HANDSHAKE_INITIAL);
    findings_fixture_handshake(0, SERVER, UE_HANDSHAKE_CHALLENGE);
    return frame;
}

static void send_packets(unsigned count, int64_t first_id) {
    for (unsigned i = 0; i < count; i++) {
        findings_fixture_packet(0, CLIENT, first_id + i);
    }
}

static void test_other_id(void **state) {
    uint64_t handshake = shake_hands(2);
    send_packets(1, 1);
    findings_fixture_client_id(5);
    uint64_t frame = findings_fixture_packet(0, CLIENT, 2);
    send_packets(2, 3);
    findings_fixture_finish(10, true);
    const struct ue_finding *finding = findings_fixture_expect(UE_FINDING_CLIENT_ID);
    assert_int_equal(CLIENT, finding->side);
    assert_true(finding->frame_count == 2 && finding->frames[0] == frame && finding->frames[1] == handshake);
    assert_int_equal(3, finding->values[UE_VALUE_COUNT].at_least);
    assert_int_equal(2, finding->values[UE_VALUE_HANDSHAKE_CLIENT_ID].at_least);
    assert_int_equal(5, finding->values[UE_VALUE_CLIENT_ID].at_least);
}

static void test_same_id(void **state) {
    shake_hands(2);
    send_packets(9, 1);
    findings_fixture_finish(10, true);
    findings_fixture_expect_none();
}

/* A single packet may be damaged, and damaged ids differ. */
static void test_damaged_packets(void **state) {
    shake_hands(2);
    for (uint8_t id = 3; id < 7; id++) {
        findings_fixture_client_id(id);
        send_packets(1, id);
    }
    findings_fixture_finish(10, true);
    findings_fixture_expect_none();
}

/* A mirror port copies a damaged packet. */
static void test_copy_of_damaged_packet(void **state) {
    shake_hands(2);
    findings_fixture_client_id(5);
    findings_fixture_packet(0, CLIENT, 1);
    findings_fixture_duplicate();
    findings_fixture_finish(10, true);
    findings_fixture_expect_none();
}

/* No second message of the handshake has the id of a damaged one. */
static void test_damaged_handshake(void **state) {
    shake_hands(2);
    findings_fixture_client_id(3);
    findings_fixture_handshake(0, CLIENT, UE_HANDSHAKE_RESPONSE);
    findings_fixture_client_id(2);
    send_packets(9, 1);
    findings_fixture_finish(10, true);
    findings_fixture_expect_none();
}

static void test_next_handshake(void **state) {
    shake_hands(2);
    send_packets(2, 1);
    findings_fixture_client_id(3);
    findings_fixture_handshake(0, CLIENT, UE_HANDSHAKE_RESPONSE);
    findings_fixture_handshake(0, SERVER, UE_HANDSHAKE_ACK);
    send_packets(2, 3);
    findings_fixture_finish(10, true);
    findings_fixture_expect_none();
}

/* A capture that begins later does not show the id of the handshake. */
static void test_without_handshake(void **state) {
    findings_fixture_datagram(CLIENT, &good, false);
    findings_fixture_datagram(SERVER, &good, false);
    findings_fixture_client_id(3);
    send_packets(2, 1);
    findings_fixture_client_id(4);
    send_packets(2, 3);
    findings_fixture_finish(10, true);
    findings_fixture_expect_none();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_other_id, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_same_id, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_packets, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_handshake, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_copy_of_damaged_packet, findings_fixture_set_up,
                                        findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_next_handshake, findings_fixture_set_up, findings_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_without_handshake, findings_fixture_set_up, findings_fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
