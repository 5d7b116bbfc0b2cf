/* SPDX-License-Identifier: MIT */
/* Reads capture files packet by packet in constant memory: pcap and pcapng, in gzip or not, either byte order. */
#ifndef UERUDP_TOOLS_CAPTURE_CAPTURE_H
#define UERUDP_TOOLS_CAPTURE_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#define CAPTURE_ERROR_BYTES 256

/* A capture being read; opaque. */
struct capture;

#define CAPTURE_INTERFACE_NAME_BYTES 64 /* what is kept of an interface's name, with NUL */

#define CAPTURE_LINK_ETHERNET 1 /* LINKTYPE_ numbers are those that the pcap specifications list */

/* One packet. All pointers are the reader's and are valid until its next call. */
struct capture_packet {
    uint64_t frame;        /* number in the file, from 1 */
    int64_t time_ns;       /* since 1970 UTC; 0 in a pcapng simple packet, which has no time */
    const uint8_t *bytes;  /* from the link-layer header on */
    size_t captured_bytes; /* bytes present */
    size_t length_bytes;   /* bytes the packet had on the wire */
    const char *comment;   /* the first comment, UTF-8 as found, without NUL; NULL if none */
    size_t comment_bytes;
    const char *interface; /* name of the interface that it was captured at, as found; NULL if the file says none */
    uint16_t link_type;    /* LINKTYPE_ number */
};

enum capture_result {
    CAPTURE_PACKET,  /* *packet was filled */
    CAPTURE_END,     /* the file ended where a packet could have begun */
    CAPTURE_DAMAGED, /* nothing more can be read; capture_error says what is wrong and at which byte */
};

/*
 * Open a file, or standard input if path is "-". NULL on failure, with a text in error, which does not repeat the
 * path. Free with capture_close.
 */
struct capture *capture_open_file(const char *path, char error[CAPTURE_ERROR_BYTES]);

/* The same for a file that is already in memory, which must outlive the reader. */
struct capture *capture_open_memory(const void *bytes, size_t size_bytes, char error[CAPTURE_ERROR_BYTES]);

/* Read the next packet. After END or DAMAGED every call gives the same result again. */
enum capture_result capture_next(struct capture *capture, struct capture_packet *packet);

/* What is wrong, after DAMAGED; else "". Byte offsets count from 0, in the uncompressed file. */
const char *capture_error(const struct capture *capture);

/* Bytes taken so far from the file as it is stored, for a progress display; of a plain capture in memory, all. */
uint64_t capture_consumed_bytes(const struct capture *capture);

/* Free the reader; NULL is allowed. */
void capture_close(struct capture *capture);

#endif
