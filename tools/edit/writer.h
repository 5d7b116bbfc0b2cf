/* SPDX-License-Identifier: MIT */
/* Writes parcels as the file they came from, or as one of the other format. */
#ifndef UERUDP_TOOLS_EDIT_WRITER_H
#define UERUDP_TOOLS_EDIT_WRITER_H

#include "tools/capture/pcapng_writer.h"
#include "tools/edit/edited_block.h"

enum edit_format { EDIT_FORMAT_SAME, EDIT_FORMAT_PCAP, EDIT_FORMAT_PCAPNG };

#define EDIT_WRITER_ERROR_BYTES 256

/* Fill the first five members; zero is right for the others. */
struct edit_writer {
    FILE *file;
    enum edit_format format;
    int64_t shift_ns; /* of all times */
    bool is_changing; /* something may change, so that sections cannot say how long they are */
    bool is_stripped; /* without texts, and without blocks that reading the packets does not need */

    bool is_begun;
    bool is_converting;     /* the input is of the other format */
    bool has_link_type;     /* a pcap is being made, of */
    uint16_t link_type;     /* this one */
    GHashTable *interfaces; /* a pcapng is being made: number by link type */
    struct pcapng_writer pcapng;
    char error[EDIT_WRITER_ERROR_BYTES];
};

/* Writes a parcel, as often as it says; false with a sentence in error where the format cannot say it. */
bool edit_writer_write(struct edit_writer *writer, const struct edited_block *parcel);

/* Everything was put, and what the format wants of an empty file is there. False where something was too much. */
bool edit_writer_finish(struct edit_writer *writer);

void edit_writer_clear(struct edit_writer *writer);

#endif
