/* SPDX-License-Identifier: MIT */
/* Writes pcapng: one little-endian section, nanosecond timestamps, an optional comment for each packet. */
#ifndef UERUDP_TOOLS_CAPTURE_PCAPNG_WRITER_H
#define UERUDP_TOOLS_CAPTURE_PCAPNG_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/capture/capture.h"
#include "tools/capture/packet_builder.h"

/* Members are private to the writer. */
struct pcapng_writer {
    FILE *file;
    uint32_t interfaces;
    bool failed; /* sticky: a write failed or a packet could not be written */
    uint8_t frame[CAPTURE_PACKET_MAX_BYTES];
};

/* Starts a section. The caller keeps the file. application names the program; NULL: none. */
void pcapng_writer_begin(struct pcapng_writer *writer, FILE *file, const char *application);

/* Describes an interface and returns its number, from 0. name may be NULL. */
uint32_t pcapng_writer_add_interface(struct pcapng_writer *writer, uint16_t link_type, const char *name);

/* Writes a packet, whose time is not before 1970 and whose size is at most 8 MiB; its frame number and link type are
   not used. */
void pcapng_writer_add_packet(struct pcapng_writer *writer, uint32_t interface, const struct capture_packet *packet);

/* Writes a UDP datagram as a packet of an Ethernet interface; comment may be NULL. */
void pcapng_writer_add_datagram(struct pcapng_writer *writer, uint32_t interface, int64_t time_ns,
                                const struct capture_address *source, const struct capture_address *destination,
                                const void *payload, size_t payload_bytes, const char *comment);

/* Flushes the file; true if everything was written. */
bool pcapng_writer_finish(struct pcapng_writer *writer);

#endif
