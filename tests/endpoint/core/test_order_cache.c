/* SPDX-License-Identifier: MIT */
/* The order cache between the ack state machine and the reader of packets, as connections use it (endpoint.md 8, 9).
 * Packets consist of their sequence in one byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/endpoint/core/packet_notify.h"
#include "tools/endpoint/core/order_cache.h"

struct receiver {
    struct ue_share share;
    struct ue_notify notify;
    struct ue_order_cache cache;
    uint32_t lost;
    uint32_t dropped;
    uint32_t duplicates;
};

/* Creates the receiver with its cache, after packet 1. */
static int set_up(void **state) {
    struct receiver *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return -1;
    }
    ue_share_init(&r->share, NULL, SIZE_MAX);
    ue_notify_init(&r->notify, UE_ACKS_FLUSH, 0, 1000, &r->share);
    ue_notify_accept(&r->notify, &(struct ue_packet){.seq = 1, .ack = 999});
    ue_notify_report(&r->notify, 1, true);
    ue_order_cache_init(&r->cache, &r->share);
    *state = r;
    return ue_order_cache_create(&r->cache) ? 0 : -1;
}

static int tear_down(void **state) {
    struct receiver *r = *state;
    ue_order_cache_free(&r->cache);
    ue_notify_free(&r->notify);
    int leaked = r->share.used_bytes != 0;
    free(r);
    return leaked ? -1 : 0;
}

static void process_packet(struct receiver *r, uint16_t seq) {
    struct ue_packet header = {.seq = seq, .ack = 999};
    uint32_t delta = ue_notify_delta(&r->notify, &header);
    assert_true(delta > 0);
    r->lost += delta - 1;
    assert_int_equal(ue_notify_accept(&r->notify, &header), delta);
    ue_notify_report(&r->notify, seq, true);
}

static void flush(struct receiver *r, bool whole) {
    struct ue_early_packet *early;
    while ((early = ue_order_cache_pop(&r->cache, whole)) != NULL) {
        assert_int_equal(early->size_bytes, 1);
        process_packet(r, early->bytes[0]);
        ue_share_free_block(&r->share, early);
    }
}

static enum ue_order_cache_result receive(struct receiver *r, uint8_t seq) {
    uint32_t delta = ue_notify_delta(&r->notify, &(struct ue_packet){.seq = seq, .ack = 999});
    if (delta == 0) {
        r->dropped++;
        return UE_ORDER_CACHE_PROCESS;
    }
    enum ue_order_cache_result result = ue_order_cache_push(&r->cache, delta, &seq, 1);
    r->duplicates += result == UE_ORDER_CACHE_DUPLICATE;
    if (result == UE_ORDER_CACHE_PROCESS) {
        process_packet(r, seq);
    }
    flush(r, false);
    return result;
}

static void assert_state(const struct receiver *r, uint16_t in_seq, uint32_t count, uint32_t history, uint32_t lost) {
    assert_int_equal(r->notify.in_seq, in_seq);
    assert_int_equal(r->cache.count, count);
    assert_int_equal(r->notify.history[0], history);
    assert_int_equal(r->lost, lost);
}

static void waiting_packets_are_processed_when_the_gap_is_filled(void **state) {
    struct receiver *r = *state;
    assert_int_equal(receive(r, 3), UE_ORDER_CACHE_KEPT);
    assert_int_equal(receive(r, 4), UE_ORDER_CACHE_KEPT);
    assert_int_equal(receive(r, 6), UE_ORDER_CACHE_KEPT);
    assert_non_null(r->cache.slots[(r->cache.start + 1) % UE_ORDER_CACHE_SLOTS]);
    assert_non_null(r->cache.slots[(r->cache.start + 2) % UE_ORDER_CACHE_SLOTS]);
    assert_non_null(r->cache.slots[(r->cache.start + 4) % UE_ORDER_CACHE_SLOTS]);
    assert_state(r, 1, 3, 0x1, 0);
    assert_int_equal(receive(r, 2), UE_ORDER_CACHE_KEPT);
    assert_state(r, 4, 1, 0xf, 0);
    flush(r, true);
    assert_state(r, 6, 0, 0x3d, 1);
    receive(r, 5);
    assert_int_equal(r->dropped, 1);
    assert_state(r, 6, 0, 0x3d, 1);
}

static void the_tick_ends_the_wait(void **state) {
    struct receiver *r = *state;
    receive(r, 3);
    receive(r, 6);
    assert_state(r, 1, 2, 0x1, 0);
    flush(r, true);
    assert_state(r, 6, 0, 0x29, 3);
}

static void the_tick_ends_the_wait_with_two_gaps(void **state) {
    struct receiver *r = *state;
    receive(r, 3);
    receive(r, 6);
    receive(r, 2);
    assert_state(r, 3, 1, 0x7, 0);
    flush(r, true);
    assert_state(r, 6, 0, 0x39, 2);
}

static void a_gap_of_three_packets_is_waited_for(void **state) {
    struct receiver *r = *state;
    assert_int_equal(receive(r, 5), UE_ORDER_CACHE_KEPT);
    assert_non_null(r->cache.slots[(r->cache.start + 3) % UE_ORDER_CACHE_SLOTS]);
    assert_state(r, 1, 1, 0x1, 0);
    flush(r, true);
}

static void a_gap_of_four_packets_is_not_waited_for(void **state) {
    struct receiver *r = *state;
    assert_int_equal(receive(r, 6), UE_ORDER_CACHE_PROCESS);
    assert_state(r, 6, 0, 0x21, 4);
    receive(r, 5);
    assert_int_equal(r->dropped, 1);
}

static void a_packet_in_the_last_slot_ends_the_wait(void **state) {
    struct receiver *r = *state;
    receive(r, 3);
    assert_int_equal(receive(r, 32), UE_ORDER_CACHE_KEPT);
    assert_state(r, 1, 2, 0x1, 0);
    assert_int_equal(receive(r, 33), UE_ORDER_CACHE_KEPT);
    assert_state(r, 33, 0, 0x40000003, 29);
    assert_int_equal(receive(r, 35), UE_ORDER_CACHE_KEPT); /* the next packet waits again */
    assert_int_equal(receive(r, 34), UE_ORDER_CACHE_KEPT);
    assert_state(r, 35, 0, 0xf, 29);
}

static void a_packet_beyond_the_last_slot_ends_the_wait(void **state) {
    struct receiver *r = *state;
    receive(r, 3);
    assert_int_equal(receive(r, 40), UE_ORDER_CACHE_KEPT);
    assert_state(r, 40, 0, 0x1, 37);
}

static void a_duplicate_of_a_waiting_packet_is_dropped(void **state) {
    struct receiver *r = *state;
    receive(r, 3);
    assert_int_equal(receive(r, 3), UE_ORDER_CACHE_DUPLICATE);
    assert_int_equal(r->duplicates, 1);
    assert_state(r, 1, 1, 0x1, 0);
    flush(r, true);
    assert_state(r, 3, 0, 0x5, 1);
}

static void without_a_cache_no_packet_waits(void **state) {
    struct receiver *r = *state;
    ue_order_cache_free(&r->cache);
    assert_false(ue_order_cache_exists(&r->cache));
    assert_int_equal(receive(r, 3), UE_ORDER_CACHE_PROCESS);
    assert_null(ue_order_cache_pop(&r->cache, true));
    assert_state(r, 3, 0, 0x5, 1);
}

static void without_memory_an_early_packet_is_dropped(void **state) {
    struct receiver *r = *state;
    r->share.limit_bytes = r->share.used_bytes;
    assert_int_equal(receive(r, 3), UE_ORDER_CACHE_FULL);
    assert_state(r, 1, 0, 0x1, 0);
    assert_int_equal(receive(r, 2), UE_ORDER_CACHE_PROCESS);
    assert_state(r, 2, 0, 0x3, 0);
    ue_order_cache_free(&r->cache);
    r->share.limit_bytes = r->share.used_bytes;
    assert_false(ue_order_cache_create(&r->cache));
}

static void the_cache_is_a_ring(void **state) {
    struct receiver *r = *state;
    for (unsigned seq = 2; seq < 200; seq += 3) {
        receive(r, (uint8_t)(seq + 2));
        receive(r, (uint8_t)(seq + 1));
        receive(r, (uint8_t)seq);
        assert_int_equal(r->notify.in_seq, seq + 2);
    }
    assert_int_equal(r->lost + r->dropped + r->duplicates, 0);
    receive(r, (uint8_t)(r->notify.in_seq + 2)); /* one still waits when everything is freed */
    assert_int_equal(r->cache.count, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(waiting_packets_are_processed_when_the_gap_is_filled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_tick_ends_the_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_tick_ends_the_wait_with_two_gaps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_gap_of_three_packets_is_waited_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_gap_of_four_packets_is_not_waited_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_packet_in_the_last_slot_ends_the_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_packet_beyond_the_last_slot_ends_the_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_duplicate_of_a_waiting_packet_is_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_cache_no_packet_waits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_memory_an_early_packet_is_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_cache_is_a_ring, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
