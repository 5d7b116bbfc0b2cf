/* SPDX-License-Identifier: MIT */
/* The blocks of a capture as they stand in the file, so that they can be copied to the last byte, and packets changed
   without touching anything else. */
#ifndef UERUDP_TOOLS_CAPTURE_BLOCK_H
#define UERUDP_TOOLS_CAPTURE_BLOCK_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/capture/capture.h"

enum capture_block_kind {
    CAPTURE_BLOCK_OTHER,     /* none of those below */
    CAPTURE_BLOCK_FILE,      /* the header of a classic pcap */
    CAPTURE_BLOCK_SECTION,   /* begins another section of a pcapng; all that is known of interfaces ends */
    CAPTURE_BLOCK_INTERFACE, /* describes an interface of a pcapng */
    CAPTURE_BLOCK_CLASSIC,   /* a packet of a classic pcap */
    CAPTURE_BLOCK_ENHANCED,  /* a packet of a pcapng; the forms below, too */
    CAPTURE_BLOCK_OBSOLETE,
    CAPTURE_BLOCK_SIMPLE /* without time and comments */
};

/* A block, or a piece of one that is too large for the memory. */
struct capture_block {
    enum capture_block_kind form;
    const uint8_t *bytes;
    size_t size_bytes;
    bool is_swapped;           /* numbers are not in the byte order of this machine */
    size_t header_bytes;       /* what comes before the data of packets, and the options of others */
    uint64_t ticks_per_second; /* packets: of the clock of their interface */
    uint32_t snap_bytes;       /* packets: where their interface cuts them; 0: nowhere */
};

/* Sees everything that a capture is made of, in the order of the file; the blocks together are the file. They are valid
   during the call. packet is NULL for what is none. */
struct capture_tap {
    void (*block)(void *user, const struct capture_block *block, const struct capture_packet *packet);
    void *user;
};

/* Begins to tell the tap; before the first packet is read. NULL: nobody. */
void capture_tap(struct capture *capture, const struct capture_tap *tap);

/* What shall be different about a packet. */
struct capture_block_change {
    int64_t shift_ns; /* added to the time; nothing happens to a simple packet */
    bool has_data;    /* data, of captured_bytes of length_bytes, replaces the data */
    const uint8_t *data;
    size_t captured_bytes, length_bytes;
    const char *comment; /* one more, in front of those there are; NULL: none. Only of enhanced and obsolete packets */
    bool is_stripped;    /* without options that hold text, of packets, interfaces and sections */
    bool is_unmeasured;  /* of a section: does not say how long it is, since what is in it changes */
};

/* Writes a block, changed; all that the change does not name stays to the last byte. False where it cannot be said in
   this block: a time out of its clock's reach, or more data than it holds. Whether the writing succeeded, the file
   knows. */
bool capture_block_write(FILE *file, const struct capture_block *block, const struct capture_block_change *change);

#endif
