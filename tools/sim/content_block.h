/* SPDX-License-Identifier: MIT */
/* Content blocks of actor channels whose payload is one property or one RPC (protocol.md 23.4, 23.5). The layout of a
   game's classes is not on the wire, so the layout here is invented. */
#ifndef UERUDP_TOOLS_SIM_CONTENT_BLOCK_H
#define UERUDP_TOOLS_SIM_CONTENT_BLOCK_H

#include "tools/sim/bit_stream.h"

enum sim_block_target {
    SIM_BLOCK_ACTOR,
    SIM_BLOCK_STABLE,  /* a sub-object with a stable name: part of the map or of the class */
    SIM_BLOCK_CREATED, /* a sub-object that was created at runtime, whose outer is the actor */
    SIM_BLOCK_INNER    /* ... whose outer is another object */
};

/* The engine's network version and the sender: the form of a block depends on both. */
struct sim_block_context {
    uint16_t netver;
    bool from_server; /* only the server describes a sub-object by more than its id */
    bool is_replay;   /* properties have lengths */
};

struct sim_content_block {
    enum sim_block_target form;
    uint64_t guid; /* of a sub-object */
    uint64_t class;
    uint64_t outer;
    bool is_property; /* only servers send properties */
    struct ue_view value;
};

void sim_content_block_write(struct sim_bit_writer *w, struct sim_block_context context,
                             const struct sim_content_block *block);
/* Writes a block that deletes a sub-object; only servers send it. */
void sim_content_block_write_deletion(struct sim_bit_writer *w, struct sim_block_context context, uint64_t guid);

/* Reads the block at the front of data, and deletions that precede it. Sets only is_property and value. False: data
   begins with no such block. */
bool sim_content_block_read(struct ue_view *data, struct sim_block_context context, struct sim_content_block *block);

#endif
