/* SPDX-License-Identifier: MIT */
/* The blocks of a capture file as they are stored, so that a program can copy them unchanged or change single
   packets. */
#ifndef UERUDP_TOOLS_CAPTURE_CAPTURE_BLOCK_H
#define UERUDP_TOOLS_CAPTURE_CAPTURE_BLOCK_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/capture/capture.h"

enum capture_block_kind {
    CAPTURE_BLOCK_OTHER,     /* any other block */
    CAPTURE_BLOCK_FILE,      /* the header of a classic pcap */
    CAPTURE_BLOCK_SECTION,   /* starts a new section of a pcapng; all earlier interfaces end */
    CAPTURE_BLOCK_INTERFACE, /* describes an interface of a pcapng */
    CAPTURE_BLOCK_CLASSIC,   /* a packet of a classic pcap */
    CAPTURE_BLOCK_ENHANCED,  /* a packet of a pcapng, as are the two kinds below */
    CAPTURE_BLOCK_OBSOLETE,
    CAPTURE_BLOCK_SIMPLE /* a packet without time and comments */
};

/* A block, or a piece of a block that is too large for memory. */
struct capture_block {
    enum capture_block_kind form;
    const uint8_t *bytes;
    size_t size_bytes;
    bool is_swapped;           /* numbers are in the opposite byte order of this machine */
    size_t header_bytes;       /* size of what precedes the packet data or, in other blocks, the options */
    uint64_t ticks_per_second; /* of a packet: resolution of its interface's clock */
    uint32_t snap_bytes;       /* of a packet: snap length of its interface; 0: none */
};

/* Receives each block of a capture in file order; together the blocks are the whole file. A block is valid during
   the call. packet is NULL if the block is not a packet. */
struct capture_tap {
    void (*block)(void *user, const struct capture_block *block, const struct capture_packet *packet);
    void *user;
};

/* Sets the tap; call it before the first packet is read. NULL: no tap. */
void capture_tap(struct capture *capture, const struct capture_tap *tap);

/* The changes to make to a block. */
struct capture_block_change {
    int64_t shift_ns; /* added to the time of a packet; a simple packet has no time */
    bool has_data;    /* replace the packet data by `data`, of captured_bytes out of length_bytes */
    const uint8_t *data;
    size_t captured_bytes, length_bytes;
    const char *comment; /* added before the existing comments of an enhanced or obsolete packet; NULL: none */
    bool is_stripped;    /* remove the options that hold text from packets, interfaces and sections */
    bool is_unmeasured;  /* of a section: write its length as unknown, because its blocks change */
};

/* Writes a block with the changes; everything else stays unchanged. Returns false if the block cannot hold the
   change: the time is out of range of the clock, or the data is too large. A write error shows in ferror(file). */
bool capture_block_write(FILE *file, const struct capture_block *block, const struct capture_block_change *change);

#endif
