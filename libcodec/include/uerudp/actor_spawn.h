/* SPDX-License-Identifier: MIT */
/* Actor spawn: the open data of an actor channel, which identifies the actor and its initial position (protocol.md 2.8,
   23.3). Views point into the message. */
#ifndef UERUDP_ACTOR_SPAWN_H
#define UERUDP_ACTOR_SPAWN_H

#include <uerudp/object.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A vector in one of its wire forms. Components are raw bits; ue_vector_component decodes them. Members that are absent
   on the wire are zero, quantized is true. */
struct ue_vector {
    bool present;
    bool quantized;
    uint8_t bits; /* length of a component; up to EngineNetVer 22: minus 2; later: 0 = not quantised */
    bool scaled;
    uint64_t components[3];
};

/* The value of a component (axis 0 to 2); 0 when the vector is not present. */
double ue_vector_component(const struct ue_context *context, const struct ue_vector *vector, unsigned axis);

/* Quantizes components in tenths of a unit, below 2^23, in the context's form with scale 10. */
void ue_vector_quantize(const struct ue_context *context, const int32_t tenths[3], struct ue_vector *vector);

/* A vector that is not quantized, where the generation has such vectors; else quantized. */
void ue_vector_set_exact(const struct ue_context *context, const int32_t tenths[3], struct ue_vector *vector);

/* Pitch, yaw and roll in steps of 360/65536 degrees; angles that are not present are zero. */
struct ue_rotation {
    bool present[3];
    uint16_t steps[3];
};

struct ue_actor_spawn {
    struct ue_object object;
    bool is_spawned; /* a dynamic actor: the members below are present. A dynamic actor without them is destroyed */
    struct ue_object archetype;
    struct ue_object level; /* from EngineNetVer 5 */
    struct ue_vector location;
    bool has_rotation;
    struct ue_rotation rotation;
    struct ue_vector scale;
    struct ue_vector velocity;
    uint8_t class_bits; /* not on the wire: number of bits that the actor's class adds; input of decoding, too */
    struct ue_view class_data;
};

/* Decodes at *bit of a message, or encodes at *bit of bytes. Both advance *bit. */
enum ue_status ue_actor_spawn_decode(const struct ue_context *context, struct ue_view data, size_t *bit,
                                     struct ue_actor_spawn *actor, struct ue_fault *fault);
enum ue_status ue_actor_spawn_encode(const struct ue_context *context, const struct ue_actor_spawn *actor,
                                     uint8_t *bytes, size_t size_bytes, size_t *bit, struct ue_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
