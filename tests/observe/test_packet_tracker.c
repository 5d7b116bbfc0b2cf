/* SPDX-License-Identifier: MIT */
/* Packets, acks and handshakes of hand-made datagrams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include <uerudp/seq.h>
#include "tests/observe/tracker_fixture.h"

/* ---- packets ---- */

static void what_is_missing_may_come_late(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 104, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 102, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 99, 0, 0); /* before the first packet: never counted as missing */
    tracker_fixture_packet(&shared_fixture, CLIENT, 105, 0, 0);
    tracker_fixture_expect(&shared_fixture, "1 c packet 100, 0 in flight\n"
                                            "2 c missing 101-103\n"
                                            "2 c packet 104, 0 in flight\n"
                                            "3 c packet 102 late, 0 in flight\n"
                                            "4 c packet 99 late, 0 in flight\n"
                                            "5 c packet 105, 0 in flight\n");
    assert_int_equal(shared_fixture_counts(CLIENT)->packets, 5);
    assert_int_equal(shared_fixture_counts(CLIENT)->missing, 2);
    assert_int_equal(shared_fixture_counts(CLIENT)->late, 2);
}

/* Without a handshake the first ids follow from reordered packets. */
static void packets_before_the_first_are_judged(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 6, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 98, 6, 0);
    tracker_fixture_packet(&shared_fixture, SERVER, 7, 100, 1);
    tracker_fixture_expect(&shared_fixture, "1 c packet 100, 0 in flight\n"
                                            "2 c packet 98 late, 0 in flight\n"
                                            "3 s packet 7, 1 in flight\n"
                                            "3 s nak 98 in 2 after 10\n"
                                            "3 s nak 99 unseen\n"
                                            "3 s ack 100 in 1 after 20\n");
}

/* The client sends packets that the server acknowledges, 20 ms each: up to 1,023 packets later a copy is known as one.
 */
static void serve_copy_after(int64_t packets) {
    for (int64_t id = 100; id < 100 + packets; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 6, 0);
        tracker_fixture_packet(&shared_fixture, SERVER, id - 93, id, UINT32_MAX);
        shared_fixture.length = 0;
    }
    struct ue_tracker_counts before = *shared_fixture_counts(CLIENT);
    tracker_fixture_reliable(&shared_fixture, 3, 11);
    tracker_fixture_packet(&shared_fixture, CLIENT, 101, 6, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->duplicates, before.duplicates + 1);
    assert_int_equal(shared_fixture_counts(CLIENT)->late, before.late);
    assert_int_equal(shared_fixture_counts(CLIENT)->missing, before.missing);
    assert_int_equal(shared_fixture_counts(CLIENT)->resends, before.resends);
}

static void a_copy_after_256_packets_is_no_late_packet(void **state) {
    serve_copy_after(400);
    tracker_fixture_expect(&shared_fixture, "801 c packet 101 again, first in 0, 0 in flight\n");
}

static void a_copy_after_1000_packets_is_no_late_packet(void **state) {
    serve_copy_after(1020);
    tracker_fixture_expect(&shared_fixture, "2041 c packet 101 again, first in 0, 0 in flight\n");
}

/* A missing packet that comes so late is still no copy. */
static void a_packet_after_400_others_is_late(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 6, 0);
    for (int64_t id = 102; id < 502; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 6, 0);
        tracker_fixture_packet(&shared_fixture, SERVER, id - 93, id, UINT32_MAX);
    }
    assert_int_equal(shared_fixture_counts(CLIENT)->missing, 1);
    tracker_fixture_packet(&shared_fixture, CLIENT, 101, 6, 0);
    assert_int_equal(shared_fixture_counts(CLIENT)->late, 1);
    assert_int_equal(shared_fixture_counts(CLIENT)->duplicates, 0);
}

static void a_duplicate_tells_nothing_else(void **state) {
    tracker_fixture_packet(&shared_fixture, SERVER, 7, 99, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 5, 0);
    tracker_fixture_bunch(&shared_fixture, 3);
    tracker_fixture_packet(&shared_fixture, CLIENT, 101, 7, 1);
    tracker_fixture_bunch(&shared_fixture, 3);
    tracker_fixture_packet(&shared_fixture, CLIENT, 101, 7, 1);
    tracker_fixture_expect(&shared_fixture, "1 s packet 7, 0 in flight\n"
                                            "2 c packet 100, 1 in flight\n"
                                            "3 c packet 101, 2 in flight\n"
                                            "3 c nak 6 unseen\n"
                                            "3 c ack 7 in 1 after 20\n"
                                            "3 c bunch 0 on 3\n"
                                            "4 c packet 101 again, first in 3, 2 in flight\n");
    assert_int_equal(shared_fixture_counts(CLIENT)->duplicates, 1);
    assert_int_equal(shared_fixture_counts(CLIENT)->late, 0);
}

/* A packet that was captured at both ends is not a duplicate; one that the network duplicated is, at one of them. */
static void other_capture_points_see_the_same_packet(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 101, 0, 0);
    tracker_fixture_expect(&shared_fixture, "1 c packet 100, 0 in flight\n"
                                            "2 c packet 101, 0 in flight\n");
    shared_fixture.point = 1;
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 0, 0);
    tracker_fixture_expect(&shared_fixture, "3 c other view\n");
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 0, 0);
    tracker_fixture_expect(&shared_fixture, "4 c packet 100 again, first in 1, 0 in flight\n");
    tracker_fixture_packet(&shared_fixture, CLIENT, 102, 0, 0);
    tracker_fixture_expect(&shared_fixture, "5 c packet 102, 0 in flight\n");
    shared_fixture.point = 0;
    tracker_fixture_packet(&shared_fixture, CLIENT, 102, 0, 0);
    tracker_fixture_expect(&shared_fixture, "6 c other view\n");
    assert_int_equal(shared_fixture_counts(CLIENT)->packets, 4);
    assert_int_equal(shared_fixture_counts(CLIENT)->duplicates, 1);
}

static void numbers_wrap(void **state) {
    for (int64_t id = 16380; id < 16390; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 5, 1);
        shared_fixture.length = 0;
        tracker_fixture_packet(&shared_fixture, SERVER, id - 16375, id, 1);
    }
    tracker_fixture_expect(&shared_fixture, "20 s packet 14, 9 in flight\n20 s ack 16389 in 19 after 10\n");
    assert_int_equal(shared_fixture_counts(CLIENT)->acked, 10);
    assert_int_equal(shared_fixture_counts(CLIENT)->missing, 0);
}

/* Missing packets may be in malformed datagrams that were captured at their places, and only there. */
static void a_malformed_datagram_may_be_a_missing_packet(void **state) {
    static const uint8_t bytes[8] = {0};
    const struct ue_packet_ids no_ids = {0};
    const struct ue_tracker_counts *counts = shared_fixture_counts(CLIENT);
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 102, 0, 0);
    tracker_fixture_feed(&shared_fixture, CLIENT, &no_ids, bytes, sizeof bytes);
    tracker_fixture_packet(&shared_fixture, CLIENT, 103, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 105, 0, 0);
    assert_int_equal(counts->missing, 2);
    assert_int_equal(counts->missing_damaged, 0);
    tracker_fixture_feed(&shared_fixture, CLIENT, &no_ids, bytes, sizeof bytes);
    tracker_fixture_packet(&shared_fixture, CLIENT, 108, 0, 0);
    assert_int_equal(counts->missing, 4);
    assert_int_equal(counts->missing_damaged, 1);
    tracker_fixture_feed(&shared_fixture, CLIENT, &no_ids, bytes, sizeof bytes);
    tracker_fixture_packet(&shared_fixture, CLIENT, 101, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 110, 0, 0);
    assert_int_equal(counts->missing, 4);
    assert_int_equal(counts->missing_damaged, 2);
    for (unsigned i = 0; i < 4; i++) { /* all come late */
        static const int64_t late[] = {104, 106, 107, 109};
        tracker_fixture_packet(&shared_fixture, CLIENT, late[i], 0, 0);
    }
    assert_int_equal(counts->missing, 0);
    assert_int_equal(counts->missing_damaged, 0);
    shared_fixture.length = 0;
}

/* An ack of a packet that was not sent counts only when the next ack confirms it. */
static void a_damaged_ack_judges_nothing(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 101, 0, 0);
    tracker_fixture_packet(&shared_fixture, SERVER, 7, 100 + 2048, 1);
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked + shared_fixture_counts(CLIENT)->acked, 0);
    tracker_fixture_packet(&shared_fixture, SERVER, 8, 101, 3);
    assert_int_equal(shared_fixture_counts(CLIENT)->acked, 2);
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 3000, 1);
    tracker_fixture_packet(&shared_fixture, SERVER, 10, 3001, 3);
    assert_int_equal(ue_tracker_packet_state(shared_fixture.tracker, CLIENT, 3001), UE_TRACKER_PACKET_DELIVERED);
}

/* A receiver drops the packets after one with a damaged sequence, and acknowledges no later one. */
static void an_ack_that_does_not_advance_confirms_nothing(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 0, 0);
    tracker_fixture_packet(&shared_fixture, SERVER, 7, 100 + 256, 1);
    tracker_fixture_packet(&shared_fixture, SERVER, 8, 100 + 256, 1);
    tracker_fixture_packet(&shared_fixture, CLIENT, 101, 0, 0);
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 100 + 256, 1);
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked + shared_fixture_counts(CLIENT)->acked, 0);
}

static void the_newest_are_remembered(void **state) {
    for (int64_t id = 0; id < 5000; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 0, 0);
        shared_fixture.length = 0;
    }
    assert_int_equal(ue_tracker_packet_state(shared_fixture.tracker, CLIENT, 4999), UE_TRACKER_PACKET_PENDING);
    assert_int_equal(ue_tracker_packet_state(shared_fixture.tracker, CLIENT, 4999 - 1023), UE_TRACKER_PACKET_PENDING);
    assert_int_equal(ue_tracker_packet_state(shared_fixture.tracker, CLIENT, 100), UE_TRACKER_PACKET_UNKNOWN);
    assert_true(ue_tracker_bytes(shared_fixture.tracker) < UE_TRACKER_BYTES_MAX);
}

/* Memory for what few connections have is allocated when the first one occurs. */
static void a_connection_without_loss_needs_little(void **state) {
    for (int64_t id = 0; id < 10; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, id - 1, 1);
        tracker_fixture_packet(&shared_fixture, SERVER, id, id, 1);
    }
    assert_true(ue_tracker_bytes(shared_fixture.tracker) < 3500);
}

/* ---- acks ---- */

static void packets_are_reported_once_and_in_order(void **state) {
    tracker_fixture_packet(&shared_fixture, SERVER, 50, 99, 0);
    for (int64_t id = 100; id < 104; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 49, 0);
    }
    shared_fixture.length = 0;
    tracker_fixture_packet(&shared_fixture, SERVER, 51, 102, 5);
    tracker_fixture_packet(&shared_fixture, SERVER, 52, 104, 0x17);
    tracker_fixture_expect(&shared_fixture, "6 s packet 51, 2 in flight\n"
                                            "6 s ack 100 in 2 after 40\n"
                                            "6 s nak 101 in 3 after 30\n"
                                            "6 s ack 102 in 4 after 20\n"
                                            "7 s packet 52, 3 in flight\n"
                                            "7 s ack 103 in 5 after 20\n"
                                            "7 s ack 104 unseen\n");
    assert_int_equal(ue_tracker_packet_state(shared_fixture.tracker, CLIENT, 100), UE_TRACKER_PACKET_DELIVERED);
    assert_int_equal(ue_tracker_packet_state(shared_fixture.tracker, CLIENT, 101), UE_TRACKER_PACKET_NOT_DELIVERED);
    assert_int_equal(shared_fixture_counts(CLIENT)->acked, 4);
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked, 1);
}

/* Packets older than the history covers count as not delivered, captured or not (endpoint.md 11). */
static void beyond_the_history_nothing_is_delivered(void **state) {
    tracker_fixture_packet(&shared_fixture, SERVER, 50, 0, 0);
    for (int64_t id = 1; id <= 300; id++) {
        if (id != 20) {
            tracker_fixture_packet(&shared_fixture, CLIENT, id, 49, 0);
            shared_fixture.length = 0;
        }
    }
    shared_fixture.header.history_words = 8;
    for (size_t i = 0; i < UE_HISTORY_WORDS_MAX; i++) {
        shared_fixture.header.history[i] = UINT32_MAX;
    }
    tracker_fixture_packet(&shared_fixture, SERVER, 51, 300, UINT32_MAX);
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked, 44);
    assert_int_equal(shared_fixture_counts(CLIENT)->acked, 256);
    assert_int_equal(ue_tracker_packet_state(shared_fixture.tracker, CLIENT, 44), UE_TRACKER_PACKET_NOT_DELIVERED);
    assert_int_equal(ue_tracker_packet_state(shared_fixture.tracker, CLIENT, 45), UE_TRACKER_PACKET_DELIVERED);
}

/* After packets that the capture lacks, and that may have reported them, nothing is known of older packets. */
static void beyond_the_history_behind_a_missing_packet_nothing_is_known(void **state) {
    tracker_fixture_packet(&shared_fixture, SERVER, 50, 0, 0);
    for (int64_t id = 1; id <= 40; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 49, 0);
        shared_fixture.length = 0;
    }
    tracker_fixture_packet(&shared_fixture, SERVER, 53, 40, UINT32_MAX - 1); /* one history word */
    assert_int_equal(shared_fixture_counts(CLIENT)->acked, 31);
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked, 1);
    assert_int_equal(ue_tracker_packet_state(shared_fixture.tracker, CLIENT, 8), UE_TRACKER_PACKET_PENDING);
    assert_int_equal(ue_tracker_packet_state(shared_fixture.tracker, CLIENT, 40), UE_TRACKER_PACKET_NOT_DELIVERED);
}

/* While a 5.8 sender resets its history, the history begins at acked_history_seq (endpoint.md 14). */
static void a_reset_history_begins_further_back(void **state) {
    tracker_fixture_free(&shared_fixture);
    tracker_fixture_init(&shared_fixture, "5.8", SIZE_MAX / 2);
    tracker_fixture_packet(&shared_fixture, SERVER, 500, 99, 0);
    for (int64_t id = 100; id < 104; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 499, 0);
    }
    shared_fixture.length = 0;
    shared_fixture.header.history_flush = true;
    shared_fixture.header.history_words = 8;
    shared_fixture.header.acked_history_seq = 101;
    tracker_fixture_packet(&shared_fixture, SERVER, 501, 103, 3);
    tracker_fixture_expect(&shared_fixture, "6 s packet 501, 2 in flight\n"
                                            "6 s ack 100 in 2 after 40\n"
                                            "6 s ack 101 in 3 after 30\n"
                                            "6 s nak 102 in 4 after 20\n"
                                            "6 s nak 103 in 5 after 10\n");
}

/* The history then also covers older packets. */
static void a_reset_history_reaches_further_back(void **state) {
    tracker_fixture_free(&shared_fixture);
    tracker_fixture_init(&shared_fixture, "5.8", SIZE_MAX / 2);
    tracker_fixture_packet(&shared_fixture, SERVER, 500, 99, 0);
    for (int64_t id = 100; id < 400; id++) {
        tracker_fixture_packet(&shared_fixture, CLIENT, id, 499, 0);
        shared_fixture.length = 0;
    }
    shared_fixture.header.history_flush = true;
    shared_fixture.header.history_words = 8;
    for (size_t i = 0; i < UE_HISTORY_WORDS_MAX; i++) {
        shared_fixture.header.history[i] = UINT32_MAX;
    }
    shared_fixture.header.acked_history_seq = 299;
    tracker_fixture_packet(&shared_fixture, SERVER, 501, 399, UINT32_MAX);
    assert_int_equal(shared_fixture_counts(CLIENT)->acked, 200);
    assert_int_equal(shared_fixture_counts(CLIENT)->nacked, 100);
    assert_int_equal(ue_tracker_packet_state(shared_fixture.tracker, CLIENT, 100), UE_TRACKER_PACKET_DELIVERED);
    assert_int_equal(ue_tracker_packet_state(shared_fixture.tracker, CLIENT, 300), UE_TRACKER_PACKET_NOT_DELIVERED);
}

/* ---- handshakes ---- */

static void shake(uint16_t server_seq, uint16_t client_seq) {
    tracker_fixture_handshake(&shared_fixture, CLIENT, UE_HANDSHAKE_INITIAL, false, 0, 0);
    tracker_fixture_handshake(&shared_fixture, SERVER, UE_HANDSHAKE_CHALLENGE, false, server_seq, client_seq);
    tracker_fixture_handshake(&shared_fixture, CLIENT, UE_HANDSHAKE_RESPONSE, false, server_seq, client_seq);
    tracker_fixture_handshake(&shared_fixture, SERVER, UE_HANDSHAKE_ACK, false, server_seq, client_seq);
}

static void the_handshake_says_where_numbers_begin(void **state) {
    shake(500, 1027);
    tracker_fixture_reliable(&shared_fixture, 0, (1027 & 1023) + 2);
    tracker_fixture_packet(&shared_fixture, CLIENT, 1029, 500, 1);
    tracker_fixture_expect(&shared_fixture, "1 c handshake 0\n"
                                            "2 s handshake 1 after 10\n"
                                            "3 c handshake 2 after 10\n"
                                            "4 s handshake 3 after 10\n"
                                            "5 c missing 1027-1028\n"
                                            "5 c packet 1029, 3 in flight\n"
                                            "5 c ack 500 unseen\n"
                                            "5 c bunch 0 on 0: 5, 1 to 2 in flight, gap\n");
}

/* Cookies up to 4.17 hold no sequences, and a handshake may be forged: packets take precedence. */
static void packets_disprove_a_cookie(void **state) {
    shake(500, 1027);
    shared_fixture.length = 0;
    tracker_fixture_reliable(&shared_fixture, 0, 7);
    tracker_fixture_packet(&shared_fixture, CLIENT, 9000, 499, 0);
    tracker_fixture_expect(&shared_fixture, "5 c packet 9000, 0 in flight\n5 c bunch 0 on 0: 7, 1 in flight\n");
}

/* ---- packets that cannot be tracked ---- */

static void without_a_number_nothing_is_told(void **state) {
    static const uint8_t bytes[] = {0, 0, 0x28, 0, 0, 0, 0, 0, 0x0c};
    tracker_fixture_feed(&shared_fixture, CLIENT, &(struct ue_packet_ids){0}, bytes, sizeof bytes);
    tracker_fixture_feed(&shared_fixture, CLIENT, &(struct ue_packet_ids){.has_id = true, .packet_id = 77}, bytes,
                         sizeof bytes);
    tracker_fixture_feed(&shared_fixture, CLIENT, &(struct ue_packet_ids){.has_id = true}, bytes, 0);
    tracker_fixture_expect(&shared_fixture, "");
    assert_int_equal(shared_fixture_counts(CLIENT)->packets, 0);
}

static void without_memory_packets_and_copies_are_told(void **state) {
    tracker_fixture_free(&shared_fixture);
    tracker_fixture_init(&shared_fixture, "5.1", SIZE_MAX / 2);
    shared_fixture.memory.limit_bytes = shared_fixture.memory.used_bytes;
    tracker_fixture_reliable(&shared_fixture, 3, 10);
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 0, 0);
    tracker_fixture_packet(&shared_fixture, CLIENT, 100, 0, 0);
    tracker_fixture_expect(&shared_fixture, "1 c packet 100, 0 in flight\n"
                                            "1 c bunch 0 on 3: 10, 0 in flight\n"
                                            "2 c packet 100 again, first in 0, 0 in flight\n");
    assert_int_equal(shared_fixture_counts(CLIENT)->untracked, 2);
}

static void without_any_memory_there_is_no_tracker(void **state) {
    struct tracker_fixture empty;
    tracker_fixture_init(&empty, "5.1", 0);
    assert_null(empty.tracker);
}

#define IN(test) cmocka_unit_test_setup_teardown(test, tracker_fixture_set_up, tracker_fixture_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN(what_is_missing_may_come_late),
        IN(packets_before_the_first_are_judged),
        IN(a_copy_after_256_packets_is_no_late_packet),
        IN(a_copy_after_1000_packets_is_no_late_packet),
        IN(a_packet_after_400_others_is_late),
        IN(a_duplicate_tells_nothing_else),
        IN(other_capture_points_see_the_same_packet),
        IN(numbers_wrap),
        IN(a_malformed_datagram_may_be_a_missing_packet),
        IN(a_damaged_ack_judges_nothing),
        IN(an_ack_that_does_not_advance_confirms_nothing),
        IN(the_newest_are_remembered),
        IN(a_connection_without_loss_needs_little),
        IN(packets_are_reported_once_and_in_order),
        IN(beyond_the_history_nothing_is_delivered),
        IN(beyond_the_history_behind_a_missing_packet_nothing_is_known),
        IN(a_reset_history_begins_further_back),
        IN(a_reset_history_reaches_further_back),
        IN(the_handshake_says_where_numbers_begin),
        IN(packets_disprove_a_cookie),
        IN(without_a_number_nothing_is_told),
        IN(without_memory_packets_and_copies_are_told),
        cmocka_unit_test(without_any_memory_there_is_no_tracker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
