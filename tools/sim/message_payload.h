/* SPDX-License-Identifier: MIT */
/* The content of a simulated message: a function of its identity, so that the receiver can check that it is unchanged.
 */
#ifndef UERUDP_TOOLS_SIM_MESSAGE_PAYLOAD_H
#define UERUDP_TOOLS_SIM_MESSAGE_PAYLOAD_H

#include <uerudp/bits.h>
#include "tools/sim/scenario.h"

/* The bits of the message with which the server opens a channel. */
#define SIM_PAYLOAD_OPEN_BITS 8

struct sim_payload {
    uint64_t seed;
    enum ue_role from;
    uint32_t channel;
    bool reliable;   /* as the sender asked; the endpoint may make a large message reliable */
    uint64_t number; /* among the messages of its side, channel and reliability, from 0 */
};

/* A size between the bounds of the stream. */
uint32_t sim_payload_bits(const struct sim_payload *payload, const struct sim_stream *stream);
/* Writes the content and pads the last byte with zeros. An unreliable message begins with its number in 32 bits. */
void sim_payload_write(const struct sim_payload *payload, uint32_t bits, uint8_t *bytes);

#endif
