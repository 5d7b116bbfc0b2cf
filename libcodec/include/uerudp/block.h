/* SPDX-License-Identifier: MIT */
/* Content blocks: what an actor channel says about its actor or one of its objects (protocol.md 23.4, 23.5). */
#ifndef UERUDP_BLOCK_H
#define UERUDP_BLOCK_H

#include <uerudp/object.h>

/* Which members count follows from those before them, from the direction and from the generation. */
struct ue_block {
    bool has_rep_layout; /* the payload begins with properties */
    bool is_actor;       /* otherwise about object; what is not about the payload is then: */
    struct ue_object object;
    bool stably_named; /* from the server; otherwise: */
    bool is_destroy;   /* then destroy_flags, and no payload */
    uint8_t destroy_flags;
    struct ue_object class_object; /* null: the object is destroyed, and no payload */
    bool actor_is_outer;
    struct ue_object outer;
    bool has_payload;
    struct ue_view payload;
};

/* One property of a replay. */
struct ue_property {
    uint32_t number; /* handle plus one; 0: no further property, and no value */
    struct ue_view value;
};

/* A remote call, or a property with a form of its own. */
struct ue_call {
    uint8_t index_bits; /* not on the wire */
    uint32_t index;
    struct ue_view payload;
};

/* Reads at *bit of a message and advances *bit, or appends at *bit of bytes. A direction that is not known counts as
   from the server. */
enum ue_status ue_block_decode(const struct ue_context *context, struct ue_view data, size_t *bit,
                               struct ue_block *block, struct ue_fault *fault);
enum ue_status ue_block_encode(const struct ue_context *context, const struct ue_block *block, uint8_t *bytes,
                               size_t size_bytes, size_t *bit, struct ue_fault *fault);

/* The same for what stands in a payload; index_bits of a call is given, for decoding, too. */
enum ue_status ue_property_decode(const struct ue_context *context, struct ue_view payload, size_t *bit,
                                  struct ue_property *property, struct ue_fault *fault);
enum ue_status ue_property_encode(const struct ue_context *context, const struct ue_property *property, uint8_t *bytes,
                                  size_t size_bytes, size_t *bit, struct ue_fault *fault);
enum ue_status ue_call_decode(const struct ue_context *context, struct ue_view payload, size_t *bit,
                              struct ue_call *call, struct ue_fault *fault);
enum ue_status ue_call_encode(const struct ue_context *context, const struct ue_call *call, uint8_t *bytes,
                              size_t size_bytes, size_t *bit, struct ue_fault *fault);

#endif
