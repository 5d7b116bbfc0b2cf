/* SPDX-License-Identifier: MIT */
/* One block of a capture on its way from the input to the output, with what is to be different about it. */
#ifndef UERUDP_TOOLS_EDIT_EDITED_BLOCK_H
#define UERUDP_TOOLS_EDIT_EDITED_BLOCK_H

#include <glib.h>

#include "tools/capture/block.h"
#include "tools/capture/packet_headers.h"

struct ue_parcel {
    uint64_t frame;        /* its number; of what is no packet, that of the packet before */
    struct ue_block block; /* copied */
    bool is_packet;
    struct ue_capture_packet packet; /* into the block */
    struct ue_frame_place place;

    int64_t due_ns;      /* when it goes out: its time, and a delay */
    unsigned copies;     /* besides itself */
    GByteArray *data;    /* instead of the packet's bytes; NULL: as they were */
    size_t length_bytes; /* of data, on the wire */
    GString *comment;    /* what was done; NULL: nothing */
};

/* Copies the block. packet is NULL for what is none. */
struct ue_parcel *ue_parcel_new(uint64_t frame, const struct ue_block *block, const struct ue_capture_packet *packet);
void ue_parcel_free(struct ue_parcel *parcel);

/* What it takes in memory, about. */
size_t ue_parcel_bytes(const struct ue_parcel *parcel);

/* The packet's bytes, to be changed. Call ue_frame_seal afterwards. */
uint8_t *ue_parcel_edit(struct ue_parcel *parcel);

/* Puts another payload into a UDP packet; what came behind the payload is gone. False where it is too long. */
bool ue_parcel_set_payload(struct ue_parcel *parcel, const uint8_t *payload, size_t size_bytes);

/* Says what was done; several texts are joined. */
void ue_parcel_say(struct ue_parcel *parcel, const char *text);

#endif
