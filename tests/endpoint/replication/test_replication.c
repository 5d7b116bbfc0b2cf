/* SPDX-License-Identifier: MIT */
/* Replicated actors and calls over connections (endpoint.md 37). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/endpoint/replication/replication_fixture.h"

#define ACTOR 64
#define PART 80

static struct ue_replica *add(struct ue_replicated_actor *actor) {
    struct ue_replica *replica = ue_replicator_add(&replication_fixture.replicator, actor);
    assert_non_null(replica);
    return replica;
}

static const struct ue_replication_counters *counters(void) {
    return &replication_fixture.replicator.counters;
}

/* ---- objects ---- */

static void objects_check_handles_types_and_lengths(void **state) {
    replication_fixture_init(ue_profile_find("5.4"));
    static uint8_t text[UE_VALUE_BITS_MAX / 8];
    struct ue_replicated_actor actor = replication_new_actor(ACTOR, GUID_MIXED);
    struct ue_replicated_object *o = actor.object;
    struct ue_value value = {.type = UE_VALUE_STRING, .text = {{text, 0, 80}, false}};
    assert_int_equal(ue_replicated_object_set(o, 5, &value), UE_OK);
    assert_true(o->dirty == ue_handle_bit(5));
    assert_int_equal(ue_replicated_object_set(o, 4, &value), UE_E_CONFLICT); /* a float */
    assert_int_equal(ue_replicated_object_set(o, 0, &value), UE_E_RANGE);
    assert_int_equal(ue_replicated_object_set(o, 9, &value), UE_E_RANGE);
    value.text.units.bits = UE_VALUE_BITS_MAX;
    assert_int_equal(ue_replicated_object_set(o, 5, &value), UE_E_LENGTH);
    ue_replicated_object_collect(o);
    value.text.units.bits = 80;
    assert_int_equal(ue_replicated_object_set(o, 5, &value), UE_OK); /* no change */
    ue_replicated_object_collect(o);
    assert_int_equal(o->changes.end, 1);
    replication_fixture_free_with(&actor);
}

/* The first bunch has only what differs from the defaults, and spawns the actor. */
static void unchanged_values_are_not_sent_again(void **state) {
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_actor actor = replication_new_actor(ACTOR, GUID_BYTES);
    replication_set_value(actor.object, 1, 11);
    add(&actor);
    replication_run(5);
    assert_true(replication_equal(&actor));
    const struct ue_received_actor *copy = ue_received_actor_find(&replication_fixture.received_actors, ACTOR);
    assert_true(ue_vector_component(&replication_fixture.received_actors.incoming, &copy->spawn->location, 2) == 88.5);
    assert_int_equal(replication_fixture.received_actors.properties, 1);
    replication_run(20);
    assert_int_equal(counters()->updates, 1);
    replication_set_value(actor.object, 64, 99);
    replication_run(2);
    assert_int_equal(counters()->updates, 2);
    assert_int_equal(replication_fixture.received_actors.properties, 2);
    assert_int_equal(replication_get_value(ACTOR, ACTOR, 64), 99);
    replication_run(5);
    assert_int_equal(replication_fixture.replicator.first->objects->sent.count, 0);
    replication_fixture_free_with(&actor);
}

/* The rule of naks: the update of 1 and 2 is lost. The next one carries 1 and 7; after the nak, 1 and 2 are sent again
   with their current values. */
static void lost_values_are_retransmitted_with_the_next_change(void **state) {
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_actor actor = replication_new_actor(ACTOR, GUID_BYTES);
    add(&actor);
    replication_run(5);
    uint64_t before = replication_fixture.received_actors.properties;
    const struct ue_value value = {.type = UE_VALUE_BYTE, .number = 21};
    ue_replicated_object_set(actor.object, 1, &value);
    replication_set_value(actor.object, 2, 22);
    replication_fixture.downlink_drops = true;
    replication_tick();
    replication_fixture.downlink_drops = false;
    replication_set_value(actor.object, 1, 31);
    replication_set_value(actor.object, 7, 37);
    replication_run(6);
    assert_int_equal(counters()->naks, 1);
    assert_int_equal(replication_get_value(ACTOR, ACTOR, 1), 31);
    assert_int_equal(replication_get_value(ACTOR, ACTOR, 2), 22);
    assert_int_equal(replication_get_value(ACTOR, ACTOR, 7), 37);
    assert_int_equal(replication_fixture.received_actors.properties - before, 2 + 2); /* 1 and 7, then 1 and 2 again */
    assert_int_equal(replication_fixture.reliable_bunches, 1);                        /* the open */
    replication_fixture_free_with(&actor);
}

/* What is sent between the open and its acknowledgement is sent again afterwards. */
static void updates_sent_before_the_open_is_acknowledged_are_retransmitted(void **state) {
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_actor actor = replication_new_actor(ACTOR, GUID_BYTES);
    replication_set_value(actor.object, 1, 1);
    struct ue_replica *replica = add(&actor);
    ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
    replication_set_value(actor.object, 3, 33);
    ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
    replication_set_value(actor.object, 4, 44);
    ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
    assert_true(replica->objects->before_ack == (ue_handle_bit(3) | ue_handle_bit(4)));
    replication_run(6);
    assert_true(replica->objects->before_ack == 0);
    assert_int_equal(counters()->updates, 4);
    assert_int_equal(replication_fixture.received_actors.properties, 1 + 1 + 1 + 2);
    replication_fixture_free_with(&actor);
}

static void an_update_without_memory_is_sent_later(void **state) {
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_actor actor = replication_new_actor(ACTOR, GUID_BYTES);
    struct ue_replica *replica = add(&actor);
    struct ue_share *share = &replication_fixture.map.share;
    replication_run(5);
    replication_set_value(actor.object, 2, 22);
    size_t limit_bytes = share->limit_bytes;
    share->limit_bytes = share->used_bytes;
    ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
    ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
    assert_int_equal(counters()->updates, 1);
    share->limit_bytes = limit_bytes;
    replication_run(2);
    assert_int_equal(counters()->updates, 2);
    assert_int_equal(replication_get_value(ACTOR, ACTOR, 2), 22);
    assert_int_equal(replication_call(replica, NULL, CALL_MULTICAST, 5), UE_OK); /* only a held call */
    share->limit_bytes = share->used_bytes;
    ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
    assert_int_equal(replica->objects->held_count, 1);
    share->limit_bytes = limit_bytes;
    replication_run(2);
    assert_int_equal(replication_fixture.call_count[UE_ROLE_CLIENT], 1);
    replication_fixture_free_with(&actor);
}

/* 40 strings of 4096 bits make more than eight fragments: the update is reliable, and the next one waits until all are
   acknowledged. */
static void large_updates_pause_replication_until_acknowledged(void **state) {
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_actor actor = replication_new_actor(ACTOR, GUID_TEXTS);
    static uint8_t letters[400];
    memset(letters, 'x', sizeof letters);
    struct ue_value value = {.type = UE_VALUE_STRING, .text = {{letters, 0, sizeof letters * 8}, false}};
    for (uint32_t handle = 1; handle <= 40; handle++) {
        assert_int_equal(ue_replicated_object_set(actor.object, handle, &value), UE_OK);
    }
    ue_replicated_object_collect(actor.object);
    struct ue_replica *replica = add(&actor);
    ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
    assert_true(ue_channel_find(&replication_fixture.server->channels, replica->channel)->paused_until_acked);
    value.text.units.bits = 8;
    assert_int_equal(ue_replicated_object_set(actor.object, 9, &value), UE_OK);
    ue_replicated_object_collect(actor.object);
    ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
    assert_int_equal(counters()->updates, 1);
    assert_int_equal(counters()->paused, 1);
    replication_run(10);
    assert_int_equal(counters()->updates, 2);
    assert_true(replication_equal(&actor));
    replication_fixture_free_with(&actor);
}

static void an_exhausted_budget_ends_the_update_round(void **state) {
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_actor first = replication_new_actor(ACTOR, GUID_TEXTS);
    struct ue_replicated_actor second = replication_new_actor(ACTOR + 2, GUID_BYTES);
    static uint8_t letters[400];
    memset(letters, 'x', sizeof letters);
    const struct ue_value value = {.type = UE_VALUE_STRING, .text = {{letters, 0, sizeof letters * 8}, false}};
    for (uint32_t handle = 1; handle <= 10; handle++) {
        ue_replicated_object_set(first.object, handle, &value);
    }
    ue_replicated_object_collect(first.object);
    ue_conn_set_net_speed(replication_fixture.server, 4000);
    replication_run(2); /* uses up the credit of the earlier net speed */
    struct ue_replica *large = add(&first);
    struct ue_replica *small = add(&second);
    replication_tick();
    assert_true(large->is_opened);
    assert_false(small->is_opened);
    assert_int_equal(counters()->not_ready, 1);
    replication_run(120);
    assert_true(small->is_opened);
    assert_true(replication_equal(&first) && replication_equal(&second));
    ue_replicator_free(&replication_fixture.replicator);
    ue_replicated_actor_free(&second);
    replication_fixture_free_with(&first);
}

/* ---- exports ---- */

/* Names are exported until the peer acknowledged them, in every generation. */
static void objects_are_exported_until_the_export_is_acknowledged(void **state) {
    for (size_t i = 0; i < UE_PROFILE_COUNT; i++) {
        replication_fixture_init(ue_profile_at(i));
        struct ue_replicated_actor actors[4]; /* two before the ack, one while it is on its way, one after it */
        for (uint64_t k = 0; k < 4; k++) {
            actors[k] = replication_new_actor(ACTOR + 2 * k, GUID_BYTES);
        }
        add(&actors[0]);
        add(&actors[1]);
        ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
        assert_int_equal(counters()->exports, 2 * 2); /* archetype and level */
        add(&actors[2]);
        ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
        assert_int_equal(counters()->exports, 3 * 2);
        replication_run(4);
        add(&actors[3]);
        replication_run(4);
        assert_int_equal(counters()->exports, 3 * 2);
        for (size_t k = 0; k < 4; k++) {
            assert_true(replication_equal(&actors[k]));
        }
        ue_replicator_free(&replication_fixture.replicator);
        for (size_t k = 1; k < 4; k++) {
            ue_replicated_actor_free(&actors[k]);
        }
        replication_fixture_free_with(&actors[0]);
    }
}

/* Of an object that each tick's message names, though ticks are shorter than the round trip, the first ack ends the
   exports. */
static void newer_exports_do_not_hide_the_ack_of_an_earlier_one(void **state) {
    enum { TICKS_PER_TRIP = 4, ACTORS = 16 };
    const struct sim_link_config slow = {.delay_ns = TICKS_PER_TRIP / 2 * UINT64_C(33333333)};
    replication_fixture_init(ue_profile_at(UE_PROFILE_COUNT - 1));
    replication_fixture.down = sim_link_new(&slow, 1, 1, 0);
    replication_fixture.up = sim_link_new(&slow, 1, 1, 1);
    struct ue_replicated_actor actors[ACTORS];
    for (uint64_t k = 0; k < ACTORS; k++) {
        actors[k] = replication_new_actor(ACTOR + 2 * k, GUID_BYTES);
        add(&actors[k]);
        replication_tick();
    }
    assert_true(counters()->exports <= 2 * (TICKS_PER_TRIP + 3));
    replication_run(10);
    for (size_t k = 0; k < ACTORS; k++) {
        assert_true(replication_equal(&actors[k]));
    }
    ue_replicator_free(&replication_fixture.replicator);
    for (size_t k = 1; k < ACTORS; k++) {
        ue_replicated_actor_free(&actors[k]);
    }
    replication_fixture_free_with(&actors[0]);
}

static void references_in_properties_are_exported(void **state) {
    replication_fixture_init(ue_profile_find("5.5"));
    struct ue_replicated_actor actor = replication_new_actor(ACTOR, GUID_MIXED);
    add(&actor);
    replication_run(4);
    uint64_t before = counters()->exports;
    struct ue_value value = {.type = UE_VALUE_OBJECT, .object = {.count = 1}};
    value.object.links[0].guid.number = GUID_LIGHT;
    assert_int_equal(ue_replicated_object_set(actor.object, 6, &value), UE_OK);
    ue_replicated_object_collect(actor.object);
    replication_fixture.downlink_drops = true;
    replication_tick();
    replication_fixture.downlink_drops = false;
    replication_run(12);
    assert_int_equal(counters()->exports - before, 2); /* lost once */
    char path[UE_GUID_MAP_PATH_MAX + 1];
    assert_true(ue_guid_map_path(replication_fixture.received_actors.names, GUID_LIGHT, UINT64_MAX, path) != 0);
    assert_string_equal(path, "/Game/Maps/Test.Test:PersistentLevel.Lamp.Light");
    assert_true(replication_equal(&actor));
    replication_fixture_free_with(&actor);
}

/* ---- sub-objects ---- */

static void sub_objects_are_created_changed_and_deleted(void **state) {
    static const char *const generations[] = {"4.13", "4.22", "5.1", "5.8"};
    for (size_t i = 0; i < sizeof generations / sizeof *generations; i++) {
        replication_fixture_init(ue_profile_find(generations[i]));
        struct ue_replicated_actor lamp = replication_new_actor(GUID_LAMP, 0);
        struct ue_replicated_object *light = replication_new_part(GUID_LIGHT, 0);
        struct ue_replicated_object *part = replication_new_part(PART, GUID_PART_CLASS);
        struct ue_replicated_object *inner = replication_new_part(PART + 2, GUID_PART_CLASS);
        inner->outer = PART;
        ue_replicated_actor_add(&lamp, light);
        replication_set_value(light, 2, 20);
        add(&lamp);
        replication_run(4);
        assert_int_equal(replication_fixture.reliable_bunches, 1);
        assert_int_equal(replication_get_value(GUID_LAMP, GUID_LIGHT, 2), 20);
        ue_replicated_actor_add(&lamp, part);
        ue_replicated_actor_add(&lamp, inner);
        replication_set_value(inner, 5, 50);
        replication_run(4);
        assert_int_equal(replication_fixture.reliable_bunches, 2);
        assert_true(replication_equal(&lamp));
        replication_set_value(part, 7, 70);
        replication_run(4);
        assert_int_equal(replication_fixture.reliable_bunches, 2); /* only creation is reliable */
        assert_int_equal(replication_get_value(GUID_LAMP, PART, 7), 70);
        part->is_removed = true;
        replication_run(4);
        ue_replicated_actor_collect(&lamp); /* frees it */
        assert_null(
            ue_received_object_find(ue_received_actor_find(&replication_fixture.received_actors, GUID_LAMP), PART));
        assert_int_equal(replication_get_value(GUID_LAMP, PART + 2, 5), 50);
        assert_true(replication_equal(&lamp));
        replication_fixture_free_with(&lamp);
    }
}

/* The reliable bunch that creates a part is lost, the unreliable update after it arrives, and the retransmission
   overwrites its value: after the acknowledgement the value is sent again. */
static void a_retransmission_does_not_leave_an_older_value(void **state) {
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_actor actor = replication_new_actor(ACTOR, GUID_BYTES);
    struct ue_replicated_object *part = replication_new_part(PART, GUID_PART_CLASS);
    add(&actor);
    replication_run(4);
    ue_replicated_actor_add(&actor, part);
    replication_set_value(part, 1, 1);
    replication_fixture.downlink_drops = true;
    replication_tick();
    replication_fixture.downlink_drops = false;
    replication_set_value(part, 1, 2);
    replication_tick();
    replication_run(8);
    assert_int_equal(replication_get_value(ACTOR, PART, 1), 2);
    replication_fixture_free_with(&actor);
}

/* ---- ends ---- */

static void removed_replicas_are_freed_when_the_close_is_acknowledged(void **state) {
    for (enum ue_channel_close reason = UE_CHANNEL_DESTROYED; reason <= UE_CHANNEL_MIGRATED; reason++) {
        replication_fixture_init(ue_profile_find("5.4"));
        struct ue_replicated_actor actor = replication_new_actor(ACTOR, GUID_BYTES);
        struct ue_replica *replica = add(&actor);
        replication_run(5);
        assert_int_equal(
            ue_replicator_remove(&replication_fixture.replicator, replication_fixture.now_ns, replica, reason), UE_OK);
        assert_int_equal(
            ue_replicator_remove(&replication_fixture.replicator, replication_fixture.now_ns, replica, reason),
            UE_E_CONFLICT);
        assert_int_equal(replication_call(replica, NULL, CALL_RELIABLE, 1), UE_E_CONFLICT);
        replica->wants_dormancy = true; /* too late */
        assert_int_equal(replication_fixture.replicator.count, 1);
        replication_run(5);
        assert_int_equal(replication_fixture.replicator.count, 0);
        assert_int_equal(replication_fixture.received_actors.destroyed, reason != UE_CHANNEL_DORMANCY);
        assert_int_equal(actor.object->watchers, 0);
        add(&actor);
        replication_run(5);
        assert_true(replication_equal(&actor));
        replication_fixture_free_with(&actor);
    }
}

/* A dormant actor has no channel, keeps its values at the client, and sends only what changed when it wakes. */
static void dormant_actors_wake_with_their_changes(void **state) {
    static const char *const generations[] = {"4.18", "5.5"};
    for (size_t i = 0; i < sizeof generations / sizeof *generations; i++) {
        replication_fixture_init(ue_profile_find(generations[i]));
        struct ue_replicated_actor actor = replication_new_actor(ACTOR, GUID_BYTES);
        for (uint8_t handle = 1; handle <= 64; handle++) {
            replication_set_value(actor.object, handle, handle);
        }
        struct ue_replica *replica = add(&actor);
        replica->wants_dormancy = true;
        replication_tick();
        assert_false(replica->is_closing); /* not acknowledged yet */
        replication_run(6);
        assert_int_equal(replica->channel, UE_NO_CHANNEL);
        assert_int_equal(ue_received_actor_find(&replication_fixture.received_actors, ACTOR)->channel, UE_NO_CHANNEL);
        replication_set_value(actor.object, 9, 99);
        replication_run(6);
        assert_int_equal(replication_get_value(ACTOR, ACTOR, 9), 9);
        uint64_t before = replication_fixture.received_actors.properties;
        assert_int_equal(ue_replicator_wake(&replication_fixture.replicator, replica), UE_OK);
        replication_run(6);
        assert_int_equal(replication_fixture.received_actors.properties - before, 1);
        assert_true(replication_equal(&actor));
        replica->wants_dormancy = true;
        replication_run(6);
        assert_int_equal(ue_replicator_remove(&replication_fixture.replicator, replication_fixture.now_ns, replica,
                                              UE_CHANNEL_DESTROYED),
                         UE_OK); /* a notice: opens and closes */
        replication_run(6);
        assert_int_equal(replication_fixture.received_actors.destroyed, 1);
        assert_int_equal(replication_fixture.replicator.count, 0);
        replication_fixture_free_with(&actor);
    }
}

/* The channel opens without properties, and is not acknowledged yet when one changes: the client drops the update. */
static void changes_before_the_ack_of_a_wake_arrive(void **state) {
    replication_fixture_init(ue_profile_find("5.5"));
    struct ue_replicated_actor actor = replication_new_actor(ACTOR, GUID_BYTES);
    struct ue_replica *replica = add(&actor);
    replica->wants_dormancy = true;
    replication_run(6);
    assert_int_equal(ue_replicator_wake(&replication_fixture.replicator, replica), UE_OK);
    replication_fixture.downlink_drops = true;
    replication_tick();
    replication_fixture.downlink_drops = false;
    replication_set_value(actor.object, 9, 99);
    replication_run(12);
    assert_true(replication_equal(&actor));
    replication_fixture_free_with(&actor);
}

static void actors_of_the_map_are_destroyed_without_a_channel(void **state) {
    replication_fixture_init(ue_profile_find("5.5"));
    struct ue_replicated_actor lamp = replication_new_actor(GUID_LAMP, 0);
    assert_int_equal(
        ue_replicator_destroy_static(&replication_fixture.replicator, replication_fixture.now_ns, lamp.object), UE_OK);
    replication_run(5);
    assert_int_equal(replication_fixture.reliable_bunches, 1);
    assert_int_equal(counters()->exports, 1);
    assert_null(ue_received_actor_find(&replication_fixture.received_actors, GUID_LAMP));
    replication_fixture_free_with(&lamp);
}

static void clients_cannot_add_replicas(void **state) {
    struct ue_replicator client_replicator;
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_actor actor = replication_new_actor(ACTOR, GUID_BYTES);
    ue_replicator_init(&client_replicator, replication_fixture.client, &replication_fixture.map);
    size_t used_bytes = replication_fixture.map.share.used_bytes;
    assert_null(ue_replicator_add(&client_replicator, &actor));
    assert_int_equal(replication_fixture.map.share.used_bytes, used_bytes);
    assert_int_equal(actor.object->watchers, 0);
    replication_fixture_free_with(&actor);
}

/* ---- calls ---- */

static void calls_arrive_at_actors_and_sub_objects(void **state) {
    static const char *const generations[] = {"4.13", "4.22", "5.1", "5.8"};
    for (size_t i = 0; i < sizeof generations / sizeof *generations; i++) {
        replication_fixture_init(ue_profile_find(generations[i]));
        struct ue_replicated_actor actor = replication_new_actor(ACTOR, GUID_PLAYER);
        struct ue_replicated_object *part = replication_new_part(PART, GUID_PART_CLASS);
        actor.place.class_data = 7;
        ue_replicated_actor_add(&actor, part);
        struct ue_replica *replica = add(&actor);
        assert_int_equal(replication_call(replica, NULL, CALL_RELIABLE, 1), UE_E_CONFLICT); /* not opened yet */
        replication_run(5);
        assert_int_equal(replication_call(replica, NULL, CALL_RELIABLE, 1), UE_OK);
        assert_int_equal(replication_call(replica, part, CALL_RELIABLE, 2), UE_OK);
        assert_int_equal(replication_call(replica, NULL, CALL_UNRELIABLE, 3), UE_OK);
        replication_run(3);
        assert_int_equal(replication_fixture.call_count[UE_ROLE_CLIENT], 3);
        for (uint32_t k = 0; k < 3; k++) {
            assert_int_equal(replication_fixture.calls[UE_ROLE_CLIENT][k].number, k + 1);
        }
        const struct ue_value value = {.type = UE_VALUE_INT32, .number = 77};
        const struct ue_received_actor *copy = ue_received_actor_find(&replication_fixture.received_actors, ACTOR);
        const struct ue_class_function *function = replication_function(CALL_SERVER);
        for (uint64_t guid = ACTOR; guid <= PART; guid += PART - ACTOR) {
            assert_int_equal(ue_received_actors_call(&replication_fixture.received_actors, replication_fixture.now_ns,
                                                     copy, guid, function, &value),
                             UE_OK);
        }
        assert_int_equal(ue_received_actors_call(&replication_fixture.received_actors, replication_fixture.now_ns, copy,
                                                 PART + 2, function, &value),
                         UE_E_CONFLICT);
        replication_run(3);
        assert_int_equal(replication_fixture.call_count[UE_ROLE_SERVER], 2);
        assert_int_equal(replication_fixture.calls[UE_ROLE_SERVER][1].function, CALL_SERVER);
        assert_int_equal(replication_fixture.calls[UE_ROLE_SERVER][1].number, 77);
        replication_fixture_free_with(&actor);
    }
}

/* Two calls per function and update; they are sent with the next update, with or without properties. */
static void unreliable_multicasts_are_held_until_the_next_update(void **state) {
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_actor actor = replication_new_actor(ACTOR, GUID_BYTES);
    struct ue_replica *replica = add(&actor);
    replication_run(5);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(replication_call(replica, NULL, CALL_MULTICAST, i), i < 2 ? UE_OK : UE_E_FULL);
        assert_int_equal(replication_call(replica, NULL, CALL_MULTICAST_2, i), i < 2 ? UE_OK : UE_E_FULL);
    }
    assert_int_equal(replica->objects->held_count, 4);
    replication_set_value(actor.object, 1, 1);
    uint32_t bunches = replication_fixture.bunches;
    replication_tick();
    assert_int_equal(replication_fixture.call_count[UE_ROLE_CLIENT], 4);
    assert_int_equal(replication_get_value(ACTOR, ACTOR, 1), 1);
    assert_int_equal(replication_fixture.bunches, bunches + 1);
    assert_int_equal(counters()->calls_dropped, 2);
    assert_int_equal(replication_call(replica, NULL, CALL_MULTICAST, 9), UE_OK);
    replication_tick();
    assert_int_equal(replication_fixture.call_count[UE_ROLE_CLIENT], 5);
    assert_int_equal(replication_call(replica, NULL, CALL_MULTICAST, 9), UE_OK); /* never sent */
    replication_fixture_free_with(&actor);
}

static void unreliable_calls_without_budget_are_dropped(void **state) {
    replication_fixture_init(ue_profile_find("5.4"));
    struct ue_replicated_actor actor = replication_new_actor(ACTOR, GUID_BYTES);
    struct ue_replica *replica = add(&actor);
    replication_run(5);
    replication_fixture.server->sender.budget.queued_bits = 100000;
    assert_int_equal(replication_call(replica, NULL, CALL_UNRELIABLE, 1), UE_E_FULL);
    assert_int_equal(counters()->calls_dropped, 1);
    assert_int_equal(replication_call(replica, NULL, CALL_RELIABLE, 1), UE_OK);
    replication_fixture_free_with(&actor);
}

/* endpoint.md 22: with 255 unacknowledged reliable bunches (buffer 256) an unreliable call is dropped and a reliable
   one closes the connection; endpoint.md 37: property updates pause. */
static void a_reliable_call_on_a_full_channel_closes_the_connection(void **state) {
    replication_fixture_init(ue_profile_find("4.26"));
    struct ue_replicated_actor actor = replication_new_actor(ACTOR, GUID_BYTES);
    struct ue_replica *replica = add(&actor);
    replication_run(5);
    for (int i = 0; i < 255; i++) {
        struct ue_outgoing bunch = {
            .channel = replica->channel, .reliable = true, .data = {(const uint8_t *)"x", 0, 8}};
        assert_int_equal(ue_conn_send(replication_fixture.server, replication_fixture.now_ns, &bunch, NULL), UE_OK);
    }
    uint64_t updates = counters()->updates;
    replication_set_value(actor.object, 1, 1);
    ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
    assert_int_equal(counters()->updates, updates);
    assert_int_equal(counters()->paused, 1);
    assert_int_equal(replication_call(replica, NULL, CALL_UNRELIABLE, 1), UE_E_FULL);
    assert_int_equal(ue_conn_state(replication_fixture.server), UE_CONN_OPEN);
    assert_int_equal(replication_call(replica, NULL, CALL_RELIABLE, 1), UE_E_FULL);
    assert_int_equal(ue_conn_state(replication_fixture.server), UE_CONN_CLOSED);
    assert_int_equal(replication_fixture.server->common.life.closed_for, UE_CLOSE_RPC_RELIABLE_BUFFER_OVERFLOW);
    replication_fixture_free_with(&actor);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_check_handles_types_and_lengths),
        cmocka_unit_test(unchanged_values_are_not_sent_again),
        cmocka_unit_test(lost_values_are_retransmitted_with_the_next_change),
        cmocka_unit_test(updates_sent_before_the_open_is_acknowledged_are_retransmitted),
        cmocka_unit_test(an_update_without_memory_is_sent_later),
        cmocka_unit_test(large_updates_pause_replication_until_acknowledged),
        cmocka_unit_test(an_exhausted_budget_ends_the_update_round),
        cmocka_unit_test(objects_are_exported_until_the_export_is_acknowledged),
        cmocka_unit_test(newer_exports_do_not_hide_the_ack_of_an_earlier_one),
        cmocka_unit_test(references_in_properties_are_exported),
        cmocka_unit_test(sub_objects_are_created_changed_and_deleted),
        cmocka_unit_test(a_retransmission_does_not_leave_an_older_value),
        cmocka_unit_test(removed_replicas_are_freed_when_the_close_is_acknowledged),
        cmocka_unit_test(dormant_actors_wake_with_their_changes),
        cmocka_unit_test(changes_before_the_ack_of_a_wake_arrive),
        cmocka_unit_test(actors_of_the_map_are_destroyed_without_a_channel),
        cmocka_unit_test(clients_cannot_add_replicas),
        cmocka_unit_test(calls_arrive_at_actors_and_sub_objects),
        cmocka_unit_test(unreliable_multicasts_are_held_until_the_next_update),
        cmocka_unit_test(unreliable_calls_without_budget_are_dropped),
        cmocka_unit_test(a_reliable_call_on_a_full_channel_closes_the_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
