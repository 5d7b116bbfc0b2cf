/* SPDX-License-Identifier: MIT */
/* UDP datagrams from a capture file, a pipe, a hex text, or a network interface. */
#ifndef UERUDP_TOOLS_INPUT_DATAGRAM_SOURCE_H
#define UERUDP_TOOLS_INPUT_DATAGRAM_SOURCE_H

#include "tools/capture/block.h"
#include "tools/capture/hex_text.h"
#include "tools/capture/interface.h"
#include "tools/capture/packet_headers.h"

/* The payload is valid until the next call. */
struct source_datagram {
    uint64_t frame;
    int64_t time_ns;
    const char *interface; /* NULL: none; valid as long as the payload */
    struct capture_udp udp;
};

/* Open one with zeroed counters; frames are counted on from file to file. */
struct datagram_source {
    struct capture *capture; /* one of these three is open */
    struct hex_text *hex;
    struct capture_interface *device;
    const struct capture_tap *tap; /* sees the blocks of captures that are opened; NULL: nobody */
    struct ip_fragments *fragments;
    uint64_t frames_before; /* frames of the files read before this one */
    uint64_t frame;         /* the last one read, in all files */
    uint64_t datagrams;     /* of UDP */
    uint64_t unreadable;    /* frames whose headers contradict each other or were cut off */
    uint64_t unknown_links; /* frames of a link type that is not read */
    uint64_t dropped;       /* packets that passed while the program was busy */
    int64_t hex_time_ns;    /* of the last datagram of a hex text */
    char error[CAPTURE_ERROR_BYTES];
};

/* Opens a file, or standard input for "-"; false with a text in error. */
bool datagram_source_open(struct datagram_source *input, const char *path, bool is_hex);

/* Begins to listen to an interface; false with a sentence in error. */
bool datagram_source_open_interface(struct datagram_source *input, const struct capture_interface_options *options);

/* The next datagram; after CAPTURE_DAMAGED error says what is wrong. */
enum capture_result datagram_source_next(struct datagram_source *input, struct source_datagram *datagram);

/* The same packet by packet: *is_udp says whether one was a datagram, or completed one. */
enum capture_result datagram_source_next_packet(struct datagram_source *input, struct source_datagram *datagram, bool *is_udp);

/* Bytes of the file that were consumed so far; 0 for hex texts and interfaces. */
uint64_t datagram_source_consumed_bytes(const struct datagram_source *input);

/* Closes the file; the counters stay, so that another can be opened. */
void datagram_source_close(struct datagram_source *input);

/* Releases all. */
void datagram_source_clear(struct datagram_source *input);

#endif
