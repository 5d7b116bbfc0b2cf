/* SPDX-License-Identifier: MIT */
/* The order cache between a notify machine and a reader, as connections use it (endpoint.md 16.2, 16.3). Packets are
   their sequence in one byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/packet_notify.h>
#include <uerudp/reorder.h>

#define POOL_BYTES 65536

struct receiver {
    uint8_t region[POOL_BYTES];
    struct ue_share share;
    struct ue_notify notify;
    struct ue_reorder cache;
    uint32_t lost;
    uint32_t dropped;
    uint32_t duplicates;
};

/* Packet 1 was processed, and the cache exists. */
static int set_up(void **state) {
    struct receiver *r = calloc(1, sizeof *r);
    struct ue_pool *pool = r != NULL ? ue_pool_init(r->region, sizeof r->region) : NULL;
    if (pool == NULL) {
        free(r);
        return -1;
    }
    ue_share_init(&r->share, pool, SIZE_MAX);
    ue_notify_init(&r->notify, UE_ACKS_FLUSH, 0, 1000, &r->share);
    ue_notify_accept(&r->notify, &(struct ue_packet){.seq = 1, .ack = 999});
    ue_notify_report(&r->notify, 1, true);
    ue_reorder_init(&r->cache, &r->share);
    *state = r;
    return ue_reorder_create(&r->cache) ? 0 : -1;
}

static int tear_down(void **state) {
    struct receiver *r = *state;
    ue_reorder_free(&r->cache);
    ue_notify_free(&r->notify);
    int leaked = r->share.used_bytes != 0;
    free(r);
    return leaked ? -1 : 0;
}

static void process(struct receiver *r, uint16_t seq) {
    struct ue_packet header = {.seq = seq, .ack = 999};
    uint32_t delta = ue_notify_delta(&r->notify, &header);
    assert_true(delta > 0);
    r->lost += delta - 1;
    assert_int_equal(ue_notify_accept(&r->notify, &header), delta);
    ue_notify_report(&r->notify, seq, true);
}

static void flush(struct receiver *r, bool whole) {
    struct ue_early *early;
    while ((early = ue_reorder_pop(&r->cache, whole)) != NULL) {
        assert_int_equal(early->size_bytes, 1);
        process(r, early->bytes[0]);
        ue_share_free_block(&r->share, early);
    }
}

static enum ue_reorder_result arrive(struct receiver *r, uint8_t seq) {
    uint32_t delta = ue_notify_delta(&r->notify, &(struct ue_packet){.seq = seq, .ack = 999});
    if (delta == 0) {
        r->dropped++;
        return UE_REORDER_PROCESS;
    }
    enum ue_reorder_result result = ue_reorder_push(&r->cache, delta, &seq, 1);
    r->duplicates += result == UE_REORDER_DUPLICATE;
    if (result == UE_REORDER_PROCESS) {
        process(r, seq);
    }
    flush(r, false);
    return result;
}

static void expect(const struct receiver *r, uint16_t in_seq, uint32_t count, uint32_t history, uint32_t lost) {
    assert_int_equal(r->notify.in_seq, in_seq);
    assert_int_equal(r->cache.count, count);
    assert_int_equal(r->notify.history[0], history);
    assert_int_equal(r->lost, lost);
}

static void t19_a_filled_hole_lets_the_waiting_pass(void **state) {
    struct receiver *r = *state;
    assert_int_equal(arrive(r, 3), UE_REORDER_KEPT);
    assert_int_equal(arrive(r, 4), UE_REORDER_KEPT);
    assert_int_equal(arrive(r, 6), UE_REORDER_KEPT);
    assert_non_null(r->cache.slots[(r->cache.start + 1) % UE_REORDER_SLOTS]);
    assert_non_null(r->cache.slots[(r->cache.start + 2) % UE_REORDER_SLOTS]);
    assert_non_null(r->cache.slots[(r->cache.start + 4) % UE_REORDER_SLOTS]);
    expect(r, 1, 3, 0x1, 0);
    assert_int_equal(arrive(r, 2), UE_REORDER_KEPT);
    expect(r, 4, 1, 0xf, 0);
    flush(r, true);
    expect(r, 6, 0, 0x3d, 1);
    arrive(r, 5);
    assert_int_equal(r->dropped, 1);
    expect(r, 6, 0, 0x3d, 1);
}

static void t20_the_tick_ends_the_wait(void **state) {
    struct receiver *r = *state;
    arrive(r, 3);
    arrive(r, 6);
    expect(r, 1, 2, 0x1, 0);
    flush(r, true);
    expect(r, 6, 0, 0x29, 3);
}

static void t20_variant_two_holes(void **state) {
    struct receiver *r = *state;
    arrive(r, 3);
    arrive(r, 6);
    arrive(r, 2);
    expect(r, 3, 1, 0x7, 0);
    flush(r, true);
    expect(r, 6, 0, 0x39, 2);
}

static void t21_three_missing_are_waited_for(void **state) {
    struct receiver *r = *state;
    assert_int_equal(arrive(r, 5), UE_REORDER_KEPT);
    assert_non_null(r->cache.slots[(r->cache.start + 3) % UE_REORDER_SLOTS]);
    expect(r, 1, 1, 0x1, 0);
    flush(r, true);
}

static void t21_four_missing_are_not(void **state) {
    struct receiver *r = *state;
    assert_int_equal(arrive(r, 6), UE_REORDER_PROCESS);
    expect(r, 6, 0, 0x21, 4);
    arrive(r, 5);
    assert_int_equal(r->dropped, 1);
}

static void t22_the_last_slot_ends_the_wait(void **state) {
    struct receiver *r = *state;
    arrive(r, 3);
    assert_int_equal(arrive(r, 32), UE_REORDER_KEPT);
    expect(r, 1, 2, 0x1, 0);
    assert_int_equal(arrive(r, 33), UE_REORDER_KEPT);
    expect(r, 33, 0, 0x40000003, 29);
    assert_int_equal(arrive(r, 35), UE_REORDER_KEPT); /* and the next packet waits again */
    assert_int_equal(arrive(r, 34), UE_REORDER_KEPT);
    expect(r, 35, 0, 0xf, 29);
}

static void t22_beyond_the_last_slot_too(void **state) {
    struct receiver *r = *state;
    arrive(r, 3);
    assert_int_equal(arrive(r, 40), UE_REORDER_KEPT);
    expect(r, 40, 0, 0x1, 37);
}

static void t23_one_copy_waits(void **state) {
    struct receiver *r = *state;
    arrive(r, 3);
    assert_int_equal(arrive(r, 3), UE_REORDER_DUPLICATE);
    assert_int_equal(r->duplicates, 1);
    expect(r, 1, 1, 0x1, 0);
    flush(r, true);
    expect(r, 3, 0, 0x5, 1);
}

static void without_a_ring_nothing_waits(void **state) {
    struct receiver *r = *state;
    ue_reorder_free(&r->cache);
    assert_false(ue_reorder_exists(&r->cache));
    assert_int_equal(arrive(r, 3), UE_REORDER_PROCESS);
    assert_null(ue_reorder_pop(&r->cache, true));
    expect(r, 3, 0, 0x5, 1);
}

static void without_memory_a_packet_is_lost(void **state) {
    struct receiver *r = *state;
    r->share.limit_bytes = r->share.used_bytes;
    assert_int_equal(arrive(r, 3), UE_REORDER_FULL);
    expect(r, 1, 0, 0x1, 0);
    assert_int_equal(arrive(r, 2), UE_REORDER_PROCESS);
    expect(r, 2, 0, 0x3, 0);
    ue_reorder_free(&r->cache);
    r->share.limit_bytes = r->share.used_bytes;
    assert_false(ue_reorder_create(&r->cache));
}

static void the_ring_goes_round(void **state) {
    struct receiver *r = *state;
    for (unsigned seq = 2; seq < 200; seq += 3) {
        arrive(r, (uint8_t)(seq + 2));
        arrive(r, (uint8_t)(seq + 1));
        arrive(r, (uint8_t)seq);
        assert_int_equal(r->notify.in_seq, seq + 2);
    }
    assert_int_equal(r->lost + r->dropped + r->duplicates, 0);
    arrive(r, (uint8_t)(r->notify.in_seq + 2)); /* one still waits when all is given back */
    assert_int_equal(r->cache.count, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(t19_a_filled_hole_lets_the_waiting_pass, set_up, tear_down),
        cmocka_unit_test_setup_teardown(t20_the_tick_ends_the_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(t20_variant_two_holes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(t21_three_missing_are_waited_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(t21_four_missing_are_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(t22_the_last_slot_ends_the_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(t22_beyond_the_last_slot_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(t23_one_copy_waits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_ring_nothing_waits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_memory_a_packet_is_lost, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_ring_goes_round, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
