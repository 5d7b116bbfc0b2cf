/* SPDX-License-Identifier: MIT */
/* How exports and the openings of actor channels are written (protocol.md 23.1 to 23.3). */
#ifndef UERUDP_TOOLS_SIM_ACTOR_SPAWN_H
#define UERUDP_TOOLS_SIM_ACTOR_SPAWN_H

#include "tools/sim/bit_stream.h"

#define SIM_PATH_PARTS_MAX 5

/* An object by its path, which the receiver is told once (5.4.1). */
struct sim_object_path {
    uint8_t flags;     /* 1 has path, 2 no load, 4 has checksum */
    uint32_t checksum; /* of the object; what it stands in has 0 */
    struct {
        uint64_t guid;
        const char *name;
    } parts[SIM_PATH_PARTS_MAX]; /* the object, its outer and so on; a name of NULL ends */
};

/* What the opening of a channel tells (5.6). A static actor (odd id) stands in the map; the rest is of dynamic ones.
   Vectors are in tenths of a unit, below 2^22. */
struct sim_actor {
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
void sim_actor_write_path(struct sim_bit_writer *w, const struct sim_object_path *path);
void sim_actor_write_spawn(struct sim_bit_writer *w, uint16_t netver, const struct sim_actor *actor);

#endif
