/* SPDX-License-Identifier: MIT */
/* Datagrams damaged on purpose, at the borders of their fields: what a decoder must survive, and rarely meets. */
#ifndef UERUDP_TOOLS_GENERATE_FUZZ_H
#define UERUDP_TOOLS_GENERATE_FUZZ_H

#include <uerudp/datagram.h>
#include "tools/sim/rng.h"

/* Half of the datagrams are damaged, so that the rest keep a flow recognisable. */
#define UE_FUZZ_BYTES_MAX 4096
#define UE_FUZZ_FIELDS_MAX 1024
#define UE_FUZZ_TEXT_BYTES 160

struct ue_fuzz_field {
    enum ue_field field;
    size_t bit;
    size_t bits;
};

struct ue_fuzz {
    struct ue_rng rng;
    uint64_t damaged; /* how many so far */
    struct ue_fuzz_field fields[UE_FUZZ_FIELDS_MAX];
    size_t field_count;
    size_t bits; /* what stands in bytes */
    uint8_t bytes[UE_FUZZ_BYTES_MAX];
    char text[UE_FUZZ_TEXT_BYTES];
};

/* Draws whether a datagram is damaged. True: bytes, bits and text say how it looks now, until the next call. */
bool ue_fuzz(struct ue_fuzz *fuzz, const struct ue_context *context, const uint8_t *bytes, size_t size_bytes);

#endif
