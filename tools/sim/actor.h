/* SPDX-License-Identifier: MIT */
/* PRIVATE: how the bunches of actor channels are written (spec 5.4 to 5.8), so that simulated messages travel as
   property updates and RPCs of actors. Class layouts of a game are not on the wire: what stands for them is made up. */
#ifndef UE_ACTOR_H
#define UE_ACTOR_H

#include "libcodec/bits.h"

#define UE_ACTOR_EXPORT_BYTES 512
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

/* What the opening of a channel tells (5.6). A static actor (odd id) stands in the map; the rest is of dynamic ones. */
struct ue_actor {
    uint64_t guid;
    uint64_t archetype;
    uint64_t level;
    int32_t location[3]; /* tenths of a unit, below 2^22 */
    bool has_rotation;
    uint16_t rotation[3]; /* pitch, yaw, roll; a full turn is 65536 */
};

/* Appends to bytes that have room for all that is to be written. */
struct ue_actor_writer {
    uint8_t *bytes;
    size_t bits;
};

/* An object reference as exports hold it (5.4.1). */
void ue_actor_put_path(struct ue_actor_writer *w, const struct ue_actor_path *path);
void ue_actor_put_actor(struct ue_actor_writer *w, uint16_t netver, const struct ue_actor *actor);
/* A content block about the actor (5.7) whose payload is one property or one RPC (5.8), with this value. */
void ue_actor_put_block(struct ue_actor_writer *w, bool is_property, struct ue_view value);

/* What stands in front of the first block of a channel that opens: the ids that must be known (5.4.4), where the actor
   is dynamic, which is returned (bHasMustBeMappedGUIDs); and the actor, another one for each number. */
bool ue_actor_put_opening(struct ue_actor_writer *w, uint16_t netver, uint32_t channel, uint64_t number);
/* What is exported before it (5.4.2), in UE_ACTOR_EXPORT_BYTES. False: nothing, since a number above 0 means that the
   channel was open before, and the receiver has acknowledged it. */
bool ue_actor_put_exports(struct ue_actor_writer *w, uint32_t channel, uint64_t number);

/* Takes the block at the front of data and gives its value; false: it is not such a block. */
bool ue_actor_take_block(struct ue_view *data, bool *is_property, struct ue_view *value);

#endif
