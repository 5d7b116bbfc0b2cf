/* SPDX-License-Identifier: MIT */
/* What a packet up to 4.21 is the first to report, as far as a capture shows it (protocol.md 6). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libcodec/observe/detection_packet_ids.h"

#define NO_ACK (-1)

enum { CLIENT, SERVER };

static struct ue_detection_side sides[2];

static struct ue_packet_ids packet(unsigned sender, uint16_t seq, int32_t ack) {
    struct ue_packet_ids ids;
    ue_detection_side_expand(sides, sender, seq, ack, false, false, &ids);
    return ids;
}

/* The server sent packets up to 20, and the client acknowledged 10. */
static int begin(void **state) {
    sides[CLIENT] = sides[SERVER] = (struct ue_detection_side){0};
    packet(SERVER, 20, NO_ACK);
    packet(CLIENT, 5, 10);
    return 0;
}

static void test_next_ack(void **state) {
    packet(CLIENT, 6, NO_ACK);
    const struct ue_packet_ids ids = packet(CLIENT, 7, 13);
    assert_true(ids.has_acked_before && ids.acked_before == 10 && !ids.has_unread_before);
}

/* A packet that is missing may have acknowledged what the next one skips; then the next ack is certain again. */
static void test_missing_packet(void **state) {
    assert_true(packet(CLIENT, 7, 13).has_unread_before);
    assert_false(packet(CLIENT, 8, 15).has_unread_before);
}

static void test_late_packet(void **state) {
    packet(CLIENT, 7, 13);
    assert_false(packet(CLIENT, 6, 12).has_acked_before);
    assert_int_equal(13, packet(CLIENT, 8, 14).acked_before);
}

/* An ack far ahead of what the other side is known to have sent reports nothing, and what it may have acknowledged is
   not skipped by the next. */
static void test_ack_far_ahead(void **state) {
    const struct ue_packet_ids held = packet(CLIENT, 6, 500);
    assert_int_equal(500, held.acked_before);
    const struct ue_packet_ids next = packet(CLIENT, 7, 501);
    assert_true(next.acked_before == 10 && next.has_unread_before);
    assert_false(packet(CLIENT, 8, 502).has_unread_before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_next_ack, begin),
        cmocka_unit_test_setup(test_missing_packet, begin),
        cmocka_unit_test_setup(test_late_packet, begin),
        cmocka_unit_test_setup(test_ack_far_ahead, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
