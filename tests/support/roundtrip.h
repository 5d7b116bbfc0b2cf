/* SPDX-License-Identifier: MIT */
/* Runs one datagram through every path of the codec: decode, check, trace, encode, and build from the trace. */
#ifndef UERUDP_TESTS_SUPPORT_ROUNDTRIP_H
#define UERUDP_TESTS_SUPPORT_ROUNDTRIP_H

#include "tests/support/recorder.h"

#define ROUNDTRIP_ITEMS 4096
#define ROUNDTRIP_BYTES 70000

/* The results of one run. The structure is large, so callers allocate it once. */
struct roundtrip {
    struct ue_decode_result result;
    struct ue_datagram decoded;
    struct ue_datagram built;
    struct ue_item decoded_items[ROUNDTRIP_ITEMS];
    struct ue_item built_items[ROUNDTRIP_ITEMS];
    struct recorder recorder;
    uint8_t bytes[ROUNDTRIP_BYTES];
};

struct roundtrip *roundtrip_new(void);
void roundtrip_free(struct roundtrip *roundtrip);

/* For cmocka_run_group_tests: allocate and free the roundtrip that the tests of a group share. */
extern struct roundtrip *shared_roundtrip;
int roundtrip_set_up(void **state);
int roundtrip_tear_down(void **state);

/* Runs a datagram, well-formed or not, through every path. Returns NULL if all paths agree and law L1 holds, else a
   description of the problem. */
const char *roundtrip_problem(struct roundtrip *roundtrip, const struct ue_context *x, const uint8_t *bytes,
                              size_t size_bytes);

#endif
