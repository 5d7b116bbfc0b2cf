/* SPDX-License-Identifier: MIT */
/* Private: pcapng, as capture.c uses it. Functions that can fail write a message to error. */
#ifndef UERUDP_TOOLS_CAPTURE_PCAPNG_H
#define UERUDP_TOOLS_CAPTURE_PCAPNG_H

#include "tools/capture/byte_source.h"
#include "tools/capture/capture_block.h"

struct capture_pcapng;

/* Whether a file that begins with these bytes is a pcapng. */
bool capture_pcapng_begins_with(const uint8_t magic[4]);

/* The source must outlive the result. */
struct capture_pcapng *capture_pcapng_new(struct byte_source *source);
void capture_pcapng_free(struct capture_pcapng *pcapng);

/* Sets all of *packet but its frame number, and *block to the block that holds it. */
enum capture_result capture_pcapng_next(struct capture_pcapng *pcapng, struct capture_packet *packet,
                                        struct capture_block *block, char error[CAPTURE_ERROR_BYTES]);

/* Reports the blocks that are not packets to the tap. */
void capture_pcapng_tap(struct capture_pcapng *pcapng, const struct capture_tap *tap);

#endif
