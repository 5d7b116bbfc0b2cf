/* SPDX-License-Identifier: MIT */
/* Writes parcels as the file they came from, or as one of the other format. */
#ifndef UERUDP_TOOLS_EDIT_WRITER_H
#define UERUDP_TOOLS_EDIT_WRITER_H

#include "tools/capture/pcapng_writer.h"
#include "tools/edit/edited_block.h"

enum ue_edit_format { UE_EDIT_SAME, UE_EDIT_PCAP, UE_EDIT_PCAPNG };

#define UE_EDIT_ERROR_BYTES 256

/* Fill the first five members; zero is right for the others. */
struct ue_edit_writer {
    FILE *file;
    enum ue_edit_format format;
    int64_t shift_ns; /* of all times */
    bool is_changing; /* something may change, so that sections cannot say how long they are */
    bool is_stripped; /* without texts, and without blocks that reading the packets does not need */

    bool is_begun;
    bool is_converting;     /* the input is of the other format */
    bool has_link_type;     /* a pcap is being made, of */
    uint16_t link_type;     /* this one */
    GHashTable *interfaces; /* a pcapng is being made: number by link type */
    struct ue_pcapng_writer pcapng;
    char error[UE_EDIT_ERROR_BYTES];
};

/* Writes a parcel, as often as it says; false with a sentence in error where the format cannot say it. */
bool ue_edit_writer_put(struct ue_edit_writer *writer, const struct ue_parcel *parcel);

/* Everything was put, and what the format wants of an empty file is there. False where something was too much. */
bool ue_edit_writer_end(struct ue_edit_writer *writer);

void ue_edit_writer_clear(struct ue_edit_writer *writer);

#endif
