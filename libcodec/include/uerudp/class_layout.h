/* SPDX-License-Identifier: MIT */
/* The layout of a class: what both ends of a live connection must know, because names and lengths of properties and
   remote calls are not on the wire (protocol.md 23.7). Views point into the message. */
#ifndef UERUDP_CLASS_LAYOUT_H
#define UERUDP_CLASS_LAYOUT_H

#include <uerudp/actor_spawn.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ue_value_type {
    UE_VALUE_BOOL,     /* 1 bit */
    UE_VALUE_BYTE,     /* 8 bits; also enumerations */
    UE_VALUE_INT32,    /* 32 bits */
    UE_VALUE_FLOAT,    /* 32 bits */
    UE_VALUE_STRING,   /* FString */
    UE_VALUE_OBJECT,   /* a reference to an object */
    UE_VALUE_VECTOR,   /* FVector_NetQuantize10: the packed vector of actor spawns */
    UE_VALUE_ROTATION, /* FRotator, compressed as in actor spawns */
    UE_VALUE_TYPE_COUNT
};

/* The name of a type as C++ writes it, "FVector_NetQuantize10"; static. */
const char *ue_value_type_name(enum ue_value_type type);

/* One value. The type, which is not on the wire and an input of decoding, determines which member is used. */
struct ue_value {
    enum ue_value_type type;
    uint32_t number; /* BOOL, BYTE; INT32 and FLOAT: its 32 bits */
    struct ue_text text;
    struct ue_object object;
    struct ue_vector vector; /* present and quantized */
    struct ue_rotation rotation;
};

struct ue_class_property {
    const char *name;
    enum ue_value_type type;
};

enum ue_function_flag {
    UE_FUNCTION_RELIABLE = 1,
    UE_FUNCTION_SERVER = 2,   /* called by a client, runs at the server */
    UE_FUNCTION_CLIENT = 4,   /* runs at the client that owns the object */
    UE_FUNCTION_MULTICAST = 8 /* runs at all clients */
};

/* A remote procedure (RPC). */
struct ue_class_function {
    const char *name;
    unsigned flags; /* enum ue_function_flag */
    const struct ue_class_property *parameters;
    uint32_t parameter_count;
};

/* Replicated properties in the order of declaration, and remote procedures in any order. */
struct ue_class {
    const char *path; /* "/Game/Crate.Crate_C" */
    const struct ue_class *parent;
    bool is_player_controller; /* actor spawns have class data (protocol.md 23.3) */
    const struct ue_class_property *properties;
    uint32_t property_count;
    const struct ue_class_function *functions;
    uint32_t function_count;
};

/* Number of properties with those of the ancestors. Handles are 1 to this number, ancestors first. */
uint32_t ue_class_handle_count(const struct ue_class *layout);
/* NULL: no such handle. */
const struct ue_class_property *ue_class_property_at(const struct ue_class *layout, uint32_t handle);

/* Number of fields, properties and functions, with those of the ancestors. */
uint32_t ue_class_field_count(const struct ue_class *layout);
/* The index of a function in calls, which depends on the generation; UINT32_MAX: the class does not have it. */
uint32_t ue_class_field_index(const struct ue_context *context, const struct ue_class *layout,
                              const struct ue_class_function *function);
/* NULL: the index is that of a property, or out of range. */
const struct ue_class_function *ue_class_function_at(const struct ue_context *context, const struct ue_class *layout,
                                                     uint32_t index);

/* Length of the class data in an actor spawn. */
unsigned ue_class_spawn_bits(const struct ue_context *context, const struct ue_class *layout);

/* ---- on the wire ---- */

/* The head of the properties of a live connection, with which a payload begins where ue_block.has_rep_layout. A
   ue_live_property with handle 0 ends them. */
struct ue_live_properties {
    bool do_checksum;
};

struct ue_live_property {
    const struct ue_class *layout; /* not on the wire; input of decoding, too */
    uint32_t handle;               /* 0: the end, no value */
    struct ue_value value;
    struct ue_view value_bits; /* of the payload; encoding ignores it */
};

/* A parameter of a call. Only values that are not zero are present; a bool always is. */
struct ue_parameter {
    bool is_present;
    struct ue_value value;
};

/* Decode at *bit of a payload, or encode at *bit of bytes. All advance *bit. Calls: ue_call (block.h), whose bound is
   the number of fields plus 1. */
enum ue_status ue_value_decode(const struct ue_context *context, struct ue_view payload, size_t *bit,
                               struct ue_value *value, struct ue_fault *fault);
enum ue_status ue_value_encode(const struct ue_context *context, const struct ue_value *value, uint8_t *bytes,
                               size_t size_bytes, size_t *bit, struct ue_fault *fault);
enum ue_status ue_live_properties_decode(const struct ue_context *context, struct ue_view payload, size_t *bit,
                                         struct ue_live_properties *properties, struct ue_fault *fault);
enum ue_status ue_live_properties_encode(const struct ue_context *context, const struct ue_live_properties *properties,
                                         uint8_t *bytes, size_t size_bytes, size_t *bit, struct ue_fault *fault);
enum ue_status ue_live_property_decode(const struct ue_context *context, struct ue_view payload, size_t *bit,
                                       struct ue_live_property *property, struct ue_fault *fault);
enum ue_status ue_live_property_encode(const struct ue_context *context, const struct ue_live_property *property,
                                       uint8_t *bytes, size_t size_bytes, size_t *bit, struct ue_fault *fault);
enum ue_status ue_parameter_decode(const struct ue_context *context, struct ue_view payload, size_t *bit,
                                   struct ue_parameter *parameter, struct ue_fault *fault);
enum ue_status ue_parameter_encode(const struct ue_context *context, const struct ue_parameter *parameter,
                                   uint8_t *bytes, size_t size_bytes, size_t *bit, struct ue_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
