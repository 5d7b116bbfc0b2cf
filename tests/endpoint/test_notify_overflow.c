/* SPDX-License-Identifier: MIT */
/* More verdicts than a history holds (endpoint.md 15.5, 15.6). */
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

/* Client and server of the scenario in which the history overflows, when 1301 has arrived. */
static struct ue_notify t15_server(enum ue_ack_generation generation, struct ue_notify *client, uint32_t moved) {
    struct ue_notify server = notify_make(generation, 999, 2000);
    *client = notify_make(generation, 1999, 1000);
    notify_send_many(client, 302);
    notify_arrive_range(&server, 1000, 1009);
    assert_int_equal(notify_arrive(&server, 1301), moved);
    return server;
}

static void t15_overflow_plain(void **state) {
    (void)state;
    struct ue_notify client;
    struct ue_notify server = t15_server(UE_ACKS_PLAIN, &client, 292);
    struct ue_packet header = notify_send(&server);
    assert_true(header.ack == 1301 && header.history_words == 8);
    notify_take(&client, &header, "1000-1300N 1301A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

static void t15_overflow_flush(void **state) {
    (void)state;
    struct ue_notify client;
    struct ue_notify server = t15_server(UE_ACKS_FLUSH, &client, 236);
    assert_true(ue_notify_is_waiting(&server) && server.flush_seq == 2000);
    assert_true(server.in_seq == 1245 && server.in_ack_seq == 1245);
    struct ue_packet header = notify_send(&server);
    assert_true(header.seq == 2000 && header.ack == 1245 && header.history_words == 8);
    notify_take(&client, &header, "1000-1009A 1010-1245N");
    header = notify_send(&client);
    assert_true(header.seq == 1302 && header.ack == 2000);
    notify_take(&server, &header, "2000A");
    assert_false(ue_notify_is_waiting(&server));
    header = notify_send(&server);
    assert_true(header.ack == 1302 && header.history_words == 2 && header.history[0] == 1 && header.history[1] == 0);
    notify_take(&client, &header, "1246-1301N 1302A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

static void t15_overflow_reset(void **state) {
    (void)state;
    struct ue_notify client;
    struct ue_notify server = t15_server(UE_ACKS_RESET, &client, 292);
    assert_true(ue_notify_is_waiting(&server) && server.in_seq == 1301 && server.in_ack_seq == 1255);
    struct ue_packet header = notify_send(&server);
    assert_true(header.ack == 1301 && header.history_words == 8 && header.history_flush);
    assert_int_equal(header.acked_history_seq, 1255);
    notify_take(&client, &header, "1000-1009A 1010-1301N");
    header = notify_send(&client);
    notify_take(&server, &header, "2000A");
    assert_false(ue_notify_is_waiting(&server));
    assert_int_equal(server.in_ack_seq_ack, 1255); /* InAckSeq of packet 2000, not the AckedSeq of its reset */
    header = notify_send(&server);
    assert_true(header.seq == 2001 && header.ack == 1302 && !header.history_flush);
    assert_true(header.history_words == 2 && header.history[0] == 1 && header.history[1] == 0);
    assert_int_equal(header.acked_history_seq, 1302);
    notify_take(&client, &header, "1302A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

static void t16_overflow_with_nothing_to_say(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify client = notify_make(generation, 1999, 1000);
    struct ue_notify server = notify_make(generation, 999, 2000);
    notify_send_many(&client, 301);
    assert_int_equal(notify_arrive(&server, 1300), 301);
    assert_int_equal(server.in_ack_seq_ack, generation == UE_ACKS_PLAIN ? 999 : 1299);
    struct ue_packet header = notify_send(&server);
    assert_int_equal(header.history_words, generation == UE_ACKS_PLAIN ? 8 : 1);
    notify_take(&client, &header, "1000-1299N 1300A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

static void t42_a_begun_header_leaves_as_it_is(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify client = notify_make(generation, 499, 100);
    struct ue_notify server = notify_make(generation, 99, 500);
    struct ue_packet begun = {0};
    notify_send_many(&client, 256);
    assert_true(ue_notify_write(&server, false, &begun));
    notify_arrive_range(&server, 100, 355);
    assert_false(ue_notify_is_waiting(&server));
    assert_false(ue_notify_write(&server, true, &begun));
    ue_notify_commit(&server);
    assert_true(begun.seq == 500 && begun.ack == 99 && begun.history_words == 1);
    notify_take(&client, &begun, "");
    struct ue_packet header = notify_send(&server);
    assert_true(header.seq == 501 && header.ack == 355 && header.history_words == 8);
    notify_take(&client, &header, "100-355A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

/* 300 packets arrive at a server that says nothing. */
static struct ue_notify t43_server(enum ue_ack_generation generation, struct ue_notify *client) {
    struct ue_notify server = notify_make(generation, 99, 500);
    *client = notify_make(generation, 499, 100);
    notify_send_many(client, 300);
    notify_arrive_range(&server, 100, 355);
    assert_false(ue_notify_is_waiting(&server));
    notify_arrive_range(&server, 356, 399);
    assert_true(ue_notify_is_waiting(&server) && server.in_ack_seq == 355);
    return server;
}

static void t43_300_packets_flush(void **state) {
    (void)state;
    struct ue_notify client;
    struct ue_notify server = t43_server(UE_ACKS_FLUSH, &client);
    struct ue_packet header = notify_send(&server);
    assert_true(header.seq == 500 && header.ack == 355 && header.history_words == 8);
    notify_take(&client, &header, "100-355A");
    header = notify_send(&client);
    assert_int_equal(notify_take(&server, &header, "500A"), 45);
    header = notify_send(&server);
    notify_take(&client, &header, "356-399N 400A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

static void t43_300_packets_reset(void **state) {
    (void)state;
    struct ue_notify client;
    struct ue_notify server = t43_server(UE_ACKS_RESET, &client);
    struct ue_packet header = notify_send(&server);
    assert_true(header.seq == 500 && header.ack == 399 && header.history_flush && header.acked_history_seq == 355);
    notify_take(&client, &header, "100-355A 356-399N");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

/* A header begun before the wait has no reset mark, so the packet behind it is awaited. */
static void a_begun_header_is_not_the_flush(void **state) {
    (void)state;
    struct ue_notify server = notify_make(UE_ACKS_RESET, 99, 500);
    struct ue_packet begun = {0};
    notify_arrive(&server, 100);
    assert_true(ue_notify_write(&server, false, &begun));
    notify_arrive(&server, 400);
    assert_int_equal(server.flush_seq, 501);
    assert_false(ue_notify_write(&server, true, &begun));
    ue_notify_commit(&server);
    notify_take_acks(&server, &(struct ue_packet){.seq = 401, .ack = 500, .history_words = 1, .history = {1}}, "500A");
    assert_true(ue_notify_is_waiting(&server));
    ue_notify_free(&server);
}

/* After a flush, a packet is too far ahead by the sequence up to which the history reached in the flush: 1255 + 256. */
static void the_next_wait_counts_from_the_flushed_history(void **state) {
    (void)state;
    for (uint16_t seq = 1511; seq <= 1512; seq++) {
        struct ue_notify client;
        struct ue_notify server = t15_server(UE_ACKS_RESET, &client, 292);
        notify_send(&server);
        struct ue_packet header = {
            .seq = 1302, .ack = 2000, .history_words = 1, .history = {1}, .acked_history_seq = 2000};
        notify_take(&server, &header, "2000A");
        notify_arrive(&server, seq);
        assert_int_equal(ue_notify_is_waiting(&server), seq == 1512);
        ue_notify_free(&client);
        ue_notify_free(&server);
    }
}

/* Without a begun header it is the next packet, also when others left before. */
static void the_next_packet_is_the_flush(void **state) {
    (void)state;
    struct ue_notify server = notify_make(UE_ACKS_RESET, 99, 500);
    notify_arrive(&server, 100);
    notify_send(&server);
    notify_arrive(&server, 400);
    assert_int_equal(server.flush_seq, 501);
    ue_notify_free(&server);
}

/* What the peer knows is no reason to wait. */
static void known_verdicts_do_not_wait(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify server = notify_make(generation, 99, 500);
    notify_arrive_range(&server, 100, 163);
    notify_send(&server);
    struct ue_packet header = {.seq = 164, .ack = 500, .history_words = 1, .history = {1}};
    notify_take_acks(&server, &header, "500A");
    ue_notify_accept(&server, &header);
    ue_notify_report(&server, 164, false);
    assert_int_equal(ue_notify_unreported(&server), 1);
    assert_int_equal(notify_arrive(&server, 500), 336);
    assert_false(ue_notify_is_waiting(&server));
    ue_notify_free(&server);
}

/* A packet behind the flush that acknowledges all deliveries: the wait goes on, but no verdict needs room. */
static void a_wait_without_deliveries_follows_the_packets(void **state) {
    (void)state;
    struct ue_notify server = notify_make(UE_ACKS_FLUSH, 99, 500);
    notify_arrive(&server, 100);
    notify_send(&server);
    assert_int_equal(notify_arrive(&server, 400), 254);
    assert_true(ue_notify_is_waiting(&server) && server.in_seq == 354);
    struct ue_packet header = {.seq = 700, .ack = 500, .history_words = 1, .history = {1}};
    assert_int_equal(notify_take(&server, &header, "500A"), 346);
    assert_true(ue_notify_is_waiting(&server) && server.in_seq == 700 && server.in_ack_seq == 700);
    ue_notify_free(&server);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        NOTIFY_TEST(t15_overflow_plain),
        NOTIFY_TEST(t15_overflow_flush),
        NOTIFY_TEST(t15_overflow_reset),
        NOTIFY_TESTS(t16_overflow_with_nothing_to_say),
        NOTIFY_TESTS(t42_a_begun_header_leaves_as_it_is),
        NOTIFY_TEST(t43_300_packets_flush),
        NOTIFY_TEST(t43_300_packets_reset),
        NOTIFY_TEST(a_begun_header_is_not_the_flush),
        NOTIFY_TEST(the_next_wait_counts_from_the_flushed_history),
        NOTIFY_TEST(the_next_packet_is_the_flush),
        NOTIFY_TESTS(known_verdicts_do_not_wait),
        NOTIFY_TEST(a_wait_without_deliveries_follows_the_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
