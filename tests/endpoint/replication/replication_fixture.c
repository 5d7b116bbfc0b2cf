/* SPDX-License-Identifier: MIT */
#include "tests/endpoint/replication/replication_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define CLIENT_SEQ 1027
#define SERVER_SEQ 513

struct replication_fixture replication_fixture;

/* ---- classes ---- */

#define EIGHT(type)                                                                                                    \
    {"P", type}, {"P", type}, {"P", type}, {"P", type}, {"P", type}, {"P", type}, {"P", type}, {                       \
        "P", type                                                                                                      \
    }
static const struct ue_class_property bytes[] = {EIGHT(UE_VALUE_BYTE), EIGHT(UE_VALUE_BYTE), EIGHT(UE_VALUE_BYTE),
                                                 EIGHT(UE_VALUE_BYTE), EIGHT(UE_VALUE_BYTE), EIGHT(UE_VALUE_BYTE),
                                                 EIGHT(UE_VALUE_BYTE), EIGHT(UE_VALUE_BYTE)};
static const struct ue_class_property texts[] = {EIGHT(UE_VALUE_STRING), EIGHT(UE_VALUE_STRING), EIGHT(UE_VALUE_STRING),
                                                 EIGHT(UE_VALUE_STRING), EIGHT(UE_VALUE_STRING)};
static const struct ue_class_property mixed[] = {
    {"Bool", UE_VALUE_BOOL},     {"Byte", UE_VALUE_BYTE},     {"Int", UE_VALUE_INT32},     {"Float", UE_VALUE_FLOAT},
    {"String", UE_VALUE_STRING}, {"Object", UE_VALUE_OBJECT}, {"Vector", UE_VALUE_VECTOR}, {"Turn", UE_VALUE_ROTATION}};
static const struct ue_class_property number[] = {{"Number", UE_VALUE_INT32}};
static const struct ue_class_function functions[CALL_FUNCTIONS] = {
    [CALL_RELIABLE] = {"Reliable", UE_FUNCTION_CLIENT | UE_FUNCTION_RELIABLE, number, 1},
    [CALL_UNRELIABLE] = {"Unreliable", UE_FUNCTION_CLIENT, number, 1},
    [CALL_MULTICAST] = {"Multicast", UE_FUNCTION_MULTICAST, number, 1},
    [CALL_MULTICAST_2] = {"Multicast2", UE_FUNCTION_MULTICAST, number, 1},
    [CALL_SERVER] = {"Server", UE_FUNCTION_SERVER | UE_FUNCTION_RELIABLE, number, 1},
};

const struct ue_class bytes_class = {"/Game/Bytes.Bytes_C", NULL, false, bytes, 64, functions, CALL_FUNCTIONS};
const struct ue_class texts_class = {"/Game/Texts.Texts_C", NULL, false, texts, 40, NULL, 0};
const struct ue_class mixed_class = {"/Game/Mixed.Mixed_C", NULL, false, mixed, UE_VALUE_TYPE_COUNT, NULL, 0};
const struct ue_class player_class = {"/Game/Player.Player_C", &bytes_class, true, NULL, 0, NULL, 0};

const struct ue_class_function *replication_function(enum test_function function) {
    return &functions[function];
}

static const struct {
    uint64_t guid;
    uint64_t outer;
    const char *name;
    const struct ue_class *layout;
} names[] = {
    {7, 0, "/Game/Maps/Test", NULL},
    {5, 7, "Test", NULL},
    {GUID_LEVEL, 5, "PersistentLevel", NULL},
    {401, 0, "/Game/Bytes", NULL},
    {GUID_BYTES, 401, "Default__Bytes_C", &bytes_class},
    {GUID_PART_CLASS, 401, "Bytes_C", &bytes_class},
    {403, 0, "/Game/Texts", NULL},
    {GUID_TEXTS, 403, "Default__Texts_C", &texts_class},
    {405, 0, "/Game/Mixed", NULL},
    {GUID_MIXED, 405, "Default__Mixed_C", &mixed_class},
    {407, 0, "/Game/Player", NULL},
    {GUID_PLAYER, 407, "Default__Player_C", &player_class},
    {GUID_LAMP, GUID_LEVEL, "Lamp", &bytes_class},
    {GUID_LIGHT, GUID_LAMP, "Light", &bytes_class},
};
#define NAMES (sizeof names / sizeof *names)

static const struct ue_class *find_class(const char *path) {
    static const struct ue_class *const classes[] = {&bytes_class, &texts_class, &mixed_class, &player_class};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (strcmp(path, classes[i]->path) == 0) {
            return classes[i];
        }
    }
    bool is_lamp = strncmp(path, "/Game/Maps/Test.Test:PersistentLevel.Lamp", 41) == 0;
    return is_lamp ? &bytes_class : NULL;
}

static void add_names(void) {
    for (size_t i = 0; i < NAMES; i++) {
        const struct ue_named_object object = {names[i].guid, names[i].outer, UE_EXPORT_ASSET, 0, names[i].name};
        assert_int_equal(ue_package_map_add(&replication_fixture.map, &object), UE_OK);
    }
}

/* ---- connections ---- */

static struct ue_conn *new_conn(enum ue_role role, const struct ue_profile *profile) {
    struct ue_conn_config config = {.profile = profile, .role = role, .report_packets = true, .net_speed = 1 << 30};
    struct ue_conn *c = ue_conn_new(&replication_fixture.memory[role].allocator, &config);
    assert_non_null(c);
    bool is_client = role == UE_ROLE_CLIENT;
    ue_conn_adopt(c, replication_fixture.now_ns, is_client ? SERVER_SEQ : CLIENT_SEQ,
                  is_client ? CLIENT_SEQ : SERVER_SEQ);
    return c;
}

static void record_call(enum ue_role role, const struct ue_context *x, const struct ue_received_call *call) {
    struct ue_parameter parameter = {.value = {.type = UE_VALUE_INT32}};
    struct ue_fault fault;
    size_t bit = 0;
    if (replication_fixture.is_hostile) {
        return;
    }
    assert_int_equal(ue_parameter_decode(x, call->parameters, &bit, &parameter, &fault), UE_OK);
    assert_int_equal(bit, call->parameters.bits);
    uint32_t count = replication_fixture.call_count[role]++;
    assert_true(count < CALLS_MAX);
    replication_fixture.calls[role][count] = (struct replication_call){
        (enum test_function)(call->function - functions), parameter.is_present ? parameter.value.number : 0};
}

static void on_client_call(void *user, const struct ue_received_call *call) {
    record_call(UE_ROLE_CLIENT, &replication_fixture.received_actors.incoming, call);
}

static void on_server_call(void *user, const struct ue_received_call *call) {
    record_call(UE_ROLE_SERVER, &replication_fixture.map.context, call);
}

static void handle_client_events(void) {
    struct ue_event event;
    while (ue_conn_next_event(replication_fixture.client, &event)) {
        enum ue_status status = ue_received_actors_event(&replication_fixture.received_actors, &event);
        bool is_refused = replication_fixture.is_starved && status == UE_E_FULL;
        assert_true(status == UE_OK || is_refused);
        replication_fixture.refused_events += is_refused;
        if (event.type == UE_EVENT_BUNCH && event.channel != 0) {
            replication_fixture.bunches++;
            replication_fixture.reliable_bunches += event.reliable;
        }
    }
}

static void handle_server_events(void) {
    const struct ue_call_handler handler = {on_server_call, NULL};
    struct ue_event event;
    while (ue_conn_next_event(replication_fixture.server, &event)) {
        ue_replicator_event(&replication_fixture.replicator, &event);
        if (event.type == UE_EVENT_BUNCH && event.channel != 0) {
            assert_int_equal(ue_replicator_read(&replication_fixture.replicator, &event, &handler), UE_OK);
        }
    }
}

void replication_deliver(struct ue_conn *from, struct ue_conn *to, struct sim_link *link, bool drops) {
    struct ue_bytes datagram;
    while (ue_conn_next_datagram(from, &datagram)) {
        if (link != NULL) {
            sim_link_send(link, replication_fixture.now_ns, datagram.bytes, datagram.size_bytes);
        } else if (!drops) {
            ue_conn_receive(to, replication_fixture.now_ns, datagram.bytes, datagram.size_bytes);
        }
    }
    while (link != NULL && sim_link_pop(link, replication_fixture.now_ns, &datagram.bytes, &datagram.size_bytes)) {
        ue_conn_receive(to, replication_fixture.now_ns, datagram.bytes, datagram.size_bytes);
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
    const struct ue_call_handler handler = {on_client_call, NULL};
    memset(&replication_fixture, 0, sizeof replication_fixture);
    replication_fixture.now_ns = UINT64_C(5000000000);
    counting_allocator_init(&replication_fixture.memory[UE_ROLE_CLIENT], SIZE_MAX);
    counting_allocator_init(&replication_fixture.memory[UE_ROLE_SERVER], SIZE_MAX);
    replication_fixture.server = new_conn(UE_ROLE_SERVER, profile);
    replication_fixture.client = new_conn(UE_ROLE_CLIENT, profile);
    ue_package_map_init(&replication_fixture.map, &replication_fixture.memory[UE_ROLE_SERVER].allocator,
                        ue_conn_context(replication_fixture.server));
    add_names();
    ue_replicator_init(&replication_fixture.replicator, replication_fixture.server, &replication_fixture.map);
    assert_true(ue_received_actors_init(&replication_fixture.received_actors, replication_fixture.client,
                                        &replication_fixture.memory[UE_ROLE_CLIENT].allocator, find_class, &handler));
    struct ue_outgoing hello = {.reliable = true, .data = {(const uint8_t *)"h", 0, 8}};
    assert_int_equal(ue_conn_send(replication_fixture.client, replication_fixture.now_ns, &hello, NULL), UE_OK);
    replication_run(3);
}

void replication_fixture_free(void) {
    ue_replicator_free(&replication_fixture.replicator);
    ue_received_actors_free(&replication_fixture.received_actors);
    sim_link_free(replication_fixture.down);
    sim_link_free(replication_fixture.up);
    ue_conn_free(replication_fixture.server);
    ue_conn_free(replication_fixture.client);
}

void replication_assert_no_memory(void) {
    assert_int_equal(replication_fixture.memory[UE_ROLE_CLIENT].blocks, 0);
    assert_int_equal(replication_fixture.memory[UE_ROLE_SERVER].blocks, 0);
}

void replication_fixture_free_with(struct ue_replicated_actor *actor) {
    replication_fixture_free();
    ue_replicated_actor_free(actor);
    ue_package_map_free(&replication_fixture.map);
    replication_assert_no_memory();
}

/* ---- actors ---- */

/* In memory with old contents. */
static struct ue_replicated_object *new_object(const struct ue_class *layout, uint64_t guid) {
    uint8_t *used = ue_share_alloc(&replication_fixture.map.share, 100000);
    memset(used, 0xff, 100000);
    ue_share_free_block(&replication_fixture.map.share, used);
    struct ue_replicated_object *o = ue_replicated_object_new(&replication_fixture.map, layout, guid);
    assert_non_null(o);
    return o;
}

struct ue_replicated_actor replication_new_actor(uint64_t guid, uint64_t archetype) {
    struct ue_replicated_actor actor = {
        .place = {.archetype = archetype, .level = GUID_LEVEL, .location = {123, -45, 885}, .scale = {10, 10, 15}}};
    const struct ue_class *layout = &bytes_class;
    for (size_t i = 0; i < NAMES; i++) {
        layout = archetype != 0 && names[i].guid == archetype ? names[i].layout : layout;
    }
    actor.object = new_object(layout, guid);
    return actor;
}

struct ue_replicated_object *replication_new_part(uint64_t guid, uint64_t class_guid) {
    struct ue_replicated_object *o = new_object(&bytes_class, guid);
    o->class_guid = class_guid;
    return o;
}

void replication_set_value(struct ue_replicated_object *o, uint32_t handle, uint8_t value) {
    const struct ue_value v = {.type = UE_VALUE_BYTE, .number = value};
    assert_int_equal(ue_replicated_object_set(o, handle, &v), UE_OK);
    ue_replicated_object_collect(o);
}

int replication_get_value(uint64_t guid, uint64_t object, uint32_t handle) {
    const struct ue_received_actor *actor = ue_received_actor_find(&replication_fixture.received_actors, guid);
    const struct ue_received_object *o = actor != NULL ? ue_received_object_find(actor, object) : NULL;
    struct ue_view view = o != NULL ? ue_received_object_get(o, handle) : (struct ue_view){0};
    return view.base != NULL ? view.base[0] : -1;
}

static bool is_object_equal(const struct ue_replicated_object *o, const struct ue_received_object *copy) {
    struct ue_replicated_object *initial = new_object(o->layout, 0);
    bool is_equal = copy != NULL && copy->layout == o->layout;
    for (uint32_t handle = 1; is_equal && handle <= o->property_count; handle++) {
        struct ue_view value = ue_received_object_get(copy, handle);
        value = value.base != NULL ? value : ue_replicated_object_get(initial, handle);
        is_equal = ue_view_equal(value, ue_replicated_object_get(o, handle));
    }
    ue_replicated_object_free(initial);
    return is_equal;
}

bool replication_equal(const struct ue_replicated_actor *actor) {
    const struct ue_received_actor *copy =
        ue_received_actor_find(&replication_fixture.received_actors, actor->object->guid);
    bool is_equal = copy != NULL && (copy->spawn != NULL) == (actor->place.archetype != 0);
    for (const struct ue_replicated_object *o = actor->object; is_equal && o != NULL; o = o->next) {
        const struct ue_received_object *part = ue_received_object_find(copy, o->guid);
        is_equal = o->is_removed ? part == NULL : is_object_equal(o, part);
    }
    return is_equal;
}

enum ue_status replication_call(struct ue_replica *replica, const struct ue_replicated_object *target,
                                enum test_function function, uint32_t number_value) {
    const struct ue_value value = {.type = UE_VALUE_INT32, .number = number_value};
    const struct ue_replicated_call call = {target, replication_function(function), &value};
    return ue_replica_call(&replication_fixture.replicator, replication_fixture.now_ns, replica, &call);
}
