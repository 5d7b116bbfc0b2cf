/* SPDX-License-Identifier: MIT */
/* UDP datagrams from a capture file, a pipe, a hex text, or a network interface. */
#ifndef UERUDP_TOOLS_INPUT_DATAGRAM_SOURCE_H
#define UERUDP_TOOLS_INPUT_DATAGRAM_SOURCE_H

#include "tools/capture/capture_block.h"
#include "tools/capture/hex_text.h"
#include "tools/capture/interface.h"
#include "tools/capture/packet_headers.h"

/* The payload is valid until the next call. */
struct source_datagram {
    uint64_t frame;
    int64_t time_ns;
    const char *interface; /* NULL: none; valid as long as the payload */
    uint32_t interface_number;
    struct capture_udp udp;
};

/* Zero the counters before the first file; frame numbers continue from file to file. */
struct datagram_source {
    struct capture *capture; /* exactly one of these three is open */
    struct hex_text *hex;
    struct capture_interface *device;
    const struct capture_tap *tap; /* receives the blocks of capture files; NULL: none */
    struct ip_fragments *fragments;
    uint64_t frames_before; /* frames of earlier files */
    uint64_t frame;         /* number of the last frame, over all files */
    uint64_t datagrams;     /* UDP datagrams */
    uint64_t others;        /* frames without UDP over IP, and without a tunnel */
    uint64_t tunnels;       /* frames with IP over IP, or GRE */
    uint64_t unreadable;    /* frames whose headers are cut off or contradict each other */
    uint64_t unknown_links; /* frames of an unsupported link type */
    uint64_t dropped;       /* packets that the system dropped because the program was busy */
    int64_t hex_time_ns;    /* of the last datagram of a hex text */
    char error[CAPTURE_ERROR_BYTES];
};

/* Opens a file, or standard input for "-"; false with a message in error. */
bool datagram_source_open(struct datagram_source *input, const char *path, bool is_hex);

/* Starts live capture; false with a sentence in error. */
bool datagram_source_open_interface(struct datagram_source *input, const struct capture_interface_options *options);

/* Reads the next packet; *is_udp says whether it is or completes a datagram, which it always does in a hex text. After
   CAPTURE_DAMAGED error has the reason. */
enum capture_result datagram_source_next(struct datagram_source *input, struct source_datagram *datagram, bool *is_udp);

/* Bytes of the file consumed so far; 0 for hex texts and interfaces. */
uint64_t datagram_source_consumed_bytes(const struct datagram_source *input);

/* Closes the file; the counters stay, so that another file can be opened. */
void datagram_source_close(struct datagram_source *input);

/* Frees everything. */
void datagram_source_clear(struct datagram_source *input);

#endif
