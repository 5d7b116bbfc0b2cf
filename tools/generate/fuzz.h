/* SPDX-License-Identifier: MIT */
/* Mutates datagrams at the borders of their fields, to test decoders. */
#ifndef UERUDP_TOOLS_GENERATE_FUZZ_H
#define UERUDP_TOOLS_GENERATE_FUZZ_H

#include <uerudp/datagram.h>
#include "tools/sim/rng.h"

/* Half of the datagrams are mutated, so that the rest keep the connection recognisable. */
#define GENERATE_FUZZ_BYTES_MAX 4096
#define GENERATE_FUZZ_FIELDS_MAX 1024
#define GENERATE_FUZZ_TEXT_BYTES 160

struct generate_fuzz_field {
    enum ue_field field;
    size_t bit;
    size_t bits;
};

struct generate_fuzz {
    struct sim_rng rng;
    uint64_t damaged; /* number of mutated datagrams so far */
    struct generate_fuzz_field fields[GENERATE_FUZZ_FIELDS_MAX];
    size_t field_count;
    size_t bits; /* valid in bytes */
    uint8_t bytes[GENERATE_FUZZ_BYTES_MAX];
    char text[GENERATE_FUZZ_TEXT_BYTES];
};

/* Draws whether a datagram is mutated. True: bytes, bits and text describe the result, until the next call. */
bool generate_fuzz_datagram(struct generate_fuzz *fuzz, const struct ue_context *context, const uint8_t *bytes,
                            size_t size_bytes);

#endif
