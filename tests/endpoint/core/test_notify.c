/* SPDX-License-Identifier: MIT */
/* Ack histories: worked examples (endpoint.md 10 to 14). Overflows are in test_notify_overflow.c, laws for every
   sequence of events in test_notify_laws.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/seq.h>
#include "tests/endpoint/core/notify_fixture.h"

#define ONES UINT32_C(0xffffffff)
#define ALL_ONES {ONES, ONES, ONES, ONES, ONES, ONES, ONES, ONES}

static void sequences_compare_across_the_wrap(void **state) {
    static const struct {
        uint16_t a, b;
        bool newer;
        int32_t difference;
    } rows[] = {{1, 0, true, 1},         {0, 0, false, 0},        {0, 16383, true, 1},   {16383, 0, false, -1},
                {4, 16378, true, 10},    {16378, 4, false, -10},  {8191, 0, true, 8191}, {8192, 0, false, -8192},
                {0, 8192, false, -8192}, {8193, 0, false, -8191}, {5, 16000, true, 389}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(ue_seq_newer(rows[i].a, rows[i].b), rows[i].newer);
        assert_int_equal(ue_seq_difference(rows[i].a, rows[i].b, UE_PACKET_SEQ_MAX), rows[i].difference);
    }
}

static void the_history_has_a_bit_per_packet(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify receiver = notify_init(generation, 0, 1000);
    struct ue_notify sender = notify_init(generation, 999, 1);
    notify_receive_empty(&receiver, 1);
    assert_int_equal(receiver.history[0], 0x1);
    notify_receive_empty(&receiver, 3);
    assert_int_equal(receiver.history[0], 0x5);
    notify_receive_empty(&receiver, 6);
    assert_int_equal(receiver.history[0], 0x29);
    struct ue_packet header = notify_send(&receiver);
    assert_true(header.ack == 6 && header.history_words == 1 && header.history[0] == 0x29);
    notify_send_many(&sender, 6);
    notify_receive(&sender, &header, "1A 2N 3A 4-5N 6A");
    assert_int_equal(sender.out_ack_seq, 6);
    assert_int_equal(sender.record.count, 0);
    ue_notify_free(&receiver);
    ue_notify_free(&sender);
}

static void history_bits_become_acks_and_naks(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify n = notify_init(generation, 999, 1);
    notify_send_many(&n, 8);
    notify_receive(&n, &(struct ue_packet){.seq = 1000, .ack = 8, .history_words = 1, .history = {0x11}},
                   "1-3N 4A 5-7N 8A");
    ue_notify_free(&n);
}

static void check_sequences(const struct ue_notify *n, uint16_t in, uint16_t in_ack, uint16_t in_ack_ack, uint16_t out,
                            uint16_t out_ack, uint32_t records) {
    assert_int_equal(n->in_seq, in);
    assert_int_equal(n->in_ack_seq, in_ack);
    assert_int_equal(n->in_ack_seq_ack, in_ack_ack);
    assert_int_equal(n->out_seq, out);
    assert_int_equal(n->out_ack_seq, out_ack);
    assert_int_equal(n->record.count, records);
}

static void send_header(struct ue_notify *from, struct ue_notify *to, uint16_t seq, uint16_t ack, uint32_t history,
                        const char *expected) {
    struct ue_packet header = notify_send(from);
    assert_true(header.seq == seq && header.ack == ack && header.history_words == 1 && header.history[0] == history);
    notify_receive(to, &header, expected);
}

static void packets_acknowledge_each_other(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify a = notify_init(generation, 200, 100);
    struct ue_notify b = notify_init(generation, 99, 201);
    send_header(&a, &b, 100, 200, 0x0, "");
    send_header(&b, &a, 201, 100, 0x1, "100A");
    assert_true(a.record.count == 0 && a.in_ack_seq_ack == 200);
    send_header(&a, &b, 101, 201, 0x1, "201A");
    assert_int_equal(b.in_ack_seq_ack, 100);
    send_header(&b, &a, 202, 101, 0x3, "101A");
    check_sequences(&a, 202, 202, 201, 102, 101, 0);
    check_sequences(&b, 101, 101, 100, 203, 201, 1);
    ue_notify_free(&a);
    ue_notify_free(&b);
}

static void one_packet_acknowledges_five(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify n = notify_init(generation, 20, 1);
    for (uint16_t i = 1; i <= 5; i++) {
        notify_receive_empty(&n, 20 + i);
        notify_send(&n);
    }
    assert_true(n.in_ack_seq_ack == 20 && n.record.count == 5);
    notify_receive(&n, &(struct ue_packet){.seq = 26, .ack = 5, .history_words = 1, .history = {1}}, "1-4N 5A");
    check_sequences(&n, 26, 26, 25, 6, 5, 0);
    assert_int_equal(ue_notify_unreported(&n), 1);
    ue_notify_free(&n);
}

static void the_history_has_as_many_words_as_needed(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    static const struct {
        uint16_t unreported, words;
    } rows[] = {{0, 1}, {1, 1}, {32, 1}, {33, 2}, {64, 2}, {65, 3}, {128, 4}, {224, 7}, {225, 8}, {256, 8}, {300, 8}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ue_notify n = notify_init(generation, 0, 1000);
        struct ue_packet header = {0};
        n.in_seq = n.in_ack_seq = rows[i].unreported;
        assert_true(ue_notify_write(&n, false, &header));
        assert_int_equal(header.history_words, rows[i].words);
    }
}

static void a_header_is_refreshed_while_its_history_words_suffice(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify n = notify_init(generation, 0, 500);
    struct ue_packet header = {.jitter_ms = 77};
    notify_receive_range(&n, 1, 31);
    assert_true(ue_notify_write(&n, false, &header));
    assert_true(header.seq == 500 && header.ack == 31 && header.history_words == 1);
    notify_receive_empty(&n, 32);
    assert_true(ue_notify_write(&n, true, &header));
    assert_true(header.ack == 32 && header.history_words == 1 && header.history[0] == ONES);
    notify_receive_empty(&n, 33);
    assert_false(ue_notify_write(&n, true, &header));
    assert_true(header.ack == 32 && header.history[0] == ONES && header.jitter_ms == 77);
    ue_notify_commit(&n);
    assert_true(n.record.count == 1 && n.record.first_seq == 500 && n.record.acked[n.record.begin] == 32);
    header = notify_send(&n);
    assert_true(header.seq == 501 && header.ack == 33 && header.history_words == 2);
    ue_notify_free(&n);
}

static void delta_is_zero_for_old_or_impossible_packets(void **state) {
    static const struct {
        uint16_t seq, ack;
        uint32_t delta;
    } rows[] = {{101, 44, 1}, {101, 49, 1}, {101, 50, 0},     {101, 43, 0}, {100, 45, 0},
                {99, 45, 0},  {105, 45, 5}, {8291, 45, 8191}, {8292, 45, 0}};
    struct ue_notify n = notify_init(UE_ACKS_FLUSH, 100, 45);
    notify_send_many(&n, 5);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ue_packet header = {.seq = rows[i].seq, .ack = rows[i].ack, .history_words = 1};
        assert_int_equal(ue_notify_delta(&n, &header), rows[i].delta);
    }
    ue_notify_free(&n);
}

static void acks_continue_across_the_wrap_with_and_without_loss(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify n = notify_init(generation, 16382, 7);
    static const uint16_t seqs[] = {16383, 0, 1};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(notify_receive_empty(&n, seqs[i]), 1);
        assert_int_equal(n.history[0], (2u << i) - 1);
    }
    n = notify_init(generation, 16381, 7);
    struct ue_notify sender = notify_init(generation, 6, 16382);
    assert_int_equal(notify_receive_empty(&n, 2), 5);
    assert_true(n.history[0] == 1 && n.in_ack_seq == 2);
    notify_send_many(&sender, 5);
    struct ue_packet header = notify_send(&n);
    notify_receive(&sender, &header, "16382-1N 2A");
    ue_notify_free(&sender);
    ue_notify_free(&n);
}

static void half_the_sequences_may_be_in_flight(void **state) {
    struct ue_notify n = notify_init(UE_ACKS_PLAIN, 0, 7);
    static const struct {
        uint16_t seq, delta;
    } rows[] = {{8191, 8191}, {8192, 0}, {16383, 0}};
    for (size_t i = 0; i < 3; i++) {
        struct ue_packet header = notify_empty_packet(&n, rows[i].seq);
        assert_int_equal(ue_notify_delta(&n, &header), rows[i].delta);
    }
}

static void one_history_acknowledges_at_most_256_of_300_packets(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    static const struct {
        uint8_t words;
        const char *acks;
    } rows[] = {{8, "1-44N 45-300A"}, {1, "1-268N 269-300A"}};
    for (size_t i = 0; i < 2; i++) {
        struct ue_notify n = notify_init(generation, 999, 1);
        notify_send_many(&n, 300);
        struct ue_packet header = {.seq = 1000, .ack = 300, .history_words = rows[i].words, .history = ALL_ONES};
        notify_receive(&n, &header, rows[i].acks);
        ue_notify_free(&n);
    }
}

static void a_missing_sent_packet_record_is_counted(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify n = notify_init(generation, 745, 1000);
    n.out_seq = 1003; /* packets without records, which no caller can send */
    notify_receive(&n, &(struct ue_packet){.seq = 746, .ack = 1002, .history_words = 1, .history = {7}}, "1000-1002A");
    assert_int_equal(n.in_ack_seq_ack, 746);
    assert_int_equal(n.missing_records, 1);
    notify_send(&n);
    notify_receive(&n, &(struct ue_packet){.seq = 747, .ack = 1003, .history_words = 1, .history = {1}}, "1003A");
    assert_int_equal(n.missing_records, 1);
    ue_notify_free(&n);
}

/* After a record is dropped, its acks are sent again: the peer is assumed to know less than it does. */
static void without_memory_sent_packet_records_are_dropped(void **state) {
    struct ue_notify n = notify_init(UE_ACKS_FLUSH, 20, 1);
    notify_share.limit_bytes = 0;
    for (uint16_t i = 1; i <= 3; i++) {
        notify_receive_empty(&n, 20 + i);
        notify_send(&n);
    }
    notify_receive(&n, &(struct ue_packet){.seq = 24, .ack = 3, .history_words = 1, .history = {7}}, "1-3A");
    assert_true(n.in_ack_seq_ack == 20 && n.missing_records == 1 && ue_notify_unreported(&n) == 4);
    notify_share.limit_bytes = 48; /* 16 entries */
    notify_send_many(&n, 20);
    notify_receive(&n, &(struct ue_packet){.seq = 25, .ack = 5, .history_words = 1, .history = {3}}, "4-5A");
    assert_true(n.in_ack_seq_ack == 20 && n.missing_records == 2);
    notify_receive(&n, &(struct ue_packet){.seq = 26, .ack = 8, .history_words = 1, .history = {7}}, "6-8A");
    assert_true(n.in_ack_seq_ack == 24 && n.missing_records == 2);
    ue_notify_free(&n);
}

static void a_refused_packet_is_reported_as_not_received(void **state) {
    struct ue_notify n = notify_init(UE_ACKS_FLUSH, 9, 100);
    for (uint16_t seq = 10; seq <= 12; seq++) {
        struct ue_packet header = notify_empty_packet(&n, seq);
        notify_read_acks(&n, &header, "");
        ue_notify_accept(&n, &header);
        ue_notify_report(&n, seq, seq != 11);
    }
    assert_true(n.history[0] == 5 && n.in_ack_seq == 12);
}

static void hostile_reset_headers_report_each_packet_once(void **state) {
    static const struct {
        uint16_t acked_history_seq;
        uint8_t words;
        const char *acks;
    } rows[] = {{1299, 200, "1000-1043N 1044-1299A"},
                {999, 8, "1000-1299N"},
                {0, 8, "1000-1299N"},
                {1400, 8, "1000-1043N 1044-1299A"},
                {0xffff, 0, "1000-1299N"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ue_notify n = notify_init(UE_ACKS_RESET, 99, 1000);
        notify_send_many(&n, 300);
        struct ue_packet header = {.seq = 100, .ack = 1299, .history_flush = true, .history = ALL_ONES};
        header.history_words = rows[i].words;
        header.acked_history_seq = rows[i].acked_history_seq;
        notify_receive(&n, &header, rows[i].acks);
        ue_notify_free(&n);
    }
}

static void packets_lost_during_an_address_change_are_reported(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify client = notify_init(generation, 499, 100);
    struct ue_notify server = notify_init(generation, 99, 500);
    notify_send_many(&client, 20);
    notify_receive_range(&server, 100, 119);
    struct ue_packet header = notify_send(&server);
    notify_receive(&client, &header, "100-119A");
    notify_send_many(&client, 6); /* sent from the new address and lost */
    header = notify_send(&client);
    assert_true(header.seq == 126 && header.ack == 500);
    assert_int_equal(notify_receive(&server, &header, "500A"), 7);
    check_sequences(&server, 126, 126, 119, 501, 500, 0);
    header = notify_send(&server);
    notify_receive(&client, &header, "120-125N 126A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

static void packets_in_flight_without_an_answer_are_limited(void **state) {
    struct ue_notify n = notify_init(UE_ACKS_FLUSH, 499, 100);
    notify_send_many(&n, 257);
    check_sequences(&n, 499, 499, 499, 357, 99, 257);
    assert_true(ue_notify_window_full(&n, 0) && ue_notify_in_flight(&n) == 257);
    notify_send_many(&n, 20000); /* records are bounded by half the sequences, even if the peer never answers */
    assert_true(n.record.count <= UE_PACKET_SEQ_MAX / 2);
    ue_notify_free(&n);
}

/* endpoint.md 28. */
static void the_window_counts_the_next_packet(void **state) {
    struct ue_notify n = notify_init(UE_ACKS_FLUSH, 499, 100);
    assert_true(!ue_notify_window_full(&n, 255) && ue_notify_window_full(&n, 256));
    notify_send(&n);
    assert_true(!ue_notify_window_full(&n, 254) && ue_notify_window_full(&n, 255));
    notify_send_many(&n, 254);
    assert_true(!ue_notify_window_full(&n, 0) && ue_notify_window_full(&n, 1));
    notify_send(&n);
    assert_true(ue_notify_window_full(&n, 0) && ue_notify_window_full(&n, UINT32_MAX));
    ue_notify_free(&n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        NOTIFY_TEST(sequences_compare_across_the_wrap),
        NOTIFY_TESTS(the_history_has_a_bit_per_packet),
        NOTIFY_TESTS(history_bits_become_acks_and_naks),
        NOTIFY_TESTS(packets_acknowledge_each_other),
        NOTIFY_TESTS(one_packet_acknowledges_five),
        NOTIFY_TESTS(the_history_has_as_many_words_as_needed),
        NOTIFY_TESTS(a_header_is_refreshed_while_its_history_words_suffice),
        NOTIFY_TEST(delta_is_zero_for_old_or_impossible_packets),
        NOTIFY_TESTS(acks_continue_across_the_wrap_with_and_without_loss),
        NOTIFY_TEST(half_the_sequences_may_be_in_flight),
        NOTIFY_TESTS(one_history_acknowledges_at_most_256_of_300_packets),
        NOTIFY_TESTS(a_missing_sent_packet_record_is_counted),
        NOTIFY_TEST(without_memory_sent_packet_records_are_dropped),
        NOTIFY_TEST(a_refused_packet_is_reported_as_not_received),
        NOTIFY_TEST(hostile_reset_headers_report_each_packet_once),
        NOTIFY_TESTS(packets_lost_during_an_address_change_are_reported),
        NOTIFY_TEST(packets_in_flight_without_an_answer_are_limited),
        NOTIFY_TEST(the_window_counts_the_next_packet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
