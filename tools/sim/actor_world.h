/* SPDX-License-Identifier: MIT */
/* The made-up world whose actors stand on the channels of a scenario with actors: lamps of the map, crates
   that are spawned, and the player's controller. */
#ifndef UERUDP_TOOLS_SIM_ACTOR_WORLD_H
#define UERUDP_TOOLS_SIM_ACTOR_WORLD_H

#include "tools/sim/content_block.h"

#define SIM_WORLD_EXPORT_BYTES 512
#define SIM_WORLD_OPEN_BYTES 128

/* What is said on a channel: the number of the message among those of its kind. */
struct sim_world_message {
    uint32_t channel;
    uint64_t number;
    bool is_notice; /* the channel opens and closes at once: the actor is gone (5.9) */
};

/* What stands in front of the first block of a channel that opens: the ids that must be known (5.4.4), where the actor
   is spawned, which is returned (bHasMustBeMappedGUIDs); and the actor, another one for each number, with what its
   class adds (5.6). */
bool sim_world_write_open(struct sim_bit_writer *w, uint16_t netver, const struct sim_world_message *place);

/* What is exported before it (5.4.2), in SIM_WORLD_EXPORT_BYTES. False: nothing, since a number above 0 means that the
   channel was open before, and the receiver has acknowledged it. */
bool sim_world_write_exports(struct sim_bit_writer *w, const struct sim_world_message *place);

/* A message as a content block about the actor or one of its sub-objects, in turn; now and then one is deleted first.
 */
void sim_world_write_message(struct sim_bit_writer *w, struct sim_block_context wire, const struct sim_world_message *place,
                          bool is_property, struct ue_view value);

#endif
