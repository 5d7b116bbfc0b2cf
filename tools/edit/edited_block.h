/* SPDX-License-Identifier: MIT */
/* One block of a capture on its way from the input to the output, with its changes. */
#ifndef UERUDP_TOOLS_EDIT_EDITED_BLOCK_H
#define UERUDP_TOOLS_EDIT_EDITED_BLOCK_H

#include <glib.h>

#include "tools/capture/capture_block.h"
#include "tools/capture/packet_headers.h"

struct edited_block {
    uint64_t frame;             /* frame number; for other blocks, that of the packet before */
    struct capture_block block; /* a copy */
    bool is_packet;
    struct capture_packet packet; /* points into the block */
    struct capture_packet_offsets place;

    int64_t due_ns;      /* output time: the packet's time plus a delay */
    unsigned copies;     /* additional copies to write */
    GByteArray *data;    /* replaces the packet's bytes; NULL: unchanged */
    size_t length_bytes; /* length on the wire of data */
    GString *comment;    /* the changes as text; NULL: none */
};

/* Copies the block. packet is NULL if the block is not a packet. */
struct edited_block *edited_block_new(uint64_t frame, const struct capture_block *block,
                                      const struct capture_packet *packet);
void edited_block_free(struct edited_block *edited);

/* Approximate memory use. */
size_t edited_block_memory_bytes(const struct edited_block *edited);

/* Returns the packet's bytes for changing them. Call capture_packet_update_checksums afterwards. */
uint8_t *edited_block_data(struct edited_block *edited);

/* Replaces the payload of a UDP packet and drops what follows the payload. Returns false if it is too long. */
bool edited_block_set_payload(struct edited_block *edited, const uint8_t *payload, size_t size_bytes);

/* Adds a change to the comment of the packet; several are joined. */
void edited_block_add_comment(struct edited_block *edited, const char *text);

#endif
