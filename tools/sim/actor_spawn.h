/* SPDX-License-Identifier: MIT */
/* How exports and the openings of actor channels are written (protocol.md 23.1 to 23.3). */
#ifndef UERUDP_TOOLS_SIM_ACTOR_SPAWN_H
#define UERUDP_TOOLS_SIM_ACTOR_SPAWN_H

#include "tools/sim/bit_stream.h"

#define UE_ACTOR_PARTS 5

/* An object by its path, which the receiver is told once (5.4.1). */
struct ue_actor_path {
    uint8_t flags;     /* 1 has path, 2 no load, 4 has checksum */
    uint32_t checksum; /* of the object; what it stands in has 0 */
    struct {
        uint64_t guid;
        const char *name;
    } parts[UE_ACTOR_PARTS]; /* the object, its outer and so on; a name of NULL ends */
};

/* What the opening of a channel tells (5.6). A static actor (odd id) stands in the map; the rest is of dynamic ones.
   Vectors are in tenths of a unit, below 2^22. */
struct ue_actor {
    uint64_t guid;
    uint64_t archetype;
    uint64_t level;
    int32_t location[3];
    bool has_rotation;
    uint16_t rotation[3]; /* pitch, yaw, roll; a full turn is 65536 */
    int32_t scale[3];     /* usually 10 each */
    int32_t velocity[3];
};

/* An object reference as exports hold it (5.4.1). */
void ue_actor_put_path(struct ue_bit_writer *w, const struct ue_actor_path *path);
void ue_actor_put_actor(struct ue_bit_writer *w, uint16_t netver, const struct ue_actor *actor);

#endif
