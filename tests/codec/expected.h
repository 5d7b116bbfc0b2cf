/* SPDX-License-Identifier: MIT */
/* Holds a recorded trace against a JSON object in somebody else's words, mapped to ours by a table of names. */
#ifndef UERUDP_TESTS_CODEC_EXPECTED_H
#define UERUDP_TESTS_CODEC_EXPECTED_H

#include <jansson.h>

#include "tests/support/recorder.h"

struct expected {
    const json_t *names; /* path of a key -> our dotted name, "not a field: ..." or "not checked: ..." */
    const char *where;   /* for messages */
    const struct recorder *recorder;
    const uint8_t *bytes;
    bool ignore_header; /* the object speaks of bunches alone */
    size_t base_bit; /* where the bits that the object counts begin */
    unsigned values; /* compared so far */
    unsigned faults; /* printed to stderr */
    bool seen[RECORDER_RECORDS];
};

/* A datagram. */
void expected_datagram(struct expected *expected, const json_t *object);

/* The n-th bunch of the datagram alone. */
void expected_bunch(struct expected *expected, const json_t *object, size_t n);

/* The control messages of the first bunch. */
void expected_messages(struct expected *expected, const json_t *array);

#endif
