/* SPDX-License-Identifier: MIT */
#include "tests/endpoint/replication_stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define CLIENT_SEQ 1027
#define SERVER_SEQ 513

struct replication_stage stage;

static struct ue_conn *new_conn(enum ue_role role, const struct ue_profile *profile) {
    struct ue_conn_config config = {.profile = profile, .role = role, .report_packets = true, .net_speed = 1 << 30};
    struct ue_conn *c = ue_conn_new(stage.share.pool, &config);
    assert_non_null(c);
    bool is_client = role == UE_ROLE_CLIENT;
    ue_conn_adopt(c, stage.now_ns, is_client ? SERVER_SEQ : CLIENT_SEQ, is_client ? CLIENT_SEQ : SERVER_SEQ);
    return c;
}

/* All calls of 32 bits here have these parameters. */
static void check_calls(struct ue_view data) {
    struct ue_replication_reader reader = {.data = data};
    struct ue_replication_block item;
    while (ue_replication_read(&reader, &item)) {
        if (item.kind == UE_REPLICATION_CALL && item.value.bits == 32) {
            assert_true(ue_view_equal(item.value, (struct ue_view){(const uint8_t *)"args", 0, 32}));
        }
    }
}

static void take_client_events(void) {
    struct ue_event event;
    while (ue_conn_next_event(stage.client, &event)) {
        if (event.type == UE_EVENT_CHANNEL_CLOSED && event.channel < CHANNELS_MAX) {
            ue_mirror_free(&stage.mirrors[event.channel]);
        } else if (event.type == UE_EVENT_BUNCH && event.channel != 0) {
            assert_true(event.channel < CHANNELS_MAX);
            assert_int_equal(ue_mirror_read(&stage.mirrors[event.channel], event.data), UE_OK);
            check_calls(event.data);
            stage.bunches++;
        }
    }
}

static void take_server_events(void) {
    struct ue_event event;
    while (ue_conn_next_event(stage.server, &event)) {
        ue_replicator_event(&stage.replicator, &event);
    }
}

void carry(struct ue_conn *from, struct ue_conn *to, struct sim_link *link, bool is_cut) {
    struct ue_bytes bytes;
    while (ue_conn_next_datagram(from, &bytes)) {
        if (link != NULL) {
            sim_link_send(link, stage.now_ns, bytes.bytes, bytes.size_bytes);
        } else if (!is_cut) {
            ue_conn_receive(to, stage.now_ns, bytes.bytes, bytes.size_bytes);
        }
    }
    while (link != NULL && sim_link_pop(link, stage.now_ns, &bytes.bytes, &bytes.size_bytes)) {
        ue_conn_receive(to, stage.now_ns, bytes.bytes, bytes.size_bytes);
    }
    ue_conn_end_receive(to, stage.now_ns);
}

void tick(void) {
    carry(stage.client, stage.server, stage.up, false);
    take_server_events();
    ue_replicator_tick(&stage.replicator, stage.now_ns);
    ue_conn_tick(stage.server, stage.now_ns);
    carry(stage.server, stage.client, stage.down, stage.down_is_cut);
    take_client_events();
    ue_conn_tick(stage.client, stage.now_ns);
    stage.now_ns += TICK_NS;
}

void ticks(unsigned times) {
    for (; times > 0; times--) {
        tick();
    }
}

void begin(const struct ue_profile *profile) {
    memset(&stage, 0, sizeof stage);
    stage.now_ns = UINT64_C(5000000000);
    ue_share_init(&stage.share, ue_pool_init(stage.region, sizeof stage.region), SIZE_MAX);
    stage.server = new_conn(UE_ROLE_SERVER, profile);
    stage.client = new_conn(UE_ROLE_CLIENT, profile);
    ue_replicator_init(&stage.replicator, stage.server, &stage.share);
    for (size_t i = 0; i < CHANNELS_MAX; i++) {
        ue_mirror_init(&stage.mirrors[i], &stage.share);
    }
    struct ue_outgoing hello = {.reliable = true, .data = {(const uint8_t *)"h", 0, 8}};
    assert_int_equal(ue_conn_send(stage.client, stage.now_ns, &hello, NULL), UE_OK);
    ticks(3);
}

void end(void) {
    ue_replicator_free(&stage.replicator);
    for (size_t i = 0; i < CHANNELS_MAX; i++) {
        ue_mirror_free(&stage.mirrors[i]);
    }
    sim_link_free(stage.down);
    sim_link_free(stage.up);
    ue_conn_free(stage.server);
    ue_conn_free(stage.client);
}

void end_with(struct ue_replicated_object *object) {
    end();
    ue_replicated_object_free(object);
    assert_int_equal(ue_pool_used_bytes(stage.share.pool), 0);
}

struct ue_replicated_object *new_object(uint32_t id, uint32_t width_bits, uint32_t count) {
    uint32_t widths[UE_HANDLES_MAX];
    uint8_t *used = ue_share_alloc(&stage.share, 100000);
    memset(used, 0xff, 100000);
    ue_share_free_block(&stage.share, used);
    for (uint32_t i = 0; i < count; i++) {
        widths[i] = width_bits;
    }
    struct ue_replicated_object *o = ue_replicated_object_new(&stage.share, id, widths, count);
    assert_non_null(o);
    return o;
}

void set(struct ue_replicated_object *o, uint32_t handle, uint8_t value) {
    struct ue_view view = {&value, 0, 8};
    assert_int_equal(ue_replicated_object_set(o, handle, view), UE_OK);
}

uint8_t got(const struct ue_replica *replica, uint32_t handle) {
    struct ue_view view = ue_mirror_get(&stage.mirrors[replica->channel], handle);
    assert_int_equal(view.bits, 8);
    return view.base[0];
}

bool same(const struct ue_replicated_object *o, const struct ue_mirror *m) {
    for (uint32_t handle = 1; handle <= o->property_count; handle++) {
        struct ue_view copy = ue_mirror_get(m, handle);
        if (copy.base == NULL || !ue_view_equal(copy, ue_replicated_object_get(o, handle))) {
            return false;
        }
    }
    return m->has_id && m->id == o->id;
}

enum ue_status call(struct ue_replica *replica, uint16_t function, bool reliable, bool multicast) {
    struct ue_replicated_call c = {function, reliable, multicast, {(const uint8_t *)"args", 0, 32}};
    return ue_replica_call(&stage.replicator, stage.now_ns, replica, &c);
}
