/* SPDX-License-Identifier: MIT */
/* A client that reads malformed and random messages about actors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/endpoint/replication/replication_fixture.h"
#include "tests/support/rng.h"

/* The messages of a run with every kind of content, of which one bit is changed, or which are cut. */
static void changed_messages_crash_nothing(void **state) {
    struct rng rng = rng_seeded("received actors noise");
    for (uint64_t round = rng_rounds(300); round > 0; round--) {
        replication_fixture_init(ue_profile_at(round % UE_PROFILE_COUNT));
        replication_fixture.is_hostile = true;
        struct ue_replicated_actor actor = replication_new_actor(64, GUID_PLAYER);
        ue_replicated_actor_add(&actor, replication_new_part(80, GUID_PART_CLASS));
        replication_set_value(actor.object, 3, 4);
        struct ue_replica *replica = ue_replicator_add(&replication_fixture.replicator, &actor);
        ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
        replication_call(replica, NULL, CALL_RELIABLE, 7);
        ue_conn_tick(replication_fixture.server, replication_fixture.now_ns);
        replication_deliver(replication_fixture.server, replication_fixture.client, NULL, false);
        struct ue_event event;
        while (ue_conn_next_event(replication_fixture.client, &event)) {
            uint8_t bytes[4096] = {0};
            struct ue_event changed = event;
            if (event.type == UE_EVENT_BUNCH || event.type == UE_EVENT_EXPORTS) {
                size_t bits = event.data.bits - rng_below(&rng, rng_chance(&rng, 50) ? event.data.bits + 1 : 1);
                ue_view_copy((struct ue_view){event.data.base, event.data.bit, bits}, bytes);
                uint64_t at = rng_below(&rng, bits + 1);
                bytes[at / 8] ^= (uint8_t)(1u << at % 8);
                changed.data = (struct ue_view){bytes, 0, bits};
            }
            ue_received_actors_event(&replication_fixture.received_actors, &changed);
        }
        assert_true(replication_fixture.received_actors.share.used_bytes < 1 << 20);
        replication_fixture_free_with(&actor);
    }
}

static void random_messages_crash_nothing(void **state) {
    struct rng rng = rng_seeded("received actors random");
    replication_fixture_init(ue_profile_find("5.5"));
    replication_fixture.is_hostile = true;
    struct ue_replicated_actor actor = replication_new_actor(64, GUID_BYTES);
    ue_replicator_add(&replication_fixture.replicator, &actor);
    replication_run(4);
    for (uint64_t round = rng_rounds(20000); round > 0; round--) {
        uint8_t bytes[300];
        size_t size_bytes = 1 + rng_below(&rng, sizeof bytes);
        rng_fill(&rng, bytes, size_bytes);
        const struct ue_event event = {.type = UE_EVENT_BUNCH,
                                       .kind = UE_KIND_ACTOR,
                                       .channel = 2,
                                       .open = rng_chance(&rng, 20),
                                       .close = rng_chance(&rng, 5),
                                       .has_mapped = rng_chance(&rng, 20),
                                       .data = {bytes, 0, size_bytes * 8 - rng_below(&rng, 8)}};
        ue_received_actors_event(&replication_fixture.received_actors, &event);
    }
    replication_fixture_free_with(&actor);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changed_messages_crash_nothing),
        cmocka_unit_test(random_messages_crash_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
