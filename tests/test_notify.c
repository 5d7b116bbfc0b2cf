/* SPDX-License-Identifier: MIT */
/* Acknowledgement histories: the numbers of the specification (spec 6.3; scenarios T1 to T16, T42, T43, T46, T47). The
   laws that hold for every sequence of events are in test_notify_laws.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libcodec/seq.h"
#include "tools/endpoint/notify.h"

#define ONES UINT32_C(0xffffffff)
#define ALL_ONES                                                                                                       \
    { ONES, ONES, ONES, ONES, ONES, ONES, ONES, ONES }

static uint8_t region[256 * 1024];
static struct ue_share share;

static int set_up(void **state) {
    (void)state;
    ue_share_init(&share, ue_pool_init(region, sizeof region), SIZE_MAX);
    return 0;
}

/* Each test frees what it made. */
static int tear_down(void **state) {
    (void)state;
    return share.used_bytes == 0 ? 0 : -1;
}

static struct ue_notify notify(enum ue_ack_generation generation, uint16_t in, uint16_t out) {
    struct ue_notify n;
    ue_notify_init(&n, generation, in, out, &share);
    return n;
}

/* The header of a packet that leaves at once. */
static struct ue_packet send(struct ue_notify *n) {
    struct ue_packet header = {0};
    assert_true(ue_notify_write(n, false, &header));
    ue_notify_commit(n);
    return header;
}

static void send_many(struct ue_notify *n, unsigned count) {
    while (count-- > 0) {
        send(n);
    }
}

static void append_run(char *text, size_t size_bytes, unsigned first, unsigned last, bool delivered) {
    size_t used = strlen(text);
    const char *gap = used != 0 ? " " : "";
    if (first == last) {
        snprintf(text + used, size_bytes - used, "%s%u%c", gap, first, delivered ? 'A' : 'N');
    } else {
        snprintf(text + used, size_bytes - used, "%s%u-%u%c", gap, first, last, delivered ? 'A' : 'N');
    }
}

/* Takes the verdicts of a header and compares them as runs: "1-44N 45-300A", "" for none. */
static void take_acks(struct ue_notify *n, const struct ue_packet *header, const char *expected) {
    char text[256] = "";
    struct ue_verdicts verdicts;
    uint16_t first = 0;
    uint16_t last = 0;
    uint16_t seq;
    bool delivered = false;
    bool now;
    unsigned count = 0;
    assert_true(ue_notify_delta(n, header) > 0);
    ue_notify_begin_acks(n, header, &verdicts);
    for (; ue_verdicts_next(&verdicts, &seq, &now); last = seq, delivered = now, count++) {
        if (count > 0 && now != delivered) {
            append_run(text, sizeof text, first, last, delivered);
        }
        first = count == 0 || now != delivered ? seq : first;
    }
    if (count > 0) {
        append_run(text, sizeof text, first, last, delivered);
    }
    ue_notify_end_acks(n, header);
    assert_string_equal(text, expected);
}

/* Takes a packet with all that belongs to it; returns the move of the full id. */
static uint32_t take(struct ue_notify *n, const struct ue_packet *header, const char *expected) {
    take_acks(n, header, expected);
    uint32_t moved = ue_notify_accept(n, header);
    if (!ue_notify_is_waiting(n)) {
        ue_notify_judge(n, header->seq, true);
    }
    return moved;
}

/* A packet without news about own ones. */
static struct ue_packet plain(const struct ue_notify *n, uint16_t seq) {
    return (struct ue_packet){.seq = seq, .ack = n->out_ack_seq, .history_words = 1};
}

static uint32_t arrive(struct ue_notify *n, uint16_t seq) {
    struct ue_packet header = plain(n, seq);
    return take(n, &header, "");
}

static void arrive_range(struct ue_notify *n, uint16_t first, uint16_t last) {
    for (uint16_t seq = first; seq <= last; seq++) {
        arrive(n, seq);
    }
}

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
    struct ue_notify receiver = notify(generation, 0, 1000);
    struct ue_notify sender = notify(generation, 999, 1);
    arrive(&receiver, 1);
    assert_int_equal(receiver.history[0], 0x1);
    arrive(&receiver, 3);
    assert_int_equal(receiver.history[0], 0x5);
    arrive(&receiver, 6);
    assert_int_equal(receiver.history[0], 0x29);
    struct ue_packet header = send(&receiver);
    assert_true(header.ack == 6 && header.history_words == 1 && header.history[0] == 0x29);
    send_many(&sender, 6);
    take(&sender, &header, "1A 2N 3A 4-5N 6A");
    assert_int_equal(sender.out_ack_seq, 6);
    assert_int_equal(sender.record.count, 0);
    ue_notify_free(&receiver);
    ue_notify_free(&sender);
}

static void t3_bits_0_and_4(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify n = notify(generation, 999, 1);
    send_many(&n, 8);
    take(&n, &(struct ue_packet){.seq = 1000, .ack = 8, .history_words = 1, .history = {0x11}}, "1-3N 4A 5-7N 8A");
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
    struct ue_packet header = send(from);
    assert_true(header.seq == seq && header.ack == ack && header.history_words == 1 && header.history[0] == history);
    take(to, &header, expected);
}

static void t4_ping_pong(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify a = notify(generation, 200, 100);
    struct ue_notify b = notify(generation, 99, 201);
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
    struct ue_notify n = notify(generation, 20, 1);
    for (uint16_t i = 1; i <= 5; i++) {
        arrive(&n, 20 + i);
        send(&n);
    }
    assert_true(n.in_ack_seq_ack == 20 && n.record.count == 5);
    take(&n, &(struct ue_packet){.seq = 26, .ack = 5, .history_words = 1, .history = {1}}, "1-4N 5A");
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
        struct ue_notify n = notify(generation, 0, 1000);
        struct ue_packet header = {0};
        n.in_seq = n.in_ack_seq = rows[i].unreported;
        assert_true(ue_notify_write(&n, false, &header));
        assert_int_equal(header.history_words, rows[i].words);
    }
}

static void t7_header_refresh(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify n = notify(generation, 0, 500);
    struct ue_packet header = {.jitter_ms = 77};
    arrive_range(&n, 1, 31);
    assert_true(ue_notify_write(&n, false, &header));
    assert_true(header.seq == 500 && header.ack == 31 && header.history_words == 1);
    arrive(&n, 32);
    assert_true(ue_notify_write(&n, true, &header));
    assert_true(header.ack == 32 && header.history_words == 1 && header.history[0] == ONES);
    arrive(&n, 33);
    assert_false(ue_notify_write(&n, true, &header));
    assert_true(header.ack == 32 && header.history[0] == ONES && header.jitter_ms == 77);
    ue_notify_commit(&n);
    assert_true(n.record.count == 1 && n.record.first_seq == 500 && n.record.acked[n.record.begin] == 32);
    header = send(&n);
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
    struct ue_notify n = notify(UE_ACKS_FLUSH, 100, 45);
    send_many(&n, 5);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ue_packet header = {.seq = rows[i].seq, .ack = rows[i].ack, .history_words = 1};
        assert_int_equal(ue_notify_delta(&n, &header), rows[i].delta);
    }
    ue_notify_free(&n);
}

static void t9_t10_the_wrap_with_and_without_loss(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify n = notify(generation, 16382, 7);
    static const uint16_t seqs[] = {16383, 0, 1};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(arrive(&n, seqs[i]), 1);
        assert_int_equal(n.history[0], (2u << i) - 1);
    }
    n = notify(generation, 16381, 7);
    struct ue_notify sender = notify(generation, 6, 16382);
    assert_int_equal(arrive(&n, 2), 5);
    assert_true(n.history[0] == 1 && n.in_ack_seq == 2);
    send_many(&sender, 5);
    struct ue_packet header = send(&n);
    take(&sender, &header, "16382-1N 2A");
    ue_notify_free(&sender);
    ue_notify_free(&n);
}

static void t11_half_window(void **state) {
    (void)state;
    struct ue_notify n = notify(UE_ACKS_PLAIN, 0, 7);
    static const struct { uint16_t seq, delta; } rows[] = {{8191, 8191}, {8192, 0}, {16383, 0}};
    for (size_t i = 0; i < 3; i++) {
        struct ue_packet header = plain(&n, rows[i].seq);
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
        struct ue_notify n = notify(generation, 999, 1);
        send_many(&n, 300);
        struct ue_packet header = {.seq = 1000, .ack = 300, .history_words = rows[i].words, .history = ALL_ONES};
        take(&n, &header, rows[i].verdicts);
        ue_notify_free(&n);
    }
}

static void t13_missing_record(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify n = notify(generation, 745, 1000);
    n.out_seq = 1003; /* sent without a record, which no caller can do */
    take(&n, &(struct ue_packet){.seq = 746, .ack = 1002, .history_words = 1, .history = {7}}, "1000-1002A");
    assert_int_equal(n.in_ack_seq_ack, 746);
    assert_int_equal(n.missing_records, 1);
    send(&n);
    take(&n, &(struct ue_packet){.seq = 747, .ack = 1003, .history_words = 1, .history = {1}}, "1003A");
    assert_int_equal(n.missing_records, 1);
    ue_notify_free(&n);
}

/* What is forgotten is repeated: the peer is taken to know less than it does. */
static void t13_without_memory_records_are_forgotten(void **state) {
    (void)state;
    struct ue_notify n = notify(UE_ACKS_FLUSH, 20, 1);
    share.limit_bytes = 0;
    for (uint16_t i = 1; i <= 3; i++) {
        arrive(&n, 20 + i);
        send(&n);
    }
    take(&n, &(struct ue_packet){.seq = 24, .ack = 3, .history_words = 1, .history = {7}}, "1-3A");
    assert_true(n.in_ack_seq_ack == 20 && n.missing_records == 1 && ue_notify_unreported(&n) == 4);
    share.limit_bytes = 48; /* 16 entries */
    send_many(&n, 20);
    take(&n, &(struct ue_packet){.seq = 25, .ack = 5, .history_words = 1, .history = {3}}, "4-5A");
    assert_true(n.in_ack_seq_ack == 20 && n.missing_records == 2);
    take(&n, &(struct ue_packet){.seq = 26, .ack = 8, .history_words = 1, .history = {7}}, "6-8A");
    assert_true(n.in_ack_seq_ack == 24 && n.missing_records == 2);
    ue_notify_free(&n);
}

static void t14_explicit_nak(void **state) {
    (void)state;
    struct ue_notify n = notify(UE_ACKS_FLUSH, 9, 100);
    for (uint16_t seq = 10; seq <= 12; seq++) {
        struct ue_packet header = plain(&n, seq);
        take_acks(&n, &header, "");
        ue_notify_accept(&n, &header);
        ue_notify_judge(&n, seq, seq != 11);
    }
    assert_true(n.history[0] == 5 && n.in_ack_seq == 12);
}

/* Client and server as in T15 when 1301 has arrived. */
static struct ue_notify t15_server(enum ue_ack_generation generation, struct ue_notify *client, uint32_t moved) {
    struct ue_notify server = notify(generation, 999, 2000);
    *client = notify(generation, 1999, 1000);
    send_many(client, 302);
    arrive_range(&server, 1000, 1009);
    assert_int_equal(arrive(&server, 1301), moved);
    return server;
}

static void t15_overflow_plain(void **state) {
    (void)state;
    struct ue_notify client;
    struct ue_notify server = t15_server(UE_ACKS_PLAIN, &client, 292);
    struct ue_packet header = send(&server);
    assert_true(header.ack == 1301 && header.history_words == 8);
    take(&client, &header, "1000-1300N 1301A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

static void t15_overflow_flush(void **state) {
    (void)state;
    struct ue_notify client;
    struct ue_notify server = t15_server(UE_ACKS_FLUSH, &client, 236);
    assert_true(ue_notify_is_waiting(&server) && server.flush_seq == 2000);
    assert_true(server.in_seq == 1245 && server.in_ack_seq == 1245);
    struct ue_packet header = send(&server);
    assert_true(header.seq == 2000 && header.ack == 1245 && header.history_words == 8);
    take(&client, &header, "1000-1009A 1010-1245N");
    header = send(&client);
    assert_true(header.seq == 1302 && header.ack == 2000);
    take(&server, &header, "2000A");
    assert_false(ue_notify_is_waiting(&server));
    header = send(&server);
    assert_true(header.ack == 1302 && header.history_words == 2 && header.history[0] == 1 && header.history[1] == 0);
    take(&client, &header, "1246-1301N 1302A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

static void t15_overflow_reset(void **state) {
    (void)state;
    struct ue_notify client;
    struct ue_notify server = t15_server(UE_ACKS_RESET, &client, 292);
    assert_true(ue_notify_is_waiting(&server) && server.in_seq == 1301 && server.in_ack_seq == 1255);
    struct ue_packet header = send(&server);
    assert_true(header.ack == 1301 && header.history_words == 8 && header.history_flush);
    assert_int_equal(header.acked_history_seq, 1255);
    take(&client, &header, "1000-1009A 1010-1301N");
    header = send(&client);
    take(&server, &header, "2000A");
    assert_false(ue_notify_is_waiting(&server));
    header = send(&server);
    assert_true(header.seq == 2001 && header.ack == 1302 && !header.history_flush);
    assert_int_equal(header.acked_history_seq, 1302);
    take(&client, &header, "1302A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

static void t16_overflow_with_nothing_to_say(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify client = notify(generation, 1999, 1000);
    struct ue_notify server = notify(generation, 999, 2000);
    send_many(&client, 301);
    assert_int_equal(arrive(&server, 1300), 301);
    assert_int_equal(server.in_ack_seq_ack, generation == UE_ACKS_PLAIN ? 999 : 1299);
    struct ue_packet header = send(&server);
    assert_int_equal(header.history_words, generation == UE_ACKS_PLAIN ? 8 : 1);
    take(&client, &header, "1000-1299N 1300A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

static void t42_a_begun_header_leaves_as_it_is(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify client = notify(generation, 499, 100);
    struct ue_notify server = notify(generation, 99, 500);
    struct ue_packet begun = {0};
    send_many(&client, 256);
    assert_true(ue_notify_write(&server, false, &begun));
    arrive_range(&server, 100, 355);
    assert_false(ue_notify_is_waiting(&server));
    assert_false(ue_notify_write(&server, true, &begun));
    ue_notify_commit(&server);
    assert_true(begun.seq == 500 && begun.ack == 99 && begun.history_words == 1);
    take(&client, &begun, "");
    struct ue_packet header = send(&server);
    assert_true(header.seq == 501 && header.ack == 355 && header.history_words == 8);
    take(&client, &header, "100-355A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

/* 300 packets arrive at a server that says nothing. */
static struct ue_notify t43_server(enum ue_ack_generation generation, struct ue_notify *client) {
    struct ue_notify server = notify(generation, 99, 500);
    *client = notify(generation, 499, 100);
    send_many(client, 300);
    arrive_range(&server, 100, 355);
    assert_false(ue_notify_is_waiting(&server));
    arrive_range(&server, 356, 399);
    assert_true(ue_notify_is_waiting(&server) && server.in_ack_seq == 355);
    return server;
}

static void t43_300_packets_flush(void **state) {
    (void)state;
    struct ue_notify client;
    struct ue_notify server = t43_server(UE_ACKS_FLUSH, &client);
    struct ue_packet header = send(&server);
    assert_true(header.seq == 500 && header.ack == 355 && header.history_words == 8);
    take(&client, &header, "100-355A");
    header = send(&client);
    assert_int_equal(take(&server, &header, "500A"), 45);
    header = send(&server);
    take(&client, &header, "356-399N 400A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

static void t43_300_packets_reset(void **state) {
    (void)state;
    struct ue_notify client;
    struct ue_notify server = t43_server(UE_ACKS_RESET, &client);
    struct ue_packet header = send(&server);
    assert_true(header.seq == 500 && header.ack == 399 && header.history_flush && header.acked_history_seq == 355);
    take(&client, &header, "100-355A 356-399N");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

/* A header begun before the wait has no reset mark, so the packet behind it is awaited. */
static void a_begun_header_is_not_the_flush(void **state) {
    (void)state;
    struct ue_notify server = notify(UE_ACKS_RESET, 99, 500);
    struct ue_packet begun = {0};
    arrive(&server, 100);
    assert_true(ue_notify_write(&server, false, &begun));
    arrive(&server, 400);
    assert_int_equal(server.flush_seq, 501);
    assert_false(ue_notify_write(&server, true, &begun));
    ue_notify_commit(&server);
    take_acks(&server, &(struct ue_packet){.seq = 401, .ack = 500, .history_words = 1, .history = {1}}, "500A");
    assert_true(ue_notify_is_waiting(&server));
    ue_notify_free(&server);
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
        struct ue_notify n = notify(UE_ACKS_RESET, 99, 1000);
        send_many(&n, 300);
        struct ue_packet header = {.seq = 100, .ack = 1299, .history_flush = true, .history = ALL_ONES};
        header.history_words = rows[i].words;
        header.acked_history_seq = rows[i].acked_history_seq;
        take(&n, &header, rows[i].verdicts);
        ue_notify_free(&n);
    }
}

static void t46_an_address_change_is_a_burst_of_losses(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify client = notify(generation, 499, 100);
    struct ue_notify server = notify(generation, 99, 500);
    send_many(&client, 20);
    arrive_range(&server, 100, 119);
    struct ue_packet header = send(&server);
    take(&client, &header, "100-119A");
    send_many(&client, 6); /* from the new address: lost */
    header = send(&client);
    assert_true(header.seq == 126 && header.ack == 500);
    assert_int_equal(take(&server, &header, "500A"), 7);
    check_sequences(&server, 126, 126, 119, 501, 500, 0);
    header = send(&server);
    take(&client, &header, "120-125N 126A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

static void t47_half_open(void **state) {
    (void)state;
    struct ue_notify n = notify(UE_ACKS_FLUSH, 499, 100);
    send_many(&n, 257);
    check_sequences(&n, 499, 499, 499, 357, 99, 257);
    assert_true(ue_notify_window_full(&n, 0) && ue_notify_in_flight(&n) == 257);
    send_many(&n, 20000); /* a peer that never answers costs no more than half the sequences */
    assert_true(n.record.count <= UE_PACKET_SEQ_MAX / 2);
    ue_notify_free(&n);
}

/* Spec 6.3.7. */
static void the_window_counts_the_packet_to_come(void **state) {
    (void)state;
    struct ue_notify n = notify(UE_ACKS_FLUSH, 499, 100);
    assert_true(!ue_notify_window_full(&n, 255) && ue_notify_window_full(&n, 256));
    send(&n);
    assert_true(!ue_notify_window_full(&n, 254) && ue_notify_window_full(&n, 255));
    send_many(&n, 254);
    assert_true(!ue_notify_window_full(&n, 0) && ue_notify_window_full(&n, 1));
    send(&n);
    assert_true(ue_notify_window_full(&n, 0) && ue_notify_window_full(&n, UINT32_MAX));
    ue_notify_free(&n);
}

static enum ue_ack_generation generations[] = {UE_ACKS_PLAIN, UE_ACKS_FLUSH, UE_ACKS_RESET};

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define TEST_IN(name, i, letter)                                                                                       \
    { #name " (" letter ")", name, set_up, tear_down, &generations[i] }
/* A scenario whose numbers hold for every generation. */
#define EACH(name) TEST_IN(name, 0, "A"), TEST_IN(name, 1, "B"), TEST_IN(name, 2, "C")

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(t1_comparison),
        EACH(t2_history_of_1_3_6),
        EACH(t3_bits_0_and_4),
        EACH(t4_ping_pong),
        EACH(t5_one_answer_for_five),
        EACH(t6_words),
        EACH(t7_header_refresh),
        TEST(t8_delta),
        EACH(t9_t10_the_wrap_with_and_without_loss),
        TEST(t11_half_window),
        EACH(t12_300_acks_at_once),
        EACH(t13_missing_record),
        TEST(t13_without_memory_records_are_forgotten),
        TEST(t14_explicit_nak),
        TEST(t15_overflow_plain),
        TEST(t15_overflow_flush),
        TEST(t15_overflow_reset),
        EACH(t16_overflow_with_nothing_to_say),
        EACH(t42_a_begun_header_leaves_as_it_is),
        TEST(t43_300_packets_flush),
        TEST(t43_300_packets_reset),
        TEST(a_begun_header_is_not_the_flush),
        TEST(hostile_reset_headers_give_each_verdict_once),
        EACH(t46_an_address_change_is_a_burst_of_losses),
        TEST(t47_half_open),
        TEST(the_window_counts_the_packet_to_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
