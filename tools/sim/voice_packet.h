/* SPDX-License-Identifier: MIT */
/* What a voice channel carries: packets of a codec's data, back to back (protocol.md 23.6). */
#ifndef UERUDP_TOOLS_SIM_VOICE_PACKET_H
#define UERUDP_TOOLS_SIM_VOICE_PACKET_H

#include <uerudp/profile.h>
#include "tools/sim/bit_stream.h"

#define SIM_VOICE_SENDER "Sim"

/* Appends a voice packet with this value, of whole bytes, as its data. */
void sim_voice_write(struct sim_bit_writer *w, const struct ue_profile *profile, struct ue_view value);

/* Takes the packet at the front of data and gives its value; false: it is none. */
bool sim_voice_read(struct ue_view *data, const struct ue_profile *profile, struct ue_view *value);

#endif
