/* SPDX-License-Identifier: MIT */
/* Each allocation fails in turn, once, while a server replicates an actor whose texts grow, whose references name ever
   more objects of the map, and which is called: nothing leaks, and nothing that was known before is forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/endpoint/replication/replication_fixture.h"

#define ACTOR 64
#define TICKS 8
#define SIGN_BYTES 400
#define NAMED_FIRST 1001
#define TEXT_HANDLE 5
#define OBJECT_HANDLE 6

static struct ue_replicated_actor actor;
static struct ue_replicated_actor signs; /* of texts alone: a large update */
static uint64_t named;

/* A name that there was no memory for is added in the next tick. */
static void add_name(void) {
    const struct ue_named_object object = {NAMED_FIRST + 2 * named, GUID_LEVEL, UE_EXPORT_MAP_OBJECT, 0, "Thing"};
    enum ue_status status = ue_package_map_add(&replication_fixture.map, &object);
    assert_true(status == UE_OK || status == UE_E_FULL);
    named += status == UE_OK;
}

static void set_text(struct ue_replicated_object *o, uint32_t handle, size_t size_bytes) {
    static uint8_t letters[UE_VALUE_BITS_MAX / 8];
    memset(letters, 'x', sizeof letters);
    const struct ue_value text = {.type = UE_VALUE_STRING, .text = {{letters, 0, 8 * size_bytes}, false}};
    assert_int_equal(ue_replicated_object_set(o, handle, &text), UE_OK);
}

/* The text grows, the reference is to the name that was added last, and once all signs change. */
static void change(unsigned tick) {
    struct ue_value object = {.type = UE_VALUE_OBJECT, .object = {.count = 1}};
    object.object.links[0].guid.number = named != 0 ? NAMED_FIRST + 2 * (named - 1) : GUID_LEVEL;
    assert_int_equal(ue_replicated_object_set(actor.object, OBJECT_HANDLE, &object), UE_OK);
    set_text(actor.object, TEXT_HANDLE, 20 * (tick + 1));
    for (uint32_t handle = 1; tick == TICKS / 2 && handle <= signs.object->property_count; handle++) {
        set_text(signs.object, handle, SIGN_BYTES);
    }
    ue_replicated_object_collect(actor.object);
    ue_replicated_object_collect(signs.object);
}

static void add(struct ue_replicated_actor *added) {
    if (ue_replicator_find(&replication_fixture.replicator, added) == NULL) {
        ue_replicator_add(&replication_fixture.replicator, added);
    }
}

static void check_names(void) {
    for (uint64_t i = 0; i < named; i++) {
        assert_int_not_equal(ue_package_map_find(&replication_fixture.map, NAMED_FIRST + 2 * i),
                             replication_fixture.map.count);
    }
    assert_int_not_equal(ue_package_map_find(&replication_fixture.map, GUID_LEVEL), replication_fixture.map.count);
}

/* failing: the number of the allocation of one role after the beginning; 0: none. Returns whether it was reached. */
static bool run(const char *release, enum ue_role role, size_t failing) {
    named = 0;
    replication_fixture_init(ue_profile_find(release));
    replication_fixture.is_starved = true;
    actor = replication_new_actor(ACTOR, GUID_MIXED);
    signs = replication_new_actor(ACTOR + 2, GUID_TEXTS);
    struct counting_allocator *memory = &replication_fixture.memory[role];
    memory->failing = failing != 0 ? memory->allocations + failing : 0;
    for (unsigned tick = 0; tick < TICKS; tick++) {
        add(&actor);
        add(&signs);
        add_name();
        change(tick);
        replication_tick();
    }
    bool is_reached = failing != 0 && memory->allocations >= memory->failing;
    memory->failing = 0;
    replication_run(12);
    check_names();
    bool is_equal = replication_equal(&actor) && replication_equal(&signs);
    if (!is_equal && role == UE_ROLE_SERVER) {
        fail_msg("%s: the client lacks values after the failure of allocation %zu", release, failing);
    }
    ue_replicator_free(&replication_fixture.replicator);
    ue_replicated_actor_free(&signs);
    replication_fixture_free_with(&actor);
    return is_reached;
}

static void each_allocation_fails_in_turn(void **state) {
    const char *release = *state;
    run(release, UE_ROLE_SERVER, 0);
    assert_true(named == TICKS && replication_fixture.refused_events == 0);
    for (enum ue_role role = UE_ROLE_CLIENT; role <= UE_ROLE_SERVER; role++) {
        size_t failing = 1;
        while (run(release, role, failing)) {
            failing++;
        }
        assert_true(failing > 100);
    }
}

static char releases[][8] = {"4.13", "4.22", "5.8"};

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(each_allocation_fails_in_turn, releases[0]),
        cmocka_unit_test_prestate(each_allocation_fails_in_turn, releases[1]),
        cmocka_unit_test_prestate(each_allocation_fails_in_turn, releases[2]),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
