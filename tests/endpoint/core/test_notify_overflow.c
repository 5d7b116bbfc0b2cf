/* SPDX-License-Identifier: MIT */
/* More unreported packets than a history holds (endpoint.md 13, 14). */
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

/* Client and server of an overflow of the history, after packet 1301 arrived. */
static struct ue_notify overflowed_server(enum ue_ack_generation generation, struct ue_notify *client, uint32_t moved) {
    struct ue_notify server = notify_init(generation, 999, 2000);
    *client = notify_init(generation, 1999, 1000);
    notify_send_many(client, 302);
    notify_receive_range(&server, 1000, 1009);
    assert_int_equal(notify_receive_empty(&server, 1301), moved);
    return server;
}

static void an_overflow_in_generation_a_loses_acks(void **state) {
    struct ue_notify client;
    struct ue_notify server = overflowed_server(UE_ACKS_PLAIN, &client, 292);
    struct ue_packet header = notify_send(&server);
    assert_true(header.ack == 1301 && header.history_words == 8);
    notify_receive(&client, &header, "1000-1300N 1301A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

static void an_overflow_in_generation_b_waits_for_the_flush(void **state) {
    struct ue_notify client;
    struct ue_notify server = overflowed_server(UE_ACKS_FLUSH, &client, 236);
    assert_true(ue_notify_is_waiting(&server) && server.flush_seq == 2000);
    assert_true(server.in_seq == 1245 && server.in_ack_seq == 1245);
    struct ue_packet header = notify_send(&server);
    assert_true(header.seq == 2000 && header.ack == 1245 && header.history_words == 8);
    notify_receive(&client, &header, "1000-1009A 1010-1245N");
    header = notify_send(&client);
    assert_true(header.seq == 1302 && header.ack == 2000);
    notify_receive(&server, &header, "2000A");
    assert_false(ue_notify_is_waiting(&server));
    header = notify_send(&server);
    assert_true(header.ack == 1302 && header.history_words == 2 && header.history[0] == 1 && header.history[1] == 0);
    notify_receive(&client, &header, "1246-1301N 1302A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

static void an_overflow_in_generation_c_waits_for_the_reset(void **state) {
    struct ue_notify client;
    struct ue_notify server = overflowed_server(UE_ACKS_RESET, &client, 292);
    assert_true(ue_notify_is_waiting(&server) && server.in_seq == 1301 && server.in_ack_seq == 1255);
    struct ue_packet header = notify_send(&server);
    assert_true(header.ack == 1301 && header.history_words == 8 && header.history_flush);
    assert_int_equal(header.acked_history_seq, 1255);
    notify_receive(&client, &header, "1000-1009A 1010-1301N");
    header = notify_send(&client);
    notify_receive(&server, &header, "2000A");
    assert_false(ue_notify_is_waiting(&server));
    assert_int_equal(server.in_ack_seq_ack, 1255); /* InAckSeq of packet 2000, not the AckedSeq of its reset */
    header = notify_send(&server);
    assert_true(header.seq == 2001 && header.ack == 1302 && !header.history_flush);
    assert_true(header.history_words == 2 && header.history[0] == 1 && header.history[1] == 0);
    assert_int_equal(header.acked_history_seq, 1302);
    notify_receive(&client, &header, "1302A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

static void a_gap_without_deliveries_causes_no_wait(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify client = notify_init(generation, 1999, 1000);
    struct ue_notify server = notify_init(generation, 999, 2000);
    notify_send_many(&client, 301);
    assert_int_equal(notify_receive_empty(&server, 1300), 301);
    assert_int_equal(server.in_ack_seq_ack, generation == UE_ACKS_PLAIN ? 999 : 1299);
    struct ue_packet header = notify_send(&server);
    assert_int_equal(header.history_words, generation == UE_ACKS_PLAIN ? 8 : 1);
    notify_receive(&client, &header, "1000-1299N 1300A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

static void a_pending_header_is_sent_unchanged(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify client = notify_init(generation, 499, 100);
    struct ue_notify server = notify_init(generation, 99, 500);
    struct ue_packet pending = {0};
    notify_send_many(&client, 256);
    assert_true(ue_notify_write(&server, false, &pending));
    notify_receive_range(&server, 100, 355);
    assert_false(ue_notify_is_waiting(&server));
    assert_false(ue_notify_write(&server, true, &pending));
    ue_notify_commit(&server);
    assert_true(pending.seq == 500 && pending.ack == 99 && pending.history_words == 1);
    notify_receive(&client, &pending, "");
    struct ue_packet header = notify_send(&server);
    assert_true(header.seq == 501 && header.ack == 355 && header.history_words == 8);
    notify_receive(&client, &header, "100-355A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

/* 300 packets arrive at a server that sends nothing. */
static struct ue_notify silent_server(enum ue_ack_generation generation, struct ue_notify *client) {
    struct ue_notify server = notify_init(generation, 99, 500);
    *client = notify_init(generation, 499, 100);
    notify_send_many(client, 300);
    notify_receive_range(&server, 100, 355);
    assert_false(ue_notify_is_waiting(&server));
    notify_receive_range(&server, 356, 399);
    assert_true(ue_notify_is_waiting(&server) && server.in_ack_seq == 355);
    return server;
}

static void a_silent_server_flushes_after_300_packets(void **state) {
    struct ue_notify client;
    struct ue_notify server = silent_server(UE_ACKS_FLUSH, &client);
    struct ue_packet header = notify_send(&server);
    assert_true(header.seq == 500 && header.ack == 355 && header.history_words == 8);
    notify_receive(&client, &header, "100-355A");
    header = notify_send(&client);
    assert_int_equal(notify_receive(&server, &header, "500A"), 45);
    header = notify_send(&server);
    notify_receive(&client, &header, "356-399N 400A");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

static void a_silent_server_resets_after_300_packets(void **state) {
    struct ue_notify client;
    struct ue_notify server = silent_server(UE_ACKS_RESET, &client);
    struct ue_packet header = notify_send(&server);
    assert_true(header.seq == 500 && header.ack == 399 && header.history_flush && header.acked_history_seq == 355);
    notify_receive(&client, &header, "100-355A 356-399N");
    ue_notify_free(&client);
    ue_notify_free(&server);
}

/* A header written before the wait has no reset mark, so the server waits for the ack of the next packet. */
static void a_pending_header_does_not_flush(void **state) {
    struct ue_notify server = notify_init(UE_ACKS_RESET, 99, 500);
    struct ue_packet pending = {0};
    notify_receive_empty(&server, 100);
    assert_true(ue_notify_write(&server, false, &pending));
    notify_receive_empty(&server, 400);
    assert_int_equal(server.flush_seq, 501);
    assert_false(ue_notify_write(&server, true, &pending));
    ue_notify_commit(&server);
    notify_read_acks(&server, &(struct ue_packet){.seq = 401, .ack = 500, .history_words = 1, .history = {1}}, "500A");
    assert_true(ue_notify_is_waiting(&server));
    ue_notify_free(&server);
}

/* After a flush, the distance at which a packet causes the next wait is measured from the end of the flushed history:
   1255 + 256. */
static void the_next_wait_is_measured_from_the_flushed_history(void **state) {
    for (uint16_t seq = 1511; seq <= 1512; seq++) {
        struct ue_notify client;
        struct ue_notify server = overflowed_server(UE_ACKS_RESET, &client, 292);
        notify_send(&server);
        struct ue_packet header = {
            .seq = 1302, .ack = 2000, .history_words = 1, .history = {1}, .acked_history_seq = 2000};
        notify_receive(&server, &header, "2000A");
        notify_receive_empty(&server, seq);
        assert_int_equal(ue_notify_is_waiting(&server), seq == 1512);
        ue_notify_free(&client);
        ue_notify_free(&server);
    }
}

/* Without a pending header the next packet is the flush, also after earlier packets. */
static void without_a_pending_header_the_next_packet_flushes(void **state) {
    struct ue_notify server = notify_init(UE_ACKS_RESET, 99, 500);
    notify_receive_empty(&server, 100);
    notify_send(&server);
    notify_receive_empty(&server, 400);
    assert_int_equal(server.flush_seq, 501);
    ue_notify_free(&server);
}

/* Acks that the peer already has do not cause a wait. */
static void acks_that_the_peer_knows_cause_no_wait(void **state) {
    enum ue_ack_generation generation = *(enum ue_ack_generation *)*state;
    struct ue_notify server = notify_init(generation, 99, 500);
    notify_receive_range(&server, 100, 163);
    notify_send(&server);
    struct ue_packet header = {.seq = 164, .ack = 500, .history_words = 1, .history = {1}};
    notify_read_acks(&server, &header, "500A");
    ue_notify_accept(&server, &header);
    ue_notify_report(&server, 164, false);
    assert_int_equal(ue_notify_unreported(&server), 1);
    assert_int_equal(notify_receive_empty(&server, 500), 336);
    assert_false(ue_notify_is_waiting(&server));
    ue_notify_free(&server);
}

/* A packet after the flush that acknowledges all deliveries: the wait continues, but no ack needs space in the
   history. */
static void a_wait_without_deliveries_accepts_later_acks(void **state) {
    struct ue_notify server = notify_init(UE_ACKS_FLUSH, 99, 500);
    notify_receive_empty(&server, 100);
    notify_send(&server);
    assert_int_equal(notify_receive_empty(&server, 400), 254);
    assert_true(ue_notify_is_waiting(&server) && server.in_seq == 354);
    struct ue_packet header = {.seq = 700, .ack = 500, .history_words = 1, .history = {1}};
    assert_int_equal(notify_receive(&server, &header, "500A"), 346);
    assert_true(ue_notify_is_waiting(&server) && server.in_seq == 700 && server.in_ack_seq == 700);
    ue_notify_free(&server);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        NOTIFY_TEST(an_overflow_in_generation_a_loses_acks),
        NOTIFY_TEST(an_overflow_in_generation_b_waits_for_the_flush),
        NOTIFY_TEST(an_overflow_in_generation_c_waits_for_the_reset),
        NOTIFY_TESTS(a_gap_without_deliveries_causes_no_wait),
        NOTIFY_TESTS(a_pending_header_is_sent_unchanged),
        NOTIFY_TEST(a_silent_server_flushes_after_300_packets),
        NOTIFY_TEST(a_silent_server_resets_after_300_packets),
        NOTIFY_TEST(a_pending_header_does_not_flush),
        NOTIFY_TEST(the_next_wait_is_measured_from_the_flushed_history),
        NOTIFY_TEST(without_a_pending_header_the_next_packet_flushes),
        NOTIFY_TESTS(acks_that_the_peer_knows_cause_no_wait),
        NOTIFY_TEST(a_wait_without_deliveries_accepts_later_acks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
