/* SPDX-License-Identifier: MIT */
/* Keeps a whole trace, and gives it back to a builder. */
#ifndef UERUDP_TESTS_SUPPORT_RECORDER_H
#define UERUDP_TESTS_SUPPORT_RECORDER_H

#include <uerudp/datagram.h>

#define RECORDER_RECORDS 20000
#define RECORDER_GROUPS 4000
#define RECORDER_DEPTH 8

/* Group 0 is the datagram itself. */
struct recorded_group {
    enum ue_group kind;
    size_t parent;
    size_t begin_bit;
    size_t end_bit;
    size_t first_record; /* its records and those of groups inside: from here to the one before last_record */
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
    bool overflow; /* some were dropped */
};

/* A sink that fills the recorder from empty; views in it point into what is traced. */
struct ue_trace recorder_sink(struct recorder *recorder);

/* The index'th record of that field on the wire in a group, or NULL. */
const struct ue_record *recorder_find(const struct recorder *recorder, size_t group, enum ue_field field, size_t index);

/* Whether the fields on the wire, one behind the other, cover the datagram from its first bit to its last without gap
   or overlap; what lies inside a payload is not counted a second time. */
bool recorder_covers(const struct recorder *recorder, size_t bits);

/* Answers a builder with what was recorded in one group; for the datagram (0) also its handshake or packet group. */
struct playback {
    const struct recorder *recorder;
    size_t group;
    uint16_t asked[UE_FIELD_COUNT];
};

struct ue_field_source playback_source(struct playback *playback, const struct recorder *recorder, size_t group);

#endif
