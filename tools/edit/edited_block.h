/* SPDX-License-Identifier: MIT */
/* One block of a capture on its way from the input to the output, with what is to be different about it. */
#ifndef UERUDP_TOOLS_EDIT_EDITED_BLOCK_H
#define UERUDP_TOOLS_EDIT_EDITED_BLOCK_H

#include <glib.h>

#include "tools/capture/block.h"
#include "tools/capture/packet_headers.h"

struct edited_block {
    uint64_t frame;        /* its number; of what is no packet, that of the packet before */
    struct capture_block block; /* copied */
    bool is_packet;
    struct capture_packet packet; /* into the block */
    struct capture_packet_offsets place;

    int64_t due_ns;      /* when it goes out: its time, and a delay */
    unsigned copies;     /* besides itself */
    GByteArray *data;    /* instead of the packet's bytes; NULL: as they were */
    size_t length_bytes; /* of data, on the wire */
    GString *comment;    /* what was done; NULL: nothing */
};

/* Copies the block. packet is NULL for what is none. */
struct edited_block *edited_block_new(uint64_t frame, const struct capture_block *block, const struct capture_packet *packet);
void edited_block_free(struct edited_block *parcel);

/* What it takes in memory, about. */
size_t edited_block_memory_bytes(const struct edited_block *parcel);

/* The packet's bytes, to be changed. Call capture_packet_update_checksums afterwards. */
uint8_t *edited_block_data(struct edited_block *parcel);

/* Puts another payload into a UDP packet; what came behind the payload is gone. False where it is too long. */
bool edited_block_set_payload(struct edited_block *parcel, const uint8_t *payload, size_t size_bytes);

/* Says what was done; several texts are joined. */
void edited_block_add_comment(struct edited_block *parcel, const char *text);

#endif
