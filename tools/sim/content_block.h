/* SPDX-License-Identifier: MIT */
/* Content blocks of actor channels (protocol.md 23.4, 23.5), whose payload is one property or one RPC. Class layouts of
   a game are not on the wire: what stands for them is made up. */
#ifndef UERUDP_TOOLS_SIM_CONTENT_BLOCK_H
#define UERUDP_TOOLS_SIM_CONTENT_BLOCK_H

#include "tools/sim/bit_stream.h"

enum sim_block_target {
    SIM_BLOCK_ACTOR,
    SIM_BLOCK_STABLE,  /* a sub-object of the map, or of the class */
    SIM_BLOCK_CREATED, /* a sub-object of this class, in the actor */
    SIM_BLOCK_INNER    /* ... in another object */
};

/* From when on and from whom: the forms differ. */
struct sim_block_context {
    uint16_t netver;
    bool from_server; /* only it says more of a sub-object than its id */
};

struct sim_content_block {
    enum sim_block_target form;
    uint64_t guid; /* of a sub-object */
    uint64_t class;
    uint64_t outer;
    bool is_property; /* only servers say it */
    struct ue_view value;
};

void sim_content_block_write(struct sim_bit_writer *w, struct sim_block_context wire, const struct sim_content_block *block);
/* A block that deletes a sub-object; only from servers. */
void sim_content_block_write_deletion(struct sim_bit_writer *w, struct sim_block_context wire, uint64_t guid);

/* Takes the block at the front of data, and deletions before it; false: it is no such block. Of its head only
   is_property and value are given. */
bool sim_content_block_read(struct ue_view *data, struct sim_block_context wire, struct sim_content_block *block);

#endif
