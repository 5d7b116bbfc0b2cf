/* SPDX-License-Identifier: MIT */
/* A server that replicates actors to one client, directly or over simulated links, in virtual time. */
#ifndef UERUDP_TESTS_ENDPOINT_REPLICATION_REPLICATION_FIXTURE_H
#define UERUDP_TESTS_ENDPOINT_REPLICATION_REPLICATION_FIXTURE_H

#include "tests/support/counting_allocator.h"
#include "tools/endpoint/core/connection.h"
#include "tools/endpoint/replication/received_actors.h"
#include "tools/endpoint/replication/replication.h"
#include "tools/sim/link.h"

#define TICK_NS UINT64_C(33333333)
#define CALLS_MAX 4096

/* The classes of the tests. */
extern const struct ue_class bytes_class;  /* 64 properties of 8 bits, and the functions below */
extern const struct ue_class texts_class;  /* 40 strings */
extern const struct ue_class mixed_class;  /* one property of each type */
extern const struct ue_class player_class; /* a player controller */

/* Functions of bytes_class, each with one int32. */
enum test_function { CALL_RELIABLE, CALL_UNRELIABLE, CALL_MULTICAST, CALL_MULTICAST_2, CALL_SERVER, CALL_FUNCTIONS };
const struct ue_class_function *replication_function(enum test_function function);

/* Ids of names. */
#define GUID_LEVEL 3
#define GUID_BYTES 101 /* archetypes */
#define GUID_TEXTS 103
#define GUID_MIXED 105
#define GUID_PLAYER 107
#define GUID_PART_CLASS 109 /* the class of sub-objects: bytes_class */
#define GUID_LAMP 201       /* an actor of the map of bytes_class, and its sub-object */
#define GUID_LIGHT 203

struct replication_call {
    enum test_function function;
    uint32_t number;
};

struct replication_fixture {
    struct counting_allocator memory[2]; /* by role; the map is the server's */
    struct ue_package_map map;
    struct ue_conn *server;
    struct ue_conn *client;
    struct sim_link *down; /* NULL: without loss or delay */
    struct sim_link *up;
    bool downlink_drops;
    bool is_hostile;         /* calls may be malformed, and are not recorded */
    bool is_starved;         /* the client may lack memory for an event */
    uint32_t refused_events; /* that it lacked memory for */
    struct ue_replicator replicator;
    struct ue_received_actors received_actors;
    uint64_t now_ns;
    uint32_t bunches; /* received by the client on actor channels */
    uint32_t reliable_bunches;
    struct replication_call calls[2][CALLS_MAX]; /* received by each role */
    uint32_t call_count[2];
};

extern struct replication_fixture replication_fixture;

/* Creates both connections; the server has received the client's first bunch and may send. */
void replication_fixture_init(const struct ue_profile *profile);
void replication_fixture_free(void);
void replication_assert_no_memory(void);
/* Frees the actor, then everything, and asserts that no memory is in use. */
void replication_fixture_free_with(struct ue_replicated_actor *actor);

/* Delivers the datagrams of one connection to the other, over the link if not NULL; `drops` discards them. */
void replication_deliver(struct ue_conn *from, struct ue_conn *to, struct sim_link *link, bool drops);
void replication_tick(void);
void replication_run(unsigned times);

/* A spawned actor, or with archetype 0 an actor of the map. */
struct ue_replicated_actor replication_new_actor(uint64_t guid, uint64_t archetype);
struct ue_replicated_object *replication_new_part(uint64_t guid, uint64_t class_guid);

/* A property of 8 bits: set at the server, collected; read at the client, -1: not there. */
void replication_set_value(struct ue_replicated_object *o, uint32_t handle, uint8_t value);
int replication_get_value(uint64_t guid, uint64_t object, uint32_t handle);
/* Whether the client's copies equal the actor and its sub-objects. */
bool replication_equal(const struct ue_replicated_actor *actor);

enum ue_status replication_call(struct ue_replica *replica, const struct ue_replicated_object *target,
                                enum test_function function, uint32_t number);

#endif
