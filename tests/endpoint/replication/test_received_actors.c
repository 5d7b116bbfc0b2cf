/* SPDX-License-Identifier: MIT */
/* A client that reads malformed and random messages about actors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/endpoint/replication/replication_fixture.h"
#include "tests/support/rng.h"
#include "tools/endpoint/replication/replication_content.h"

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

static void append(struct ue_content_writer *w, const uint8_t *bytes, size_t bits) {
    ue_content_write_bits(w, (struct ue_view){bytes, 0, bits});
}

/* Handle 5 with this value, then the end; the handle as coded. */
static void receive_value(uint64_t guid, const uint8_t *handle, size_t handle_bytes, uint8_t value) {
    struct ue_received_actors *m = &replication_fixture.received_actors;
    struct ue_content_writer payload, w;
    ue_content_writer_init(&payload, &m->share, &m->incoming);
    append(&payload, (const uint8_t[]){0}, 1); /* no checksum */
    append(&payload, handle, handle_bytes * 8);
    append(&payload, &value, 8);
    append(&payload, (const uint8_t[]){0}, 8);
    ue_content_writer_init(&w, &m->share, &m->incoming);
    ue_content_write_block(&w, &(struct ue_content_target){.is_actor = true}, true, &payload);
    const struct ue_event event = {.type = UE_EVENT_BUNCH,
                                   .kind = UE_KIND_ACTOR,
                                   .channel = ue_received_actor_find(m, guid)->channel,
                                   .data = ue_content_writer_view(&w)};
    assert_int_equal(ue_received_actors_event(m, &event), UE_OK);
    ue_content_writer_free(&payload);
    ue_content_writer_free(&w);
}

/* A packed integer may have needless groups (protocol.md 2.4). */
static void values_follow_handles_of_any_length(void **state) {
    replication_fixture_init(ue_profile_find("5.5"));
    struct ue_replicated_actor actor = replication_new_actor(64, GUID_BYTES);
    ue_replicator_add(&replication_fixture.replicator, &actor);
    replication_run(4);
    receive_value(64, (const uint8_t[]){5 << 1}, 1, 0x2a);
    assert_int_equal(replication_get_value(64, 64, 5), 0x2a);
    receive_value(64, (const uint8_t[]){5 << 1 | 1, 0}, 2, 0x4b);
    assert_int_equal(replication_get_value(64, 64, 5), 0x4b);
    receive_value(64, (const uint8_t[]){5 << 1 | 1, 1, 0}, 3, 0x6c);
    assert_int_equal(replication_get_value(64, 64, 5), 0x6c);
    replication_fixture_free_with(&actor);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changed_messages_crash_nothing),
        cmocka_unit_test(random_messages_crash_nothing),
        cmocka_unit_test(values_follow_handles_of_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
