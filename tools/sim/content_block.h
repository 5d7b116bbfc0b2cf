/* SPDX-License-Identifier: MIT */
/* Content blocks of actor channels (protocol.md 23.4, 23.5), whose payload is one property or one RPC. Class layouts of
   a game are not on the wire: what stands for them is made up. */
#ifndef UERUDP_TOOLS_SIM_CONTENT_BLOCK_H
#define UERUDP_TOOLS_SIM_CONTENT_BLOCK_H

#include "tools/sim/bit_stream.h"

enum ue_actor_form {
    UE_ACTOR_ITSELF,
    UE_ACTOR_STABLE,  /* a sub-object of the map, or of the class */
    UE_ACTOR_CREATED, /* a sub-object of this class, in the actor */
    UE_ACTOR_INNER    /* ... in another object */
};

/* From when on and from whom: the forms differ. */
struct ue_actor_wire {
    uint16_t netver;
    bool from_server; /* only it says more of a sub-object than its id */
};

struct ue_actor_block {
    enum ue_actor_form form;
    uint64_t guid; /* of a sub-object */
    uint64_t class;
    uint64_t outer;
    bool is_property; /* only servers say it */
    struct ue_view value;
};

void ue_actor_put_block(struct ue_bit_writer *w, struct ue_actor_wire wire, const struct ue_actor_block *block);
/* A block that deletes a sub-object; only from servers. */
void ue_actor_put_deletion(struct ue_bit_writer *w, struct ue_actor_wire wire, uint64_t guid);

/* Takes the block at the front of data, and deletions before it; false: it is no such block. Of its head only
   is_property and value are given. */
bool ue_actor_take_block(struct ue_view *data, struct ue_actor_wire wire, struct ue_actor_block *block);

#endif
