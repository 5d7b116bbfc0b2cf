/* SPDX-License-Identifier: MIT */
/* Compares a recorded trace with a JSON object of other vocabulary, whose keys a table of names maps to field names. */
#ifndef UERUDP_TESTS_CODEC_EXPECTED_H
#define UERUDP_TESTS_CODEC_EXPECTED_H

#include <jansson.h>

#include "tests/support/recorder.h"

struct expected {
    const json_t *names; /* path of a key -> dotted field name, "not a field: ..." or "not checked: ..." */
    const char *where;   /* for messages */
    const struct recorder *recorder;
    const uint8_t *bytes;
    bool ignore_header; /* the object describes bunches only */
    size_t base_bit;    /* the first bit that the object counts from */
    unsigned values;    /* number of comparisons */
    unsigned faults;    /* printed to stderr */
    bool seen[RECORDER_RECORDS];
};

/* A datagram. */
void expected_datagram(struct expected *expected, const json_t *object);

/* The n-th bunch of the datagram. */
void expected_bunch(struct expected *expected, const json_t *object, size_t n);

/* The control messages of the first bunch. */
void expected_messages(struct expected *expected, const json_t *array);

#endif
