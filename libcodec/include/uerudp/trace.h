/* SPDX-License-Identifier: MIT */
/* Traces: a decoder reports each field to a sink; a builder asks a source for each field. */
#ifndef UERUDP_TRACE_H
#define UERUDP_TRACE_H

#include <stdbool.h>

#include <uerudp/bits.h>
#include <uerudp/field.h>

/* An engine string without its terminating NUL: units of 8 bits, or of 16 (UTF-16, little-endian) when wide. */
struct ue_text {
    struct ue_view units;
    bool wide;
};

/* Structures inside a datagram; each is announced once per occurrence, in wire order. */
enum ue_group {
    UE_GROUP_HANDSHAKE,
    UE_GROUP_PACKET,
    UE_GROUP_ACK,     /* one ack item of a legacy packet */
    UE_GROUP_BUNCH,   /* one bunch, header and data */
    UE_GROUP_MESSAGE, /* one control message inside the bunch that precedes */
    UE_GROUP_UNIQUE_ID,
    UE_GROUP_OPENED, /* decrypted content: inside, bits count from the start of what the opener gave */
    /* Inside whole messages, see content.h. */
    UE_GROUP_EXPORTS,
    UE_GROUP_EXPORT, /* one object; its outer object is another inside it. Of a reference that brings its name, too */
    UE_GROUP_FIELD_EXPORT,
    UE_GROUP_MAPPED,
    UE_GROUP_ACTOR,
    UE_GROUP_BLOCK,
    UE_GROUP_PROPERTY, /* inside a block, of replays */
    UE_GROUP_FIELD,    /* inside a block */
    UE_GROUP_VOICE
};

#define UE_GROUP_COUNT (UE_GROUP_VOICE + 1)

/* One field. Which value member counts follows from the catalogue's kind. */
struct ue_record {
    enum ue_field field;
    bool coded;     /* the value is not simply the bits: packed or bounded integers, texts, counts */
    bool generated; /* not on the wire; bit and bits say what it was derived from */
    size_t bit;     /* from the start of the datagram */
    size_t bits;
    uint64_t number; /* BOOL, U*, X32, I32 (two's complement); REAL: the raw IEEE bits, 64 when coded, else as many as
                        bits says */
    struct ue_text text; /* TEXT; BYTES use text.units */
    const char *string;  /* STRING; NULL: the text member holds it */
};

/* The value of a REAL record. */
double ue_record_real(const struct ue_record *record);

/* Receives a trace; user is handed back in every call. Records live only during the call. */
struct ue_trace {
    void (*begin)(void *user, enum ue_group group, size_t bit);
    void (*field)(void *user, const struct ue_record *record);
    void (*end)(void *user, enum ue_group group, size_t bit);
    void *user;
};

/* Gives values to a builder. field: fills number or text of a record that holds the default and returns whether a
   value was given. more: whether an optional part whose presence is not said by another field shall be there. */
struct ue_field_source {
    bool (*field)(void *user, struct ue_record *record);
    bool (*more)(void *user, enum ue_field field);
    void *user;
};

#endif
