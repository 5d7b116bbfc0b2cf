/* SPDX-License-Identifier: MIT */
/* Traces: a decoder reports each field to a struct ue_trace; a builder requests each value from a struct
   ue_field_source. */
#ifndef UERUDP_TRACE_H
#define UERUDP_TRACE_H

#include <stdbool.h>

#include <uerudp/bits.h>
#include <uerudp/field.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An engine string (FString) without its terminating NUL. Units have 8 bits, or 16 bits (UTF-16, little-endian) when
   wide. */
struct ue_text {
    struct ue_view units;
    bool wide;
};

/* Structures of a datagram. A trace begins and ends a group for each occurrence, in wire order. The comments
   name the type of the structure. */
enum ue_group {
    UE_GROUP_HANDSHAKE, /* struct ue_handshake */
    UE_GROUP_PACKET,    /* struct ue_packet: the header */
    UE_GROUP_ACK,       /* struct ue_ack: one ack of a legacy packet */
    UE_GROUP_BUNCH,     /* struct ue_bunch: header and data */
    UE_GROUP_MESSAGE,   /* struct ue_message: one control message of the preceding bunch */
    UE_GROUP_UNIQUE_ID, /* struct ue_unique_id */
    UE_GROUP_OPENED,    /* decrypted content, without a structure; inside the group, bits count from the start of the
                           plaintext */
    /* Inside whole messages, see content.h. */
    UE_GROUP_EXPORTS,      /* struct ue_exports */
    UE_GROUP_EXPORT,       /* struct ue_object_link: one exported object, or a reference that carries the object's name;
                              its outer object is nested */
    UE_GROUP_FIELD_EXPORT, /* struct ue_field_export */
    UE_GROUP_MAPPED,       /* struct ue_mapped */
    UE_GROUP_ACTOR,        /* struct ue_actor_spawn */
    UE_GROUP_BLOCK,        /* struct ue_block */
    UE_GROUP_PROPERTY,     /* struct ue_property: inside a block of a replay */
    UE_GROUP_FIELD,        /* struct ue_call: inside a block */
    UE_GROUP_VOICE         /* struct ue_voice */
};

#define UE_GROUP_COUNT (UE_GROUP_VOICE + 1)

/* One field of a trace. The kind of the field in the catalogue selects the value member. */
struct ue_record {
    enum ue_field field;
    bool coded;     /* the bits encode the value: packed or bounded integers, texts, counted runs */
    bool generated; /* not on the wire; bit and bits are the range that the value is derived from */
    size_t bit;     /* from the start of the datagram */
    size_t bits;
    uint64_t number;     /* BOOL, U*, X32, I32 (two's complement); REAL: raw IEEE bits, 64 of them when coded, else
                            `bits` of them */
    struct ue_text text; /* TEXT; BYTES use text.units */
    const char *string;  /* STRING; NULL: the value is in text */
};

/* The value of a REAL record. */
static inline double ue_record_real(const struct ue_record *record) {
    if (record->bits == 32 && !record->coded) {
        uint32_t raw = (uint32_t)record->number;
        float value;
        memcpy(&value, &raw, sizeof value);
        return (double)value;
    }
    double value;
    memcpy(&value, &record->number, sizeof value);
    return value;
}

/* Receives a trace. user is passed to every call. Records and structures are valid only during the call. A NULL
   function is not called. structure is the decoded structure of the group; its type is with the group, and its members
   are those that its header describes. After a fault the members are zero that follow the fault. */
struct ue_trace {
    void (*begin)(void *user, enum ue_group group, size_t bit);
    void (*field)(void *user, const struct ue_record *record);
    void (*end)(void *user, enum ue_group group, size_t bit, const void *structure);
    void *user;
};

/* Supplies values to a builder. field: the record holds the default value; the function may replace number or text, and
   returns whether it did. more: whether to build an optional part that no other field announces. */
struct ue_field_source {
    bool (*field)(void *user, struct ue_record *record);
    bool (*more)(void *user, enum ue_field field);
    void *user;
};

#ifdef __cplusplus
}
#endif

#endif
