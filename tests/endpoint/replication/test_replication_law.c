/* SPDX-License-Identifier: MIT */
/* The law of replication over bad links: the last value of every property arrives (endpoint.md 37). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/endpoint/replication/replication_fixture.h"
#include "tests/support/rng.h"

#define OBJECTS 8

static struct ue_replicated_object *random_object(struct rng *rng, uint32_t id) {
    uint32_t widths[UE_HANDLES_MAX];
    uint32_t count = 1 + (uint32_t)rng_below(rng, UE_HANDLES_MAX);
    for (uint32_t i = 0; i < count; i++) {
        widths[i] = 1 + (uint32_t)rng_below(rng, rng_chance(rng, 3) ? UE_PROPERTY_BITS_MAX : 64);
    }
    struct ue_replicated_object *o = ue_replicated_object_new(&replication_fixture.share, id, widths, count);
    assert_non_null(o);
    return o;
}

static void change(struct rng *rng, struct ue_replicated_object *o) {
    uint8_t value[UE_PROPERTY_BITS_MAX / 8];
    for (uint64_t i = rng_below(rng, 4); i > 0; i--) {
        uint32_t handle = 1 + (uint32_t)rng_below(rng, o->property_count);
        size_t bits = o->properties[handle - 1].bits;
        rng_fill(rng, value, ue_bits_bytes(bits));
        assert_int_equal(ue_replicated_object_set(o, handle, (struct ue_view){value, 0, bits}), UE_OK);
    }
    ue_replicated_object_collect(o);
}

static struct ue_replica *replica_of(const struct ue_replicated_object *o) {
    struct ue_replica *replica = replication_fixture.replicator.first;
    while (replica != NULL && (replica->object != o || replica->is_closing)) {
        replica = replica->next;
    }
    return replica;
}

static void add_and_remove_objects(struct rng *rng, struct ue_replicated_object *const *objects) {
    for (size_t i = 0; i < OBJECTS; i++) {
        struct ue_replica *replica = replica_of(objects[i]);
        if (rng_chance(rng, 30)) {
            change(rng, objects[i]);
        }
        if (replica == NULL) {
            ue_replicator_add(&replication_fixture.replicator, objects[i]);
        } else if (rng_chance(rng, 10)) {
            replication_call(replica, (uint16_t)rng_below(rng, 3), rng_chance(rng, 50), rng_chance(rng, 50));
        } else if (rng_chance(rng, 1) && replica->is_opened) {
            ue_replicator_remove(&replication_fixture.replicator, replication_fixture.now_ns, replica, 0);
        }
    }
}

static bool all_equal(struct ue_replicated_object *const *objects) {
    for (size_t i = 0; i < OBJECTS; i++) {
        const struct ue_replica *replica = replica_of(objects[i]);
        if (replica == NULL || !replication_equal(objects[i], &replication_fixture.mirrors[replica->channel])) {
            return false;
        }
    }
    return true;
}

/* With loss, duplication and reordering, and while objects are added and removed: after the last change every copy
   becomes equal within 20 s, although losses continue. (Large unreliable bunches need all their fragments in order.
   Without an order cache, reordering may prevent that for long, as in the engine.) */
static void the_last_values_arrive_on_bad_links(void **state) {
    (void)state;
    struct rng rng = rng_seeded("replication");
    for (uint64_t round = rng_rounds(22); round > 0; round--) {
        const struct ue_profile *profile = ue_profile_at(round % UE_PROFILE_COUNT);
        replication_fixture_init(profile);
        struct sim_link_config bad = {.loss = 0.01 * (double)rng_below(&rng, 25),
                                      .loss_burst = 1 + (double)rng_below(&rng, 3),
                                      .duplicate = 0.05,
                                      .delay_ns = rng_below(&rng, 100000000),
                                      .jitter_ns = profile->order_cache ? rng_below(&rng, 2000000) : 0};
        replication_fixture.down = sim_link_new(&bad, 1, rng_next(&rng), 0);
        replication_fixture.up = sim_link_new(&bad, 1, rng_next(&rng), 1);
        struct ue_replicated_object *objects[OBJECTS];
        for (uint32_t i = 0; i < OBJECTS; i++) {
            objects[i] = random_object(&rng, i);
        }
        for (int i = 0; i < 200; i++) {
            add_and_remove_objects(&rng, objects);
            replication_tick();
        }
        unsigned waited = 0;
        for (; !all_equal(objects) && waited < 600; waited++) {
            for (size_t i = 0; i < OBJECTS; i++) {
                if (replica_of(objects[i]) == NULL) {
                    ue_replicator_add(&replication_fixture.replicator, objects[i]);
                }
            }
            replication_tick();
        }
        assert_int_equal(ue_conn_state(replication_fixture.server), UE_CONN_OPEN);
        assert_true(all_equal(objects));
        assert_true(replication_fixture.replicator.counters.naks > 0 || bad.loss < 0.03);
        replication_fixture_free();
        for (size_t i = 0; i < OBJECTS; i++) {
            ue_replicated_object_free(objects[i]);
        }
        assert_int_equal(replication_fixture.memory.used_bytes, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_values_arrive_on_bad_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
