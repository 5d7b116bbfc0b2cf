/* SPDX-License-Identifier: MIT */
/* Records a whole trace, and plays it back to a builder. */
#ifndef UERUDP_TESTS_SUPPORT_RECORDER_H
#define UERUDP_TESTS_SUPPORT_RECORDER_H

#include <uerudp/datagram.h>

#define RECORDER_RECORDS 20000
#define RECORDER_GROUPS 4000
#define RECORDER_DEPTH 8

/* Group 0 is the datagram. */
struct recorded_group {
    enum ue_group kind;
    size_t parent;
    size_t begin_bit;
    size_t end_bit;
    size_t first_record; /* its records and those of the groups inside it: from here to before last_record */
    size_t last_record;
    bool is_open;
};

struct recorded {
    struct ue_record record;
    size_t group; /* the innermost open one */
};

struct recorder {
    struct recorded records[RECORDER_RECORDS];
    size_t count;
    struct recorded_group groups[RECORDER_GROUPS];
    size_t group_count;
    size_t open[RECORDER_DEPTH];
    size_t depth;
    bool overflow; /* some records were dropped */
};

/* Empties the recorder and returns a sink that fills it. Views in the records point into the traced bytes. */
struct ue_trace recorder_sink(struct recorder *recorder);

/* A sink that only stores the packet id of the datagram. */
struct ue_trace recorder_packet_id_sink(int64_t *id);

/* The index-th record of a field on the wire in a group, or NULL. */
const struct ue_record *recorder_find(const struct recorder *recorder, size_t group, enum ue_field field, size_t index);

/* Whether the fields on the wire cover the datagram from its first bit to its last without gap or overlap. Fields
   inside a payload do not count. */
bool recorder_covers(const struct recorder *recorder, size_t bits);

/* Supplies a builder with the records of one group; for the datagram (0) also those of its handshake or packet
   group. */
struct playback {
    const struct recorder *recorder;
    size_t group;
    uint16_t read_count[UE_FIELD_COUNT];
};

struct ue_field_source playback_source(struct playback *playback, const struct recorder *recorder, size_t group);

#endif
