/* SPDX-License-Identifier: MIT */
#include "tests/endpoint/replication/replication_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define CLIENT_SEQ 1027
#define SERVER_SEQ 513

struct replication_fixture replication_fixture;

static struct ue_conn *new_conn(enum ue_role role, const struct ue_profile *profile) {
    struct ue_conn_config config = {.profile = profile, .role = role, .report_packets = true, .net_speed = 1 << 30};
    struct ue_conn *c = ue_conn_new(&replication_fixture.memory.allocator, &config);
    assert_non_null(c);
    bool is_client = role == UE_ROLE_CLIENT;
    ue_conn_adopt(c, replication_fixture.now_ns, is_client ? SERVER_SEQ : CLIENT_SEQ,
                  is_client ? CLIENT_SEQ : SERVER_SEQ);
    return c;
}

/* All calls of 32 bits have these parameters. */
static void check_calls(struct ue_view data) {
    struct ue_replication_reader reader = {.data = data};
    struct ue_replication_block item;
    while (ue_replication_read(&reader, &item)) {
        if (item.kind == UE_REPLICATION_CALL && item.value.bits == 32) {
            assert_true(ue_view_equal(item.value, (struct ue_view){(const uint8_t *)"args", 0, 32}));
        }
    }
}

static void handle_client_events(void) {
    struct ue_event event;
    while (ue_conn_next_event(replication_fixture.client, &event)) {
        if (event.type == UE_EVENT_CHANNEL_CLOSED && event.channel < CHANNELS_MAX) {
            ue_mirror_free(&replication_fixture.mirrors[event.channel]);
        } else if (event.type == UE_EVENT_BUNCH && event.channel != 0) {
            assert_true(event.channel < CHANNELS_MAX);
            assert_int_equal(ue_mirror_read(&replication_fixture.mirrors[event.channel], event.data), UE_OK);
            check_calls(event.data);
            replication_fixture.bunches++;
        }
    }
}

static void handle_server_events(void) {
    struct ue_event event;
    while (ue_conn_next_event(replication_fixture.server, &event)) {
        ue_replicator_event(&replication_fixture.replicator, &event);
    }
}

void replication_deliver(struct ue_conn *from, struct ue_conn *to, struct sim_link *link, bool drops) {
    struct ue_bytes bytes;
    while (ue_conn_next_datagram(from, &bytes)) {
        if (link != NULL) {
            sim_link_send(link, replication_fixture.now_ns, bytes.bytes, bytes.size_bytes);
        } else if (!drops) {
            ue_conn_receive(to, replication_fixture.now_ns, bytes.bytes, bytes.size_bytes);
        }
    }
    while (link != NULL && sim_link_pop(link, replication_fixture.now_ns, &bytes.bytes, &bytes.size_bytes)) {
        ue_conn_receive(to, replication_fixture.now_ns, bytes.bytes, bytes.size_bytes);
    }
    ue_conn_end_receive(to, replication_fixture.now_ns);
}

void replication_tick(void) {
    replication_deliver(replication_fixture.client, replication_fixture.server, replication_fixture.up, false);
    handle_server_events();
    ue_replicator_tick(&replication_fixture.replicator, replication_fixture.now_ns);
    ue_conn_tick(replication_fixture.server, replication_fixture.now_ns);
    replication_deliver(replication_fixture.server, replication_fixture.client, replication_fixture.down,
                        replication_fixture.downlink_drops);
    handle_client_events();
    ue_conn_tick(replication_fixture.client, replication_fixture.now_ns);
    replication_fixture.now_ns += TICK_NS;
}

void replication_run(unsigned times) {
    for (; times > 0; times--) {
        replication_tick();
    }
}

void replication_fixture_init(const struct ue_profile *profile) {
    memset(&replication_fixture, 0, sizeof replication_fixture);
    replication_fixture.now_ns = UINT64_C(5000000000);
    counting_allocator_init(&replication_fixture.memory, SIZE_MAX);
    ue_share_init(&replication_fixture.share, &replication_fixture.memory.allocator, SIZE_MAX);
    replication_fixture.server = new_conn(UE_ROLE_SERVER, profile);
    replication_fixture.client = new_conn(UE_ROLE_CLIENT, profile);
    ue_replicator_init(&replication_fixture.replicator, replication_fixture.server, &replication_fixture.share);
    for (size_t i = 0; i < CHANNELS_MAX; i++) {
        ue_mirror_init(&replication_fixture.mirrors[i], &replication_fixture.share);
    }
    struct ue_outgoing hello = {.reliable = true, .data = {(const uint8_t *)"h", 0, 8}};
    assert_int_equal(ue_conn_send(replication_fixture.client, replication_fixture.now_ns, &hello, NULL), UE_OK);
    replication_run(3);
}

void replication_fixture_free(void) {
    ue_replicator_free(&replication_fixture.replicator);
    for (size_t i = 0; i < CHANNELS_MAX; i++) {
        ue_mirror_free(&replication_fixture.mirrors[i]);
    }
    sim_link_free(replication_fixture.down);
    sim_link_free(replication_fixture.up);
    ue_conn_free(replication_fixture.server);
    ue_conn_free(replication_fixture.client);
}

void replication_fixture_free_with(struct ue_replicated_object *object) {
    replication_fixture_free();
    ue_replicated_object_free(object);
    assert_int_equal(replication_fixture.memory.used_bytes, 0);
}

struct ue_replicated_object *replication_new_object(uint32_t id, uint32_t width_bits, uint32_t count) {
    uint32_t widths[UE_HANDLES_MAX];
    uint8_t *used = ue_share_alloc(&replication_fixture.share, 100000);
    memset(used, 0xff, 100000);
    ue_share_free_block(&replication_fixture.share, used);
    for (uint32_t i = 0; i < count; i++) {
        widths[i] = width_bits;
    }
    struct ue_replicated_object *o = ue_replicated_object_new(&replication_fixture.share, id, widths, count);
    assert_non_null(o);
    return o;
}

void replication_set_value(struct ue_replicated_object *o, uint32_t handle, uint8_t value) {
    struct ue_view view = {&value, 0, 8};
    assert_int_equal(ue_replicated_object_set(o, handle, view), UE_OK);
}

uint8_t replication_get_value(const struct ue_replica *replica, uint32_t handle) {
    struct ue_view view = ue_mirror_get(&replication_fixture.mirrors[replica->channel], handle);
    assert_int_equal(view.bits, 8);
    return view.base[0];
}

bool replication_equal(const struct ue_replicated_object *o, const struct ue_mirror *m) {
    for (uint32_t handle = 1; handle <= o->property_count; handle++) {
        struct ue_view copy = ue_mirror_get(m, handle);
        if (copy.base == NULL || !ue_view_equal(copy, ue_replicated_object_get(o, handle))) {
            return false;
        }
    }
    return m->has_id && m->id == o->id;
}

enum ue_status replication_call(struct ue_replica *replica, uint16_t function, bool reliable, bool multicast) {
    struct ue_replicated_call c = {function, reliable, multicast, {(const uint8_t *)"args", 0, 32}};
    return ue_replica_call(&replication_fixture.replicator, replication_fixture.now_ns, replica, &c);
}
