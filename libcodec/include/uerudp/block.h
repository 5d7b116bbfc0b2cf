/* SPDX-License-Identifier: MIT */
/* Content blocks: the updates of an actor or of one of its objects on an actor channel (protocol.md 23.4, 23.5). Views
   point into the message. */
#ifndef UERUDP_BLOCK_H
#define UERUDP_BLOCK_H

#include <uerudp/object.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One block. Earlier members, the direction and the generation determine which members are used. */
struct ue_block {
    bool has_rep_layout; /* the payload begins with properties */
    bool is_actor;       /* the block is about the actor, else about `object`; only then the members to outer */
    struct ue_object object;
    bool stably_named; /* from the server: the client knows the object by name, else the members to outer */
    bool is_destroy;   /* destroy_flags follow, and no payload */
    uint8_t destroy_flags;
    struct ue_object class_object; /* null: the object is destroyed; no payload */
    bool actor_is_outer;
    struct ue_object outer;
    bool has_payload;
    struct ue_view payload;
};

/* One property of a replay. */
struct ue_property {
    uint32_t number; /* handle plus one; 0: end of the properties, no value */
    struct ue_view value;
};

/* A field: a remote call, or a property with its own format. */
struct ue_call {
    uint32_t index_bound; /* not on the wire, input of decoding, too: above all indices of the class */
    uint32_t index;
    struct ue_view payload;
};

/* Decodes at *bit of a message, or encodes at *bit of bytes. Both advance *bit. An unknown direction counts as server
   to client. */
enum ue_status ue_block_decode(const struct ue_context *context, struct ue_view data, size_t *bit,
                               struct ue_block *block, struct ue_fault *fault);
enum ue_status ue_block_encode(const struct ue_context *context, const struct ue_block *block, uint8_t *bytes,
                               size_t size_bytes, size_t *bit, struct ue_fault *fault);

/* The same for the properties and fields of a payload. */
enum ue_status ue_property_decode(const struct ue_context *context, struct ue_view payload, size_t *bit,
                                  struct ue_property *property, struct ue_fault *fault);
enum ue_status ue_property_encode(const struct ue_context *context, const struct ue_property *property, uint8_t *bytes,
                                  size_t size_bytes, size_t *bit, struct ue_fault *fault);
enum ue_status ue_call_decode(const struct ue_context *context, struct ue_view payload, size_t *bit,
                              struct ue_call *call, struct ue_fault *fault);
enum ue_status ue_call_encode(const struct ue_context *context, const struct ue_call *call, uint8_t *bytes,
                              size_t size_bytes, size_t *bit, struct ue_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
