/* SPDX-License-Identifier: MIT */
/* Writes pcapng: one little-endian section, nanosecond timestamps, a comment per packet where wanted. */
#ifndef UERUDP_TOOLS_CAPTURE_PCAPNG_WRITER_H
#define UERUDP_TOOLS_CAPTURE_PCAPNG_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/capture/capture.h"
#include "tools/capture/packet_builder.h"

#define UE_PCAPNG_STAGE_BYTES 4096

/* A file being written; the members are the writer's own. */
struct ue_pcapng_writer {
    FILE *file;
    uint8_t stage[UE_PCAPNG_STAGE_BYTES]; /* the block that is being put together */
    size_t staged_bytes;
    uint32_t interfaces;
    bool failed; /* sticky: a write failed, or there was something that cannot be written */
    uint8_t frame[UE_FRAME_MAX_BYTES];
};

/* Begin a section on file, which stays the caller's. application (NULL: none) names the program in the file. */
void ue_pcapng_begin(struct ue_pcapng_writer *writer, FILE *file, const char *application);

/* Describe an interface and return its number, from 0. name may be NULL. */
uint32_t ue_pcapng_interface(struct ue_pcapng_writer *writer, uint16_t link_type, const char *name);

/* Write one packet, not before 1970 and not above 8 MiB; its frame number and link type are not used. */
void ue_pcapng_packet(struct ue_pcapng_writer *writer, uint32_t interface, const struct ue_capture_packet *packet);

/* Write one UDP datagram as a frame of an Ethernet interface; comment may be NULL. */
void ue_pcapng_udp(struct ue_pcapng_writer *writer, uint32_t interface, int64_t time_ns,
                   const struct ue_address *source, const struct ue_address *destination, const void *payload,
                   size_t payload_bytes, const char *comment);

/* Flush the file; true if everything was written. */
bool ue_pcapng_end(struct ue_pcapng_writer *writer);

#endif
