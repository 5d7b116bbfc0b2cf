/* SPDX-License-Identifier: MIT */
/* The opening of an actor channel: which actor, and where it is spawned (protocol.md 2.8, 23.3). */
#ifndef UERUDP_ACTOR_SPAWN_H
#define UERUDP_ACTOR_SPAWN_H

#include <uerudp/object.h>

/* A vector in one of its forms; components as on the wire. Members that are absent there are zero, quantized true. */
struct ue_vector {
    bool present;
    bool quantized;
    uint8_t bits; /* of a component: up to EngineNetVer 22 less 2; 0 in later releases: not rounded after all */
    bool scaled;
    uint64_t components[3];
};

/* The number that a component stands for; 0 of a vector that is not present. */
double ue_vector_component(const struct ue_context *context, const struct ue_vector *vector, unsigned axis);

/* Pitch, yaw and roll in steps of 360/65536 degrees; those that are not present are zero. */
struct ue_rotation {
    bool present[3];
    uint16_t steps[3];
};

struct ue_actor_spawn {
    struct ue_object object;
    bool is_spawned; /* of a dynamic actor: the rest is there. Without it the bunch says that the actor is gone */
    struct ue_object archetype;
    struct ue_object level; /* from EngineNetVer 5 */
    struct ue_vector location;
    bool has_rotation;
    struct ue_rotation rotation;
    struct ue_vector scale;
    struct ue_vector velocity;
    uint8_t class_bits; /* not on the wire: how many bits the actor's class adds */
    struct ue_view class_data;
};

/* Reads at *bit of a message and advances *bit, or appends at *bit of bytes. class_bits is given, for decoding, too. */
enum ue_status ue_actor_spawn_decode(const struct ue_context *context, struct ue_view data, size_t *bit,
                               struct ue_actor_spawn *actor, struct ue_fault *fault);
enum ue_status ue_actor_spawn_encode(const struct ue_context *context, const struct ue_actor_spawn *actor, uint8_t *bytes,
                               size_t size_bytes, size_t *bit, struct ue_fault *fault);

#endif
