/* SPDX-License-Identifier: MIT */
/* A client's copies of a server's actors, and its calls to the server (endpoint.md 37.10). */
#ifndef UERUDP_TOOLS_ENDPOINT_REPLICATION_RECEIVED_ACTORS_H
#define UERUDP_TOOLS_ENDPOINT_REPLICATION_RECEIVED_ACTORS_H

#include <uerudp/class_layout.h>
#include <uerudp/endpoint.h>
#include <uerudp/guid_map.h>
#include "tools/endpoint/base/memory_share.h"
#include "tools/endpoint/replication/package_map.h"
#include "tools/endpoint/replication/received_remote_calls.h"

struct ue_received_value {
    uint8_t *bytes; /* NULL: not received, the default */
    uint32_t bits;
};

struct ue_received_object {
    struct ue_received_object *next; /* sub-object of the same actor */
    uint64_t guid;
    const struct ue_class *layout; /* NULL: unknown, nothing but its existence is known */
    uint32_t value_count;
    struct ue_received_value values[];
};

struct ue_received_actor {
    struct ue_received_actor *next;
    struct ue_received_object *objects; /* the actor, then its sub-objects */
    uint32_t channel;                   /* UINT32_MAX: dormant */
    struct ue_actor_spawn *spawn;       /* NULL: an actor of the map */
};

/* The class of an archetype, or of an object that is known by name, by its path; NULL: unknown. */
typedef const struct ue_class *ue_class_finder(const char *path);

struct ue_received_actors {
    struct ue_conn *conn;
    struct ue_share share;
    struct ue_context incoming;
    struct ue_guid_map *names;
    ue_class_finder *find_class;
    struct ue_call_handler calls;
    struct ue_received_actor *actors;
    uint64_t properties; /* values received */
    uint64_t destroyed;  /* actors that are gone */
};

/* allocator NULL: malloc. False: no memory. */
bool ue_received_actors_init(struct ue_received_actors *m, struct ue_conn *conn, const struct ue_allocator *allocator,
                             ue_class_finder *find_class, const struct ue_call_handler *calls);
void ue_received_actors_free(struct ue_received_actors *m);

/* Learns the names of a map before they are exported, as those that a replay's file has beside its packets. */
enum ue_status ue_received_actors_learn(struct ue_received_actors *m, const struct ue_package_map *map);

/* Handles an event of the connection; call it for all of them, in order. The part of a malformed message before the
   fault counts. UE_E_FULL: no memory. */
enum ue_status ue_received_actors_event(struct ue_received_actors *m, const struct ue_event *event);

/* NULL: none. */
const struct ue_received_actor *ue_received_actor_find(const struct ue_received_actors *m, uint64_t guid);
const struct ue_received_object *ue_received_object_find(const struct ue_received_actor *actor, uint64_t guid);
/* Base NULL: not received, the default of the type. */
struct ue_view ue_received_object_get(const struct ue_received_object *object, uint32_t handle);

/* Calls a function of the server, at once. guid: of the actor or one of its sub-objects. Reliable calls wait for
   nothing and close the connection when the channel is full; unreliable ones are dropped while the bandwidth is
   exceeded. UE_E_CONFLICT: no such object, or not its function. */
enum ue_status ue_received_actors_call(struct ue_received_actors *m, uint64_t now_ns,
                                       const struct ue_received_actor *actor, uint64_t guid,
                                       const struct ue_class_function *function, const struct ue_value *parameters);

#endif
