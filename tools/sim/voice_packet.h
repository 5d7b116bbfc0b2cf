/* SPDX-License-Identifier: MIT */
/* The content of a voice channel: codec packets, one after another (protocol.md 23.6). */
#ifndef UERUDP_TOOLS_SIM_VOICE_PACKET_H
#define UERUDP_TOOLS_SIM_VOICE_PACKET_H

#include <uerudp/profile.h>
#include "tools/sim/bit_stream.h"
#include "tools/sim/scenario.h"

/* Limit of what precedes the data in a packet. */
#define SIM_VOICE_FRONT_BITS 512

/* The unique net id of a talker of a scenario, from 0; static. The client's come before the others. */
const char *sim_voice_sender(uint32_t talker);

/* A talker talks for a spurt and then listens. The spurts of two talkers in a row overlap. */
bool sim_voice_is_talking(uint32_t talker, uint64_t now_ns);

/* Appends a voice packet of a talker whose data is this value, of whole bytes. */
void sim_voice_write(struct sim_bit_writer *w, const struct ue_profile *profile, uint32_t talker, struct ue_view value);

/* Reads the packet at the front of data and returns its value. False: data begins with none of any talker. */
bool sim_voice_read(struct ue_view *data, const struct ue_profile *profile, struct ue_view *value);

#endif
