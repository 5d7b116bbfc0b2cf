/* SPDX-License-Identifier: MIT */
/* Objects and calls over real connections (endpoint.md 9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/endpoint/replication_stage.h"

/* ---- objects ---- */

static void objects_know_their_widths(void **state) {
    (void)state;
    begin(ue_profile_find("5.4"));
    uint32_t widths[UE_HANDLES_MAX + 1] = {1, 9, UE_PROPERTY_BITS_MAX};
    struct ue_replicated_object *o = ue_replicated_object_new(&stage.share, 1, widths, 3);
    assert_non_null(o);
    struct ue_view nine = {(const uint8_t *)"\xff\x01", 0, 9};
    assert_int_equal(ue_replicated_object_set(o, 2, nine), UE_OK);
    assert_true(ue_view_equal(ue_replicated_object_get(o, 2), nine));
    assert_int_equal(ue_view_load(ue_replicated_object_get(o, 1), 0, 1), 0);
    assert_int_equal(ue_view_load(ue_replicated_object_get(o, 3), 0, 64), 0);
    assert_true(o->dirty == ue_handle_bit(2));
    assert_int_equal(ue_replicated_object_set(o, 1, nine), UE_E_LENGTH);
    assert_int_equal(ue_replicated_object_set(o, 0, nine), UE_E_RANGE);
    assert_int_equal(ue_replicated_object_set(o, 4, nine), UE_E_RANGE);
    ue_replicated_object_collect(o);
    assert_int_equal(ue_replicated_object_set(o, 2, nine), UE_OK); /* no change */
    ue_replicated_object_collect(o);
    assert_int_equal(o->changes.end, 1);
    widths[0] = UE_PROPERTY_BITS_MAX + 1;
    assert_null(ue_replicated_object_new(&stage.share, 1, widths, 1));
    assert_null(ue_replicated_object_new(&stage.share, 1, widths + 3, UE_HANDLES_MAX + 1));
    end_with(o);
}

static void values_arrive_and_nothing_is_sent_without_change(void **state) {
    (void)state;
    begin(ue_profile_find("5.4"));
    struct ue_replicated_object *o = new_object(5, 8, 64);
    set(o, 1, 11);
    ue_replicated_object_collect(o);
    struct ue_replica *replica = ue_replicator_add(&stage.replicator, o);
    assert_non_null(replica);
    ticks(5);
    assert_true(same(o, &stage.mirrors[replica->channel]));
    assert_int_equal(stage.mirrors[replica->channel].id, 5);
    assert_int_equal(stage.replicator.counters.updates, 1);
    ticks(20);
    assert_int_equal(stage.replicator.counters.updates, 1);
    set(o, 64, 99);
    ue_replicated_object_collect(o);
    ticks(2);
    assert_int_equal(stage.replicator.counters.updates, 2);
    assert_int_equal(stage.mirrors[replica->channel].properties, 64 + 1);
    assert_int_equal(got(replica, 64), 99);
    ticks(5);
    assert_int_equal(replica->sent.count, 0);
    end_with(o);
}

/* 1 and 2 are lost, 3 is not: with 7 leave 1, 2 and 7, with the values of now. */
static void lost_values_go_with_the_next_change(void **state) {
    (void)state;
    begin(ue_profile_find("5.4"));
    struct ue_replicated_object *o = new_object(5, 8, 8);
    struct ue_replica *replica = ue_replicator_add(&stage.replicator, o);
    ticks(5);
    uint64_t before = stage.mirrors[replica->channel].properties;
    set(o, 1, 21);
    set(o, 2, 22);
    ue_replicated_object_collect(o);
    stage.down_is_cut = true;
    tick();
    stage.down_is_cut = false;
    set(o, 1, 31);
    set(o, 7, 37);
    ue_replicated_object_collect(o);
    ticks(6);
    assert_int_equal(stage.replicator.counters.naks, 1);
    assert_int_equal(got(replica, 1), 31);
    assert_int_equal(got(replica, 2), 22);
    assert_int_equal(got(replica, 7), 37);
    assert_int_equal(stage.mirrors[replica->channel].properties - before, 2 + 2); /* 1 and 7; 1 and 2 again */
    end_with(o);
}

/* What leaves between the open and its acknowledgement leaves once more behind it. */
static void what_left_before_the_open_was_acknowledged_leaves_again(void **state) {
    (void)state;
    begin(ue_profile_find("5.4"));
    struct ue_replicated_object *o = new_object(5, 8, 4);
    struct ue_replica *replica = ue_replicator_add(&stage.replicator, o);
    ue_replicator_tick(&stage.replicator, stage.now_ns);
    set(o, 3, 33);
    ue_replicated_object_collect(o);
    ue_replicator_tick(&stage.replicator, stage.now_ns);
    set(o, 4, 44);
    ue_replicated_object_collect(o);
    ue_replicator_tick(&stage.replicator, stage.now_ns);
    assert_true(replica->before_open == (ue_handle_bit(3) | ue_handle_bit(4)));
    ticks(6);
    assert_true(replica->before_open == 0);
    assert_int_equal(stage.replicator.counters.updates, 4);
    assert_int_equal(stage.mirrors[replica->channel].properties, 4 + 1 + 1 + 2);
    end_with(o);
}

static void an_update_that_finds_no_memory_comes_later(void **state) {
    (void)state;
    begin(ue_profile_find("5.4"));
    struct ue_replicated_object *o = new_object(5, 8, 4);
    struct ue_replica *replica = ue_replicator_add(&stage.replicator, o);
    ticks(5);
    set(o, 2, 22);
    ue_replicated_object_collect(o);
    struct ue_share usual = stage.share;
    stage.share.limit_bytes = stage.share.used_bytes;
    ue_replicator_tick(&stage.replicator, stage.now_ns);
    ue_replicator_tick(&stage.replicator, stage.now_ns);
    assert_int_equal(stage.replicator.counters.updates, 1);
    stage.share.limit_bytes = usual.limit_bytes;
    ticks(2);
    assert_int_equal(stage.replicator.counters.updates, 2);
    assert_int_equal(got(replica, 2), 22);
    assert_int_equal(call(replica, 1, false, true), UE_OK); /* nothing but a call that waits */
    stage.share.limit_bytes = stage.share.used_bytes;
    ue_replicator_tick(&stage.replicator, stage.now_ns);
    assert_int_equal(replica->held_count, 1);
    stage.share.limit_bytes = usual.limit_bytes;
    ticks(2);
    assert_int_equal(stage.mirrors[replica->channel].calls, 1);
    end_with(o);
}

static void clients_replicate_nothing(void **state) {
    (void)state;
    struct ue_replicator of_client;
    begin(ue_profile_find("5.4"));
    struct ue_replicated_object *o = new_object(5, 8, 4);
    ue_replicator_init(&of_client, stage.client, &stage.share);
    size_t used_bytes = stage.share.used_bytes;
    assert_null(ue_replicator_add(&of_client, o));
    assert_int_equal(stage.share.used_bytes, used_bytes);
    assert_int_equal(o->watchers, 0);
    end_with(o);
}

/* 64 properties of 4096 bits are 35 parts: reliable, and nothing follows before all of them are acknowledged. */
static void large_updates_pause_replication(void **state) {
    (void)state;
    begin(ue_profile_find("5.4"));
    struct ue_replicated_object *o = new_object(5, UE_PROPERTY_BITS_MAX, 64);
    struct ue_replica *replica = ue_replicator_add(&stage.replicator, o);
    ue_replicator_tick(&stage.replicator, stage.now_ns);
    assert_true(ue_conn_channel(stage.server, replica->channel)->paused_until_acked);
    static const uint8_t ones[UE_PROPERTY_BITS_MAX / 8] = {1};
    struct ue_view value = {ones, 0, UE_PROPERTY_BITS_MAX};
    assert_int_equal(ue_replicated_object_set(o, 9, value), UE_OK);
    ue_replicated_object_collect(o);
    ue_replicator_tick(&stage.replicator, stage.now_ns);
    assert_int_equal(stage.replicator.counters.updates, 1);
    assert_int_equal(stage.replicator.counters.paused, 1);
    ticks(10);
    assert_int_equal(stage.replicator.counters.updates, 2);
    assert_true(same(o, &stage.mirrors[replica->channel]));
    end_with(o);
}

/* Two objects of about 36,000 bits with headers, and 4,000 bytes a second of which empty packets take more than a
   third: the second waits for its turn about two seconds. */
static void an_exhausted_budget_ends_the_round(void **state) {
    (void)state;
    begin(ue_profile_find("5.4"));
    struct ue_replicated_object *o = new_object(5, 512, 64);
    ue_conn_set_net_speed(stage.server, 4000);
    ticks(2); /* the credit of the fast past goes */
    struct ue_replica *first = ue_replicator_add(&stage.replicator, o);
    struct ue_replica *second = ue_replicator_add(&stage.replicator, o);
    tick();
    assert_true(first->is_opened);
    assert_false(second->is_opened);
    assert_int_equal(stage.replicator.counters.not_ready, 1);
    ticks(30);
    assert_false(second->is_opened);
    ticks(90);
    assert_true(second->is_opened);
    assert_true(same(o, &stage.mirrors[first->channel]) && same(o, &stage.mirrors[second->channel]));
    end_with(o);
}

static void removed_replicas_go_when_the_close_is_acknowledged(void **state) {
    (void)state;
    begin(ue_profile_find("5.4"));
    struct ue_replicated_object *o = new_object(5, 8, 4);
    struct ue_replica *replica = ue_replicator_add(&stage.replicator, o);
    ticks(5);
    uint32_t channel = replica->channel;
    assert_int_equal(ue_replicator_remove(&stage.replicator, stage.now_ns, replica, 1), UE_OK);
    assert_int_equal(ue_replicator_remove(&stage.replicator, stage.now_ns, replica, 1), UE_E_CONFLICT);
    assert_int_equal(call(replica, 1, true, false), UE_E_CONFLICT);
    assert_int_equal(stage.replicator.count, 1);
    ue_conn_tick(stage.server, stage.now_ns);
    carry(stage.server, stage.client, NULL, false);
    ue_conn_tick(stage.client, stage.now_ns);
    carry(stage.client, stage.server, NULL, false);
    struct ue_replica *next = ue_replicator_add(&stage.replicator, o); /* before the end of the first is read */
    assert_int_equal(next->channel, channel);
    ticks(5);
    assert_int_equal(stage.replicator.count, 1);
    assert_ptr_equal(stage.replicator.first, next);
    assert_true(same(o, &stage.mirrors[next->channel]));
    end_with(o);
}

/* ---- calls ---- */

static void calls_arrive(void **state) {
    (void)state;
    begin(ue_profile_find("5.4"));
    struct ue_replicated_object *o = new_object(5, 8, 4);
    struct ue_replica *replica = ue_replicator_add(&stage.replicator, o);
    assert_int_equal(call(replica, 1, true, false), UE_E_CONFLICT); /* the object is not there yet */
    ticks(5);
    const struct ue_mirror *m = &stage.mirrors[replica->channel];
    assert_int_equal(call(replica, 1, true, false), UE_OK);
    assert_int_equal(call(replica, 1, true, true), UE_OK); /* reliable ones never wait */
    assert_int_equal(call(replica, 2, false, false), UE_OK);
    ticks(3);
    assert_int_equal(m->calls, 3);
    uint8_t bytes[UE_CALL_BITS_MAX / 8 + 1] = {0};
    struct ue_replicated_call longer = {.reliable = true, .parameters = {bytes, 0, UE_CALL_BITS_MAX + 1}};
    assert_int_equal(ue_replica_call(&stage.replicator, stage.now_ns, replica, &longer), UE_E_LENGTH);
    longer.parameters.bits--;
    assert_int_equal(ue_replica_call(&stage.replicator, stage.now_ns, replica, &longer), UE_OK);
    ticks(5);
    assert_int_equal(m->calls, 4);
    assert_int_equal(stage.replicator.counters.calls_sent, 4);
    end_with(o);
}

static void only_so_many_calls_wait(void **state) {
    (void)state;
    begin(ue_profile_find("5.4"));
    struct ue_replicated_object *o = new_object(5, 8, 4);
    struct ue_replica *replica = ue_replicator_add(&stage.replicator, o);
    ticks(5);
    uint8_t bytes[UE_HELD_CALL_BITS_MAX / 8 + 1] = {0};
    for (uint16_t i = 0; i < 40; i++) {
        struct ue_replicated_call c = {
            .function = i, .multicast = true, .parameters = {bytes, 0, UE_HELD_CALL_BITS_MAX}};
        enum ue_status expected = i < UE_CALLS_HELD_MAX ? UE_OK : UE_E_FULL;
        assert_int_equal(ue_replica_call(&stage.replicator, stage.now_ns, replica, &c), expected);
        c.parameters.bits++;
        assert_int_equal(ue_replica_call(&stage.replicator, stage.now_ns, replica, &c), UE_E_LENGTH);
    }
    ticks(10);
    assert_int_equal(stage.mirrors[replica->channel].calls, UE_CALLS_HELD_MAX);
    assert_int_equal(stage.replicator.counters.calls_sent, UE_CALLS_HELD_MAX);
    end_with(o);
}

/* Two per function and update; they leave with the next update, with or without properties. */
static void unreliable_multicasts_wait_for_the_update(void **state) {
    (void)state;
    begin(ue_profile_find("5.4"));
    struct ue_replicated_object *o = new_object(5, 8, 4);
    struct ue_replica *replica = ue_replicator_add(&stage.replicator, o);
    ticks(5);
    const struct ue_mirror *m = &stage.mirrors[replica->channel];
    for (uint16_t i = 0; i < 3; i++) {
        assert_int_equal(call(replica, 1, false, true), i < 2 ? UE_OK : UE_E_FULL);
        assert_int_equal(call(replica, 2, false, true), i < 2 ? UE_OK : UE_E_FULL);
    }
    assert_int_equal(replica->held_count, 4);
    set(o, 1, 1);
    ue_replicated_object_collect(o);
    uint32_t bunches = stage.bunches;
    tick();
    assert_int_equal(m->calls, 4);
    assert_int_equal(got(replica, 1), 1);
    assert_int_equal(stage.bunches, bunches + 1);
    assert_int_equal(stage.replicator.counters.calls_dropped, 2);
    assert_int_equal(call(replica, 1, false, true), UE_OK);
    tick();
    assert_int_equal(m->calls, 5);
    assert_int_equal(call(replica, 1, false, true), UE_OK); /* never leaves */
    end_with(o);
}

static void unreliable_calls_are_dropped_without_budget(void **state) {
    (void)state;
    begin(ue_profile_find("5.4"));
    struct ue_replicated_object *o = new_object(5, 8, 4);
    struct ue_replica *replica = ue_replicator_add(&stage.replicator, o);
    ticks(5);
    stage.server->budget.queued_bits = 100000;
    assert_int_equal(call(replica, 1, false, false), UE_E_FULL);
    assert_int_equal(stage.replicator.counters.calls_dropped, 1);
    assert_int_equal(call(replica, 1, true, false), UE_OK);
    end_with(o);
}

/* endpoint.md 19.1: with 255 reliable bunches unacknowledged (buffer 256) an unreliable call is dropped, a reliable one
   ends the connection; and endpoint.md 9: properties stop. */
static void a_full_channel_ends_the_connection_at_a_reliable_call(void **state) {
    (void)state;
    begin(ue_profile_find("4.26"));
    struct ue_replicated_object *o = new_object(5, 8, 4);
    struct ue_replica *replica = ue_replicator_add(&stage.replicator, o);
    ticks(5);
    for (int i = 0; i < 255; i++) {
        struct ue_outgoing bunch = {
            .channel = replica->channel, .reliable = true, .data = {(const uint8_t *)"x", 0, 8}};
        assert_int_equal(ue_conn_send(stage.server, stage.now_ns, &bunch, NULL), UE_OK);
    }
    uint64_t updates = stage.replicator.counters.updates;
    set(o, 1, 1);
    ue_replicated_object_collect(o);
    ue_replicator_tick(&stage.replicator, stage.now_ns);
    assert_int_equal(stage.replicator.counters.updates, updates);
    assert_int_equal(stage.replicator.counters.paused, 1);
    assert_int_equal(call(replica, 1, false, false), UE_E_FULL);
    assert_int_equal(ue_conn_state(stage.server), UE_CONN_OPEN);
    assert_int_equal(call(replica, 1, true, false), UE_E_FULL);
    assert_int_equal(ue_conn_state(stage.server), UE_CONN_CLOSED);
    assert_int_equal(stage.server->closed_for, UE_CLOSE_RPC_RELIABLE_BUFFER_OVERFLOW);
    end_with(o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_know_their_widths),
        cmocka_unit_test(values_arrive_and_nothing_is_sent_without_change),
        cmocka_unit_test(lost_values_go_with_the_next_change),
        cmocka_unit_test(what_left_before_the_open_was_acknowledged_leaves_again),
        cmocka_unit_test(an_update_that_finds_no_memory_comes_later),
        cmocka_unit_test(clients_replicate_nothing),
        cmocka_unit_test(large_updates_pause_replication),
        cmocka_unit_test(an_exhausted_budget_ends_the_round),
        cmocka_unit_test(removed_replicas_go_when_the_close_is_acknowledged),
        cmocka_unit_test(calls_arrive),
        cmocka_unit_test(only_so_many_calls_wait),
        cmocka_unit_test(unreliable_multicasts_wait_for_the_update),
        cmocka_unit_test(unreliable_calls_are_dropped_without_budget),
        cmocka_unit_test(a_full_channel_ends_the_connection_at_a_reliable_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
