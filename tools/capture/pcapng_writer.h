/* SPDX-License-Identifier: MIT */
/* Writes pcapng: one little-endian section, nanosecond timestamps, a comment per packet where wanted. */
#ifndef UERUDP_TOOLS_CAPTURE_PCAPNG_WRITER_H
#define UERUDP_TOOLS_CAPTURE_PCAPNG_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/capture/capture.h"
#include "tools/capture/packet_builder.h"

#define PCAPNG_WRITER_STAGE_BYTES 4096

/* A file being written; the members are the writer's own. */
struct pcapng_writer {
    FILE *file;
    uint8_t stage[PCAPNG_WRITER_STAGE_BYTES]; /* the block that is being put together */
    size_t staged_bytes;
    uint32_t interfaces;
    bool failed; /* sticky: a write failed, or there was something that cannot be written */
    uint8_t frame[CAPTURE_PACKET_MAX_BYTES];
};

/* Begin a section on file, which stays the caller's. application (NULL: none) names the program in the file. */
void pcapng_writer_begin(struct pcapng_writer *writer, FILE *file, const char *application);

/* Describe an interface and return its number, from 0. name may be NULL. */
uint32_t pcapng_writer_add_interface(struct pcapng_writer *writer, uint16_t link_type, const char *name);

/* Write one packet, not before 1970 and not above 8 MiB; its frame number and link type are not used. */
void pcapng_writer_add_packet(struct pcapng_writer *writer, uint32_t interface, const struct capture_packet *packet);

/* Write one UDP datagram as a frame of an Ethernet interface; comment may be NULL. */
void pcapng_writer_add_datagram(struct pcapng_writer *writer, uint32_t interface, int64_t time_ns,
                   const struct capture_address *source, const struct capture_address *destination, const void *payload,
                   size_t payload_bytes, const char *comment);

/* Flush the file; true if everything was written. */
bool pcapng_writer_finish(struct pcapng_writer *writer);

#endif
