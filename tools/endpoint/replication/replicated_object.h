/* SPDX-License-Identifier: MIT */
/* A server's actors and their sub-objects: the current values of their properties, and which of them changed
   (endpoint.md 37.1, 37.2). */
#ifndef UERUDP_TOOLS_ENDPOINT_REPLICATION_REPLICATED_OBJECT_H
#define UERUDP_TOOLS_ENDPOINT_REPLICATION_REPLICATED_OBJECT_H

#include <uerudp/class_layout.h>
#include "tools/endpoint/replication/package_map.h"
#include "tools/endpoint/replication/replication_history.h"

#define UE_VALUE_BITS_MAX 4096 /* of a string; all properties of an object together fit into one bunch */

/* A value as on the wire. */
struct ue_replicated_value {
    uint32_t bits;
    uint32_t first_bit;     /* in the object's values */
    uint32_t capacity_bits; /* of its type */
};

struct ue_replicated_object {
    struct ue_package_map *map;
    const struct ue_class *layout;
    uint64_t guid;
    uint64_t class_guid; /* of a sub-object that is created at run time; 0: the client knows the object by name */
    uint64_t outer;      /* of such a sub-object; 0: the actor */
    bool is_removed;     /* the sub-object is to be deleted */
    struct ue_replicated_object *next; /* sub-object of the same actor */
    uint32_t property_count;
    struct ue_replicated_value properties[UE_HANDLES_MAX];
    uint64_t dirty; /* changed since the last ue_replicated_object_collect */
    struct ue_changes changes;
    uint32_t watchers; /* connections that replicate it */
    uint8_t values[];
};

/* Creates an object whose properties have the default of their types, which is zero. The map must outlive it. NULL: no
   memory, or more than UE_HANDLES_MAX properties. */
struct ue_replicated_object *ue_replicated_object_new(struct ue_package_map *map, const struct ue_class *layout,
                                                      uint64_t guid);
/* Frees an object that no connection replicates. */
void ue_replicated_object_free(struct ue_replicated_object *o);

/* Sets a property; an equal value is no change. UE_E_RANGE: no such handle; UE_E_LENGTH: more than UE_VALUE_BITS_MAX
   bits; otherwise as ue_value_encode. */
enum ue_status ue_replicated_object_set(struct ue_replicated_object *o, uint32_t handle, const struct ue_value *value);
/* The value of an existing handle as on the wire. */
struct ue_view ue_replicated_object_get(const struct ue_replicated_object *o, uint32_t handle);
/* Adds the changes since the last call to the list that all connections share. */
void ue_replicated_object_collect(struct ue_replicated_object *o);

/* Where an actor is spawned. Vectors are in tenths of a unit. */
struct ue_actor_place {
    uint64_t archetype;
    uint64_t level;
    int32_t location[3];
    bool has_rotation;
    uint16_t rotation[3]; /* pitch, yaw, roll; a full turn is 65536 */
    int32_t scale[3];
    int32_t velocity[3];
    uint64_t class_data; /* of a player controller */
};

struct ue_replicated_actor {
    struct ue_replicated_object *object; /* the actor itself; its sub-objects follow it */
    struct ue_actor_place place;         /* of an actor that is spawned at run time */
};

/* Adds a sub-object, which the actor then owns. */
void ue_replicated_actor_add(struct ue_replicated_actor *actor, struct ue_replicated_object *object);
/* Collects the changes of the actor and its sub-objects, once for each update, and frees sub-objects that were removed
   and that no connection replicates any more. */
void ue_replicated_actor_collect(struct ue_replicated_actor *actor);
/* Frees the actor's objects, which no connection replicates. */
void ue_replicated_actor_free(struct ue_replicated_actor *actor);

#endif
