/* SPDX-License-Identifier: MIT */
/* Writes exports and the spawn data of actor channels (protocol.md 23.1 to 23.3). */
#ifndef UERUDP_TOOLS_SIM_ACTOR_SPAWN_H
#define UERUDP_TOOLS_SIM_ACTOR_SPAWN_H

#include "tools/sim/bit_stream.h"

#define SIM_PATH_PARTS_MAX 5

/* An object with its path, as an export defines it (protocol.md 23.1). */
struct sim_object_path {
    uint8_t flags;     /* 1: has a path, 2: must not be loaded, 4: has a checksum */
    uint32_t checksum; /* of the object; its outers have 0 */
    struct {
        uint64_t guid;
        const char *name;
    } parts[SIM_PATH_PARTS_MAX]; /* the object, its outer, and so on; a NULL name ends the list */
};

/* The spawn data of an actor channel (protocol.md 23.3). A static actor (odd id) is part of the map and has the id
   only; all other members are of dynamic actors. Vectors are in tenths of a unit, below 2^22. */
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

/* Writes an object reference in the form that exports have. */
void sim_actor_write_path(struct sim_bit_writer *w, const struct sim_object_path *path);
void sim_actor_write_spawn(struct sim_bit_writer *w, uint16_t netver, const struct sim_actor *actor);

#endif
