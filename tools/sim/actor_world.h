/* SPDX-License-Identifier: MIT */
/* The invented actors on the channels of a scenario: lamps of the map, crates that are spawned, and the player's
   controller. */
#ifndef UERUDP_TOOLS_SIM_ACTOR_WORLD_H
#define UERUDP_TOOLS_SIM_ACTOR_WORLD_H

#include "tools/sim/content_block.h"

#define SIM_WORLD_EXPORT_BYTES 512
#define SIM_WORLD_OPEN_BYTES 128

/* Identifies a message: its channel and its number among those of its kind. */
struct sim_world_message {
    uint32_t channel;
    uint64_t number;
    bool is_notice; /* the channel opens and closes at once: the actor is gone */
};

/* Writes what precedes the first block of a channel that opens: the ids that must be mapped first where the actor is
   spawned, and the actor with what its class adds (protocol.md 23.3). A different number gives a different actor.
   Returns bHasMustBeMappedGUIDs. */
bool sim_world_write_open(struct sim_bit_writer *w, uint16_t netver, const struct sim_world_message *message);

/* Writes the exports that precede it, at most SIM_WORLD_EXPORT_BYTES. False: there are none, because a number above 0
   means that the channel was open before and the receiver acknowledged the exports. */
bool sim_world_write_exports(struct sim_bit_writer *w, const struct sim_world_message *message);

/* Writes a message as a content block about the actor or one of its sub-objects, in turn; sometimes a block that
   deletes a sub-object precedes it. */
void sim_world_write_message(struct sim_bit_writer *w, struct sim_block_context context,
                             const struct sim_world_message *message, bool is_property, struct ue_view value);

#endif
