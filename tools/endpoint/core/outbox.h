/* SPDX-License-Identifier: MIT */
/* What a connection has to give out: blocks in order, each of which lives until the next input after it was
   taken. Used for datagrams and for events. */
#ifndef UERUDP_TOOLS_ENDPOINT_CORE_OUTBOX_H
#define UERUDP_TOOLS_ENDPOINT_CORE_OUTBOX_H

#include <stdbool.h>

#include "tools/endpoint/base/memory_share.h"

struct ue_outbox_block {
    struct ue_outbox_block *next;
    size_t size_bytes;
    uint8_t bytes[];
};

struct ue_outbox {
    struct ue_outbox_block *first;
    struct ue_outbox_block *last;
    struct ue_outbox_block *taken; /* given out since the last input */
    uint32_t count;
    uint32_t limit;
    struct ue_share *share;
};

void ue_outbox_init(struct ue_outbox *box, struct ue_share *share, uint32_t limit);
void ue_outbox_free(struct ue_outbox *box);
/* A parcel to fill, not yet in the box: add it, or give it back to the share. NULL when the box is full or memory is
   short. */
struct ue_outbox_block *ue_outbox_new(const struct ue_outbox *box, size_t size_bytes);
void ue_outbox_add(struct ue_outbox *box, struct ue_outbox_block *parcel);
/* Adds a copy of bytes; false: no room. */
bool ue_outbox_copy(struct ue_outbox *box, const uint8_t *bytes, size_t size_bytes);
/* The next parcel; NULL when there is none. */
const struct ue_outbox_block *ue_outbox_take(struct ue_outbox *box);
/* An input begins: what was taken is given back. */
void ue_outbox_give_taken(struct ue_outbox *box);
static inline void ue_outbox_settle(struct ue_outbox *box) {
    if (box->taken != NULL) {
        ue_outbox_give_taken(box);
    }
}

#endif
