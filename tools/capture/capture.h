/* SPDX-License-Identifier: MIT */
/* Reads capture files packet by packet in constant memory: pcap and pcapng, plain or gzip-compressed, in either byte
   order. */
#ifndef UERUDP_TOOLS_CAPTURE_CAPTURE_H
#define UERUDP_TOOLS_CAPTURE_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#define CAPTURE_ERROR_BYTES 256

/* An open capture file. */
struct capture;

#define CAPTURE_INTERFACE_NAME_BYTES 64 /* of an interface name, with NUL; longer names are cut */

#define CAPTURE_LINK_ETHERNET 1 /* a LINKTYPE_ number of the pcap specifications */

/* One packet. All pointers are valid until the next call on the same capture. */
struct capture_packet {
    uint64_t frame;       /* frame number in the file, from 1 */
    int64_t time_ns;      /* since 1970 UTC; 0 in a pcapng simple packet, which has no time */
    const uint8_t *bytes; /* starts with the link-layer header */
    size_t captured_bytes;
    size_t length_bytes; /* size on the wire */
    const char *comment; /* the first comment, UTF-8 as stored, not NUL-terminated; NULL: none */
    size_t comment_bytes;
    const char *interface;     /* name of the capture interface as stored; NULL: not stored */
    uint32_t interface_number; /* in its section of the file, from 0 */
    uint16_t link_type;        /* LINKTYPE_ number */
};

enum capture_result {
    CAPTURE_PACKET,  /* *packet is set */
    CAPTURE_END,     /* end of file at a block boundary */
    CAPTURE_DAMAGED, /* the file cannot be read further; capture_error gives the reason and the byte offset */
};

/* Opens a file, or standard input if path is "-". Returns NULL on failure, with a message in error that does not
   repeat the path. Free with capture_close. */
struct capture *capture_open_file(const char *path, char error[CAPTURE_ERROR_BYTES]);

/* Opens a file that is in memory, which must outlive the capture. */
struct capture *capture_open_memory(const void *bytes, size_t size_bytes, char error[CAPTURE_ERROR_BYTES]);

/* Reads the next packet. After END or DAMAGED every call returns the same result. */
enum capture_result capture_next(struct capture *capture, struct capture_packet *packet);

/* The reason for DAMAGED; "" before. Byte offsets count from 0 in the uncompressed file. */
const char *capture_error(const struct capture *capture);

/* Stored bytes consumed so far, for a progress display; the full size for an uncompressed file in memory. */
uint64_t capture_consumed_bytes(const struct capture *capture);

/* Frees the capture; NULL is allowed. */
void capture_close(struct capture *capture);

#endif
