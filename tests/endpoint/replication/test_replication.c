/* SPDX-License-Identifier: MIT */
/* Replicated objects and calls over connections (endpoint.md 37). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/endpoint/replication/replication_fixture.h"

/* ---- objects ---- */

static void objects_check_handles_and_widths(void **state) {
    (void)state;
    replication_fixture_init(ue_profile_find("5.4"));
    uint32_t widths[UE_HANDLES_MAX + 1] = {1, 9, UE_PROPERTY_BITS_MAX};
    struct ue_replicated_object *o = ue_replicated_object_new(&replication_fixture.share, 1, widths, 3);
    assert_non_null(o);
    struct ue_view value_of_9_bits = {(const uint8_t *)"\xff\x01", 0, 9};
    assert_int_equal(ue_replicated_object_set(o, 2, value_of_9_bits), UE_OK);
    assert_true(ue_view_equal(ue_replicated_object_get(o, 2), value_of_9_bits));
    assert_int_equal(ue_view_load(ue_replicated_object_get(o, 1), 0, 1), 0);
    assert_int_equal(ue_view_load(ue_replicated_object_get(o, 3), 0, 64), 0);
    assert_true(o->dirty == ue_handle_bit(2));
    assert_int_equal(ue_replicated_object_set(o, 1, value_of_9_bits), UE_E_LENGTH);
    assert_int_equal(ue_replicated_object_set(o, 0, value_of_9_bits), UE_E_RANGE);
    assert_int_equal(ue_replicated_object_set(o, 4, value_of_9_bits), UE_E_RANGE);
    ue_replicated_object_collect(o);
    assert_int_equal(ue_replicated_object_set(o, 2, value_of_9_bits), UE_OK); /* no change */
    ue_replicated_object_collect(o);
    assert_int_equal(o->changes.end, 1);
    widths[0] = UE_PROPERTY_BITS_MAX + 1;
    assert_null(ue_replicated_object_new(&replication_fixture.share, 1, widths, 1));
    assert_null(ue_replicated_object_new(&replication_fixture.share, 1, widths + 3, UE_HANDLES_MAX + 1));
    replication_fixture_free_with(o);
}

static void unchanged_values_are_not_sent_again(void **state) {
    (void)state;
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_object *o = replication_new_object(5, 8, 64);
    replication_set_value(o, 1, 11);
    ue_replicated_object_collect(o);
    struct ue_replica *replica = ue_replicator_add(&replication_fixture.replicator, o);
    assert_non_null(replica);
    replication_run(5);
    assert_true(replication_equal(o, &replication_fixture.mirrors[replica->channel]));
    assert_int_equal(replication_fixture.mirrors[replica->channel].id, 5);
    assert_int_equal(replication_fixture.replicator.counters.updates, 1);
    replication_run(20);
    assert_int_equal(replication_fixture.replicator.counters.updates, 1);
    replication_set_value(o, 64, 99);
    ue_replicated_object_collect(o);
    replication_run(2);
    assert_int_equal(replication_fixture.replicator.counters.updates, 2);
    assert_int_equal(replication_fixture.mirrors[replica->channel].properties, 64 + 1);
    assert_int_equal(replication_get_value(replica, 64), 99);
    replication_run(5);
    assert_int_equal(replica->sent.count, 0);
    replication_fixture_free_with(o);
}

/* The update of 1 and 2 is lost. The next one carries 1 and 7; after the nak, 1 and 2 are sent again with their current
   values. */
static void lost_values_are_retransmitted_with_the_next_change(void **state) {
    (void)state;
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_object *o = replication_new_object(5, 8, 8);
    struct ue_replica *replica = ue_replicator_add(&replication_fixture.replicator, o);
    replication_run(5);
    uint64_t before = replication_fixture.mirrors[replica->channel].properties;
    replication_set_value(o, 1, 21);
    replication_set_value(o, 2, 22);
    ue_replicated_object_collect(o);
    replication_fixture.downlink_drops = true;
    replication_tick();
    replication_fixture.downlink_drops = false;
    replication_set_value(o, 1, 31);
    replication_set_value(o, 7, 37);
    ue_replicated_object_collect(o);
    replication_run(6);
    assert_int_equal(replication_fixture.replicator.counters.naks, 1);
    assert_int_equal(replication_get_value(replica, 1), 31);
    assert_int_equal(replication_get_value(replica, 2), 22);
    assert_int_equal(replication_get_value(replica, 7), 37);
    assert_int_equal(replication_fixture.mirrors[replica->channel].properties - before,
                     2 + 2); /* 1 and 7, then 1 and 2 again */
    replication_fixture_free_with(o);
}

/* What is sent between the open and its acknowledgement is sent again afterwards. */
static void updates_sent_before_the_open_is_acknowledged_are_retransmitted(void **state) {
    (void)state;
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_object *o = replication_new_object(5, 8, 4);
    struct ue_replica *replica = ue_replicator_add(&replication_fixture.replicator, o);
    ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
    replication_set_value(o, 3, 33);
    ue_replicated_object_collect(o);
    ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
    replication_set_value(o, 4, 44);
    ue_replicated_object_collect(o);
    ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
    assert_true(replica->before_open == (ue_handle_bit(3) | ue_handle_bit(4)));
    replication_run(6);
    assert_true(replica->before_open == 0);
    assert_int_equal(replication_fixture.replicator.counters.updates, 4);
    assert_int_equal(replication_fixture.mirrors[replica->channel].properties, 4 + 1 + 1 + 2);
    replication_fixture_free_with(o);
}

static void an_update_without_memory_is_sent_later(void **state) {
    (void)state;
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_object *o = replication_new_object(5, 8, 4);
    struct ue_replica *replica = ue_replicator_add(&replication_fixture.replicator, o);
    replication_run(5);
    replication_set_value(o, 2, 22);
    ue_replicated_object_collect(o);
    struct ue_share unlimited = replication_fixture.share;
    replication_fixture.share.limit_bytes = replication_fixture.share.used_bytes;
    ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
    ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
    assert_int_equal(replication_fixture.replicator.counters.updates, 1);
    replication_fixture.share.limit_bytes = unlimited.limit_bytes;
    replication_run(2);
    assert_int_equal(replication_fixture.replicator.counters.updates, 2);
    assert_int_equal(replication_get_value(replica, 2), 22);
    assert_int_equal(replication_call(replica, 1, false, true), UE_OK); /* only a held call */
    replication_fixture.share.limit_bytes = replication_fixture.share.used_bytes;
    ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
    assert_int_equal(replica->held_count, 1);
    replication_fixture.share.limit_bytes = unlimited.limit_bytes;
    replication_run(2);
    assert_int_equal(replication_fixture.mirrors[replica->channel].calls, 1);
    replication_fixture_free_with(o);
}

static void clients_cannot_add_replicas(void **state) {
    (void)state;
    struct ue_replicator client_replicator;
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_object *o = replication_new_object(5, 8, 4);
    ue_replicator_init(&client_replicator, replication_fixture.client, &replication_fixture.share);
    size_t used_bytes = replication_fixture.share.used_bytes;
    assert_null(ue_replicator_add(&client_replicator, o));
    assert_int_equal(replication_fixture.share.used_bytes, used_bytes);
    assert_int_equal(o->watchers, 0);
    replication_fixture_free_with(o);
}

/* 64 properties of 4096 bits make 35 fragments: the update is reliable, and the next one waits until all are
   acknowledged. */
static void large_updates_pause_replication_until_acknowledged(void **state) {
    (void)state;
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_object *o = replication_new_object(5, UE_PROPERTY_BITS_MAX, 64);
    struct ue_replica *replica = ue_replicator_add(&replication_fixture.replicator, o);
    ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
    assert_true(ue_channel_find(&replication_fixture.server->channels, replica->channel)->paused_until_acked);
    static const uint8_t ones[UE_PROPERTY_BITS_MAX / 8] = {1};
    struct ue_view value = {ones, 0, UE_PROPERTY_BITS_MAX};
    assert_int_equal(ue_replicated_object_set(o, 9, value), UE_OK);
    ue_replicated_object_collect(o);
    ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
    assert_int_equal(replication_fixture.replicator.counters.updates, 1);
    assert_int_equal(replication_fixture.replicator.counters.paused, 1);
    replication_run(10);
    assert_int_equal(replication_fixture.replicator.counters.updates, 2);
    assert_true(replication_equal(o, &replication_fixture.mirrors[replica->channel]));
    replication_fixture_free_with(o);
}

/* Two objects of about 36,000 bits with headers, and 4,000 bytes per second, of which empty packets use more than a
   third: the second object waits about two seconds. */
static void an_exhausted_budget_ends_the_update_round(void **state) {
    (void)state;
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_object *o = replication_new_object(5, 512, 64);
    ue_conn_set_net_speed(replication_fixture.server, 4000);
    replication_run(2); /* uses up the credit of the earlier net speed */
    struct ue_replica *first = ue_replicator_add(&replication_fixture.replicator, o);
    struct ue_replica *second = ue_replicator_add(&replication_fixture.replicator, o);
    replication_tick();
    assert_true(first->is_opened);
    assert_false(second->is_opened);
    assert_int_equal(replication_fixture.replicator.counters.not_ready, 1);
    replication_run(30);
    assert_false(second->is_opened);
    replication_run(90);
    assert_true(second->is_opened);
    assert_true(replication_equal(o, &replication_fixture.mirrors[first->channel]) &&
                replication_equal(o, &replication_fixture.mirrors[second->channel]));
    replication_fixture_free_with(o);
}

static void removed_replicas_are_freed_when_the_close_is_acknowledged(void **state) {
    (void)state;
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_object *o = replication_new_object(5, 8, 4);
    struct ue_replica *replica = ue_replicator_add(&replication_fixture.replicator, o);
    replication_run(5);
    uint32_t channel = replica->channel;
    assert_int_equal(ue_replicator_remove(&replication_fixture.replicator, replication_fixture.now_ns, replica, 1),
                     UE_OK);
    assert_int_equal(ue_replicator_remove(&replication_fixture.replicator, replication_fixture.now_ns, replica, 1),
                     UE_E_CONFLICT);
    assert_int_equal(replication_call(replica, 1, true, false), UE_E_CONFLICT);
    assert_int_equal(replication_fixture.replicator.count, 1);
    ue_conn_tick(replication_fixture.server, replication_fixture.now_ns);
    replication_deliver(replication_fixture.server, replication_fixture.client, NULL, false);
    ue_conn_tick(replication_fixture.client, replication_fixture.now_ns);
    replication_deliver(replication_fixture.client, replication_fixture.server, NULL, false);
    struct ue_replica *next =
        ue_replicator_add(&replication_fixture.replicator, o); /* before the close of the first channel is processed */
    assert_int_equal(next->channel, channel);
    replication_run(5);
    assert_int_equal(replication_fixture.replicator.count, 1);
    assert_ptr_equal(replication_fixture.replicator.first, next);
    assert_true(replication_equal(o, &replication_fixture.mirrors[next->channel]));
    replication_fixture_free_with(o);
}

/* ---- calls ---- */

static void calls_arrive_and_are_limited_in_length(void **state) {
    (void)state;
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_object *o = replication_new_object(5, 8, 4);
    struct ue_replica *replica = ue_replicator_add(&replication_fixture.replicator, o);
    assert_int_equal(replication_call(replica, 1, true, false), UE_E_CONFLICT); /* the object is not replicated yet */
    replication_run(5);
    const struct ue_mirror *m = &replication_fixture.mirrors[replica->channel];
    assert_int_equal(replication_call(replica, 1, true, false), UE_OK);
    assert_int_equal(replication_call(replica, 1, true, true), UE_OK); /* reliable calls are not held */
    assert_int_equal(replication_call(replica, 2, false, false), UE_OK);
    replication_run(3);
    assert_int_equal(m->calls, 3);
    uint8_t bytes[UE_CALL_BITS_MAX / 8 + 1] = {0};
    struct ue_replicated_call longer = {.reliable = true, .parameters = {bytes, 0, UE_CALL_BITS_MAX + 1}};
    assert_int_equal(ue_replica_call(&replication_fixture.replicator, replication_fixture.now_ns, replica, &longer),
                     UE_E_LENGTH);
    longer.parameters.bits--;
    assert_int_equal(ue_replica_call(&replication_fixture.replicator, replication_fixture.now_ns, replica, &longer),
                     UE_OK);
    replication_run(5);
    assert_int_equal(m->calls, 4);
    assert_int_equal(replication_fixture.replicator.counters.calls_sent, 4);
    replication_fixture_free_with(o);
}

static void held_calls_are_limited_in_number_and_length(void **state) {
    (void)state;
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_object *o = replication_new_object(5, 8, 4);
    struct ue_replica *replica = ue_replicator_add(&replication_fixture.replicator, o);
    replication_run(5);
    uint8_t bytes[UE_HELD_CALL_BITS_MAX / 8 + 1] = {0};
    for (uint16_t i = 0; i < 40; i++) {
        struct ue_replicated_call c = {
            .function = i, .multicast = true, .parameters = {bytes, 0, UE_HELD_CALL_BITS_MAX}};
        enum ue_status expected = i < UE_CALLS_HELD_MAX ? UE_OK : UE_E_FULL;
        assert_int_equal(ue_replica_call(&replication_fixture.replicator, replication_fixture.now_ns, replica, &c),
                         expected);
        c.parameters.bits++;
        assert_int_equal(ue_replica_call(&replication_fixture.replicator, replication_fixture.now_ns, replica, &c),
                         UE_E_LENGTH);
    }
    replication_run(10);
    assert_int_equal(replication_fixture.mirrors[replica->channel].calls, UE_CALLS_HELD_MAX);
    assert_int_equal(replication_fixture.replicator.counters.calls_sent, UE_CALLS_HELD_MAX);
    replication_fixture_free_with(o);
}

/* Two calls per function and update; they are sent with the next update, with or without properties. */
static void unreliable_multicasts_are_held_until_the_next_update(void **state) {
    (void)state;
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_object *o = replication_new_object(5, 8, 4);
    struct ue_replica *replica = ue_replicator_add(&replication_fixture.replicator, o);
    replication_run(5);
    const struct ue_mirror *m = &replication_fixture.mirrors[replica->channel];
    for (uint16_t i = 0; i < 3; i++) {
        assert_int_equal(replication_call(replica, 1, false, true), i < 2 ? UE_OK : UE_E_FULL);
        assert_int_equal(replication_call(replica, 2, false, true), i < 2 ? UE_OK : UE_E_FULL);
    }
    assert_int_equal(replica->held_count, 4);
    replication_set_value(o, 1, 1);
    ue_replicated_object_collect(o);
    uint32_t bunches = replication_fixture.bunches;
    replication_tick();
    assert_int_equal(m->calls, 4);
    assert_int_equal(replication_get_value(replica, 1), 1);
    assert_int_equal(replication_fixture.bunches, bunches + 1);
    assert_int_equal(replication_fixture.replicator.counters.calls_dropped, 2);
    assert_int_equal(replication_call(replica, 1, false, true), UE_OK);
    replication_tick();
    assert_int_equal(m->calls, 5);
    assert_int_equal(replication_call(replica, 1, false, true), UE_OK); /* never sent */
    replication_fixture_free_with(o);
}

static void unreliable_calls_without_budget_are_dropped(void **state) {
    (void)state;
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_object *o = replication_new_object(5, 8, 4);
    struct ue_replica *replica = ue_replicator_add(&replication_fixture.replicator, o);
    replication_run(5);
    replication_fixture.server->sender.budget.queued_bits = 100000;
    assert_int_equal(replication_call(replica, 1, false, false), UE_E_FULL);
    assert_int_equal(replication_fixture.replicator.counters.calls_dropped, 1);
    assert_int_equal(replication_call(replica, 1, true, false), UE_OK);
    replication_fixture_free_with(o);
}

/* endpoint.md 22: with 255 unacknowledged reliable bunches (buffer 256) an unreliable call is dropped and a reliable
   one closes the connection; endpoint.md 37: property updates pause. */
static void a_reliable_call_on_a_full_channel_closes_the_connection(void **state) {
    (void)state;
    replication_fixture_init(ue_profile_find("4.26"));
    struct ue_replicated_object *o = replication_new_object(5, 8, 4);
    struct ue_replica *replica = ue_replicator_add(&replication_fixture.replicator, o);
    replication_run(5);
    for (int i = 0; i < 255; i++) {
        struct ue_outgoing bunch = {
            .channel = replica->channel, .reliable = true, .data = {(const uint8_t *)"x", 0, 8}};
        assert_int_equal(ue_conn_send(replication_fixture.server, replication_fixture.now_ns, &bunch, NULL), UE_OK);
    }
    uint64_t updates = replication_fixture.replicator.counters.updates;
    replication_set_value(o, 1, 1);
    ue_replicated_object_collect(o);
    ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
    assert_int_equal(replication_fixture.replicator.counters.updates, updates);
    assert_int_equal(replication_fixture.replicator.counters.paused, 1);
    assert_int_equal(replication_call(replica, 1, false, false), UE_E_FULL);
    assert_int_equal(ue_conn_state(replication_fixture.server), UE_CONN_OPEN);
    assert_int_equal(replication_call(replica, 1, true, false), UE_E_FULL);
    assert_int_equal(ue_conn_state(replication_fixture.server), UE_CONN_CLOSED);
    assert_int_equal(replication_fixture.server->common.life.closed_for, UE_CLOSE_RPC_RELIABLE_BUFFER_OVERFLOW);
    replication_fixture_free_with(o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_check_handles_and_widths),
        cmocka_unit_test(unchanged_values_are_not_sent_again),
        cmocka_unit_test(lost_values_are_retransmitted_with_the_next_change),
        cmocka_unit_test(updates_sent_before_the_open_is_acknowledged_are_retransmitted),
        cmocka_unit_test(an_update_without_memory_is_sent_later),
        cmocka_unit_test(clients_cannot_add_replicas),
        cmocka_unit_test(large_updates_pause_replication_until_acknowledged),
        cmocka_unit_test(an_exhausted_budget_ends_the_update_round),
        cmocka_unit_test(removed_replicas_are_freed_when_the_close_is_acknowledged),
        cmocka_unit_test(calls_arrive_and_are_limited_in_length),
        cmocka_unit_test(held_calls_are_limited_in_number_and_length),
        cmocka_unit_test(unreliable_multicasts_are_held_until_the_next_update),
        cmocka_unit_test(unreliable_calls_without_budget_are_dropped),
        cmocka_unit_test(a_reliable_call_on_a_full_channel_closes_the_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
