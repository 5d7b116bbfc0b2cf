/* SPDX-License-Identifier: MIT */
/* Writes edited blocks in the format of the input or in the other format. */
#ifndef UERUDP_TOOLS_EDIT_BLOCK_WRITER_H
#define UERUDP_TOOLS_EDIT_BLOCK_WRITER_H

#include "tools/capture/pcapng_writer.h"
#include "tools/edit/edited_block.h"

enum edit_format { EDIT_FORMAT_SAME, EDIT_FORMAT_PCAP, EDIT_FORMAT_PCAPNG };

#define EDIT_WRITER_ERROR_BYTES 256

/* Fill the first five members; the rest starts zeroed. */
struct edit_writer {
    FILE *file;
    enum edit_format format;
    int64_t shift_ns; /* added to all times */
    bool is_changing; /* blocks may change, so lengths of sections are written as unknown */
    bool is_stripped; /* without texts and without blocks that are not needed to read packets */

    bool is_begun;
    bool is_converting; /* the input has the other format */
    bool has_link_type; /* a pcap is being written; its link type follows */
    uint16_t link_type;
    GHashTable *interfaces; /* a pcapng is being written: interface number by link type */
    struct pcapng_writer pcapng;
    char error[EDIT_WRITER_ERROR_BYTES];
};

/* Writes a block and its copies; false with a sentence in error if the format cannot hold it. */
bool edit_writer_write(struct edit_writer *writer, const struct edited_block *edited);

/* Completes the file, also an empty one. Returns false if writing failed. */
bool edit_writer_finish(struct edit_writer *writer);

void edit_writer_clear(struct edit_writer *writer);

#endif
