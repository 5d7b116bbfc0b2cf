/* SPDX-License-Identifier: MIT */
/* What a simulated message says: a function of who it is, so that the receiver can tell whether it is whole. */
#ifndef UERUDP_TOOLS_SIM_MESSAGE_PAYLOAD_H
#define UERUDP_TOOLS_SIM_MESSAGE_PAYLOAD_H

#include <uerudp/bits.h>
#include "tools/sim/scenario.h"

struct sim_payload {
    uint64_t seed;
    enum ue_role from;
    uint32_t channel;
    bool reliable;   /* as it was meant; the endpoint may make a large one reliable */
    uint64_t number; /* of its side, channel and reliability, from 0 */
};

/* A size between the bounds of the stream. */
uint32_t sim_payload_bits(const struct sim_payload *payload, const struct sim_stream *stream);
/* Writes it; the last byte is padded with zeros. Unreliable ones begin with their number in 32 bits. */
void sim_payload_write(const struct sim_payload *payload, uint32_t bits, uint8_t *bytes);

#endif
