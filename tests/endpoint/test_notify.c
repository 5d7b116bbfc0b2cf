/* SPDX-License-Identifier: MIT */
/* Acknowledgement histories: worked examples (endpoint.md 15).
   Overflows are in test_notify_overflow.c, the laws for every sequence of events in test_notify_laws.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/seq.h>
#include "tests/endpoint/notify_end.h"

#define ONES UINT32_C(0xffffffff)
#define ALL_ONES {ONES, ONES, ONES, ONES, ONES, ONES, ONES, ONES}

static void t1_comparison(void **state) {
    (void)state;
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

static void t2_history_of_1_3_6(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify receiver = notify_make(generation, 0, 1000);
    struct ue_notify sender = notify_make(generation, 999, 1);
    notify_arrive(&receiver, 1);
    assert_int_equal(receiver.history[0], 0x1);
    notify_arrive(&receiver, 3);
    assert_int_equal(receiver.history[0], 0x5);
    notify_arrive(&receiver, 6);
    assert_int_equal(receiver.history[0], 0x29);
    struct ue_packet header = notify_send(&receiver);
    assert_true(header.ack == 6 && header.history_words == 1 && header.history[0] == 0x29);
    notify_send_many(&sender, 6);
    notify_take(&sender, &header, "1A 2N 3A 4-5N 6A");
    assert_int_equal(sender.out_ack_seq, 6);
    assert_int_equal(sender.record.count, 0);
    ue_notify_free(&receiver);
    ue_notify_free(&sender);
}

static void t3_bits_0_and_4(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify n = notify_make(generation, 999, 1);
    notify_send_many(&n, 8);
    notify_take(&n, &(struct ue_packet){.seq = 1000, .ack = 8, .history_words = 1, .history = {0x11}},
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

static void relay(struct ue_notify *from, struct ue_notify *to, uint16_t seq, uint16_t ack, uint32_t history,
                  const char *expected) {
    struct ue_packet header = notify_send(from);
    assert_true(header.seq == seq && header.ack == ack && header.history_words == 1 && header.history[0] == history);
    notify_take(to, &header, expected);
}

static void t4_ping_pong(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify a = notify_make(generation, 200, 100);
    struct ue_notify b = notify_make(generation, 99, 201);
    relay(&a, &b, 100, 200, 0x0, "");
    relay(&b, &a, 201, 100, 0x1, "100A");
    assert_true(a.record.count == 0 && a.in_ack_seq_ack == 200);
    relay(&a, &b, 101, 201, 0x1, "201A");
    assert_int_equal(b.in_ack_seq_ack, 100);
    relay(&b, &a, 202, 101, 0x3, "101A");
    check_sequences(&a, 202, 202, 201, 102, 101, 0);
    check_sequences(&b, 101, 101, 100, 203, 201, 1);
    ue_notify_free(&a);
    ue_notify_free(&b);
}

static void t5_one_answer_for_five(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify n = notify_make(generation, 20, 1);
    for (uint16_t i = 1; i <= 5; i++) {
        notify_arrive(&n, 20 + i);
        notify_send(&n);
    }
    assert_true(n.in_ack_seq_ack == 20 && n.record.count == 5);
    notify_take(&n, &(struct ue_packet){.seq = 26, .ack = 5, .history_words = 1, .history = {1}}, "1-4N 5A");
    check_sequences(&n, 26, 26, 25, 6, 5, 0);
    assert_int_equal(ue_notify_unreported(&n), 1);
    ue_notify_free(&n);
}

static void t6_words(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    static const struct {
        uint16_t unreported, words;
    } rows[] = {{0, 1}, {1, 1}, {32, 1}, {33, 2}, {64, 2}, {65, 3}, {128, 4}, {224, 7}, {225, 8}, {256, 8}, {300, 8}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ue_notify n = notify_make(generation, 0, 1000);
        struct ue_packet header = {0};
        n.in_seq = n.in_ack_seq = rows[i].unreported;
        assert_true(ue_notify_write(&n, false, &header));
        assert_int_equal(header.history_words, rows[i].words);
    }
}

static void t7_header_refresh(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify n = notify_make(generation, 0, 500);
    struct ue_packet header = {.jitter_ms = 77};
    notify_arrive_range(&n, 1, 31);
    assert_true(ue_notify_write(&n, false, &header));
    assert_true(header.seq == 500 && header.ack == 31 && header.history_words == 1);
    notify_arrive(&n, 32);
    assert_true(ue_notify_write(&n, true, &header));
    assert_true(header.ack == 32 && header.history_words == 1 && header.history[0] == ONES);
    notify_arrive(&n, 33);
    assert_false(ue_notify_write(&n, true, &header));
    assert_true(header.ack == 32 && header.history[0] == ONES && header.jitter_ms == 77);
    ue_notify_commit(&n);
    assert_true(n.record.count == 1 && n.record.first_seq == 500 && n.record.acked[n.record.begin] == 32);
    header = notify_send(&n);
    assert_true(header.seq == 501 && header.ack == 33 && header.history_words == 2);
    ue_notify_free(&n);
}

static void t8_delta(void **state) {
    (void)state;
    static const struct {
        uint16_t seq, ack;
        uint32_t delta;
    } rows[] = {{101, 44, 1}, {101, 49, 1}, {101, 50, 0},     {101, 43, 0}, {100, 45, 0},
                {99, 45, 0},  {105, 45, 5}, {8291, 45, 8191}, {8292, 45, 0}};
    struct ue_notify n = notify_make(UE_ACKS_FLUSH, 100, 45);
    notify_send_many(&n, 5);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ue_packet header = {.seq = rows[i].seq, .ack = rows[i].ack, .history_words = 1};
        assert_int_equal(ue_notify_delta(&n, &header), rows[i].delta);
    }
    ue_notify_free(&n);
}

static void t9_t10_the_wrap_with_and_without_loss(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify n = notify_make(generation, 16382, 7);
    static const uint16_t seqs[] = {16383, 0, 1};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(notify_arrive(&n, seqs[i]), 1);
        assert_int_equal(n.history[0], (2u << i) - 1);
    }
    n = notify_make(generation, 16381, 7);
    struct ue_notify sender = notify_make(generation, 6, 16382);
    assert_int_equal(notify_arrive(&n, 2), 5);
    assert_true(n.history[0] == 1 && n.in_ack_seq == 2);
    notify_send_many(&sender, 5);
    struct ue_packet header = notify_send(&n);
    notify_take(&sender, &header, "16382-1N 2A");
    ue_notify_free(&sender);
    ue_notify_free(&n);
}

static void t11_half_window(void **state) {
    (void)state;
    struct ue_notify n = notify_make(UE_ACKS_PLAIN, 0, 7);
    static const struct {
        uint16_t seq, delta;
    } rows[] = {{8191, 8191}, {8192, 0}, {16383, 0}};
    for (size_t i = 0; i < 3; i++) {
        struct ue_packet header = notify_plain(&n, rows[i].seq);
        assert_int_equal(ue_notify_delta(&n, &header), rows[i].delta);
    }
}

static void t12_300_acks_at_once(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    static const struct {
        uint8_t words;
        const char *verdicts;
    } rows[] = {{8, "1-44N 45-300A"}, {1, "1-268N 269-300A"}};
    for (size_t i = 0; i < 2; i++) {
        struct ue_notify n = notify_make(generation, 999, 1);
        notify_send_many(&n, 300);
        struct ue_packet header = {.seq = 1000, .ack = 300, .history_words = rows[i].words, .history = ALL_ONES};
        notify_take(&n, &header, rows[i].verdicts);
        ue_notify_free(&n);
    }
}

static void t13_missing_record(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify n = notify_make(generation, 745, 1000);
    n.out_seq = 1003; /* sent without a record, which no caller can do */
    notify_take(&n, &(struct ue_packet){.seq = 746, .ack = 1002, .history_words = 1, .history = {7}}, "1000-1002A");
    assert_int_equal(n.in_ack_seq_ack, 746);
    assert_int_equal(n.missing_records, 1);
    notify_send(&n);
    notify_take(&n, &(struct ue_packet){.seq = 747, .ack = 1003, .history_words = 1, .history = {1}}, "1003A");
    assert_int_equal(n.missing_records, 1);
    ue_notify_free(&n);
}

/* What is forgotten is repeated: the peer is taken to know less than it does. */
static void t13_without_memory_records_are_forgotten(void **state) {
    (void)state;
    struct ue_notify n = notify_make(UE_ACKS_FLUSH, 20, 1);
    notify_share.limit_bytes = 0;
    for (uint16_t i = 1; i <= 3; i++) {
        notify_arrive(&n, 20 + i);
        notify_send(&n);
    }
    notify_take(&n, &(struct ue_packet){.seq = 24, .ack = 3, .history_words = 1, .history = {7}}, "1-3A");
    assert_true(n.in_ack_seq_ack == 20 && n.missing_records == 1 && ue_notify_unreported(&n) == 4);
    notify_share.limit_bytes = 48; /* 16 entries */
    notify_send_many(&n, 20);
    notify_take(&n, &(struct ue_packet){.seq = 25, .ack = 5, .history_words = 1, .history = {3}}, "4-5A");
    assert_true(n.in_ack_seq_ack == 20 && n.missing_records == 2);
    notify_take(&n, &(struct ue_packet){.seq = 26, .ack = 8, .history_words = 1, .history = {7}}, "6-8A");
    assert_true(n.in_ack_seq_ack == 24 && n.missing_records == 2);
    ue_notify_free(&n);
}

static void t14_explicit_nak(void **state) {
    (void)state;
    struct ue_notify n = notify_make(UE_ACKS_FLUSH, 9, 100);
    for (uint16_t seq = 10; seq <= 12; seq++) {
        struct ue_packet header = notify_plain(&n, seq);
        notify_take_acks(&n, &header, "");
        ue_notify_accept(&n, &header);
        ue_notify_report(&n, seq, seq != 11);
    }
    assert_true(n.history[0] == 5 && n.in_ack_seq == 12);
}

static void hostile_reset_headers_give_each_verdict_once(void **state) {
    (void)state;
    static const struct {
        uint16_t acked_history_seq;
        uint8_t words;
        const char *verdicts;
    } rows[] = {{1299, 200, "1000-1043N 1044-1299A"},
                {999, 8, "1000-1299N"},
                {0, 8, "1000-1299N"},
                {1400, 8, "1000-1043N 1044-1299A"},
                {0xffff, 0, "1000-1299N"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ue_notify n = notify_make(UE_ACKS_RESET, 99, 1000);
        notify_send_many(&n, 300);
        struct ue_packet header = {.seq = 100, .ack = 1299, .history_flush = true, .history = ALL_ONES};
        header.history_words = rows[i].words;
        header.acked_history_seq = rows[i].acked_history_seq;
        notify_take(&n, &header, rows[i].verdicts);
        ue_notify_free(&n);
    }
}

static void t46_an_address_change_is_a_burst_of_losses(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify client = notify_make(generation, 499, 100);
    struct ue_notify server = notify_make(generation, 99, 500);
    notify_send_many(&client, 20);
    notify_arrive_range(&server, 100, 119);
    struct ue_packet header = notify_send(&server);
    notify_take(&client, &header, "100-119A");
    notify_send_many(&client, 6); /* from the new address: lost */
    header = notify_send(&client);
    assert_true(header.seq == 126 && header.ack == 500);
    assert_int_equal(notify_take(&server, &header, "500A"), 7);
    check_sequences(&server, 126, 126, 119, 501, 500, 0);
    header = notify_send(&server);
    notify_take(&client, &header, "120-125N 126A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

static void t47_half_open(void **state) {
    (void)state;
    struct ue_notify n = notify_make(UE_ACKS_FLUSH, 499, 100);
    notify_send_many(&n, 257);
    check_sequences(&n, 499, 499, 499, 357, 99, 257);
    assert_true(ue_notify_window_full(&n, 0) && ue_notify_in_flight(&n) == 257);
    notify_send_many(&n, 20000); /* a peer that never answers costs no more than half the sequences */
    assert_true(n.record.count <= UE_PACKET_SEQ_MAX / 2);
    ue_notify_free(&n);
}

/* endpoint.md 15.7. */
static void the_window_counts_the_packet_to_come(void **state) {
    (void)state;
    struct ue_notify n = notify_make(UE_ACKS_FLUSH, 499, 100);
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
        NOTIFY_TEST(t1_comparison),
        NOTIFY_TESTS(t2_history_of_1_3_6),
        NOTIFY_TESTS(t3_bits_0_and_4),
        NOTIFY_TESTS(t4_ping_pong),
        NOTIFY_TESTS(t5_one_answer_for_five),
        NOTIFY_TESTS(t6_words),
        NOTIFY_TESTS(t7_header_refresh),
        NOTIFY_TEST(t8_delta),
        NOTIFY_TESTS(t9_t10_the_wrap_with_and_without_loss),
        NOTIFY_TEST(t11_half_window),
        NOTIFY_TESTS(t12_300_acks_at_once),
        NOTIFY_TESTS(t13_missing_record),
        NOTIFY_TEST(t13_without_memory_records_are_forgotten),
        NOTIFY_TEST(t14_explicit_nak),
        NOTIFY_TEST(hostile_reset_headers_give_each_verdict_once),
        NOTIFY_TESTS(t46_an_address_change_is_a_burst_of_losses),
        NOTIFY_TEST(t47_half_open),
        NOTIFY_TEST(the_window_counts_the_packet_to_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
