/* SPDX-License-Identifier: MIT */
/* Private: classic pcap, as capture.c uses it. Functions that can fail write a message to error. */
#ifndef UERUDP_TOOLS_CAPTURE_PCAP_H
#define UERUDP_TOOLS_CAPTURE_PCAP_H

#include "tools/capture/byte_source.h"
#include "tools/capture/capture_block.h"

struct capture_pcap;

/* Whether a file that begins with these bytes is a pcap. */
bool capture_pcap_begins_with(const uint8_t magic[4]);

/* The source must outlive the result. NULL: with a message in error. */
struct capture_pcap *capture_pcap_open(struct byte_source *source, char error[CAPTURE_ERROR_BYTES]);
void capture_pcap_close(struct capture_pcap *pcap);

/* Sets all of *packet but its frame number, and *block to the block that holds it. */
enum capture_result capture_pcap_next(struct capture_pcap *pcap, struct capture_packet *packet,
                                      struct capture_block *block, char error[CAPTURE_ERROR_BYTES]);

/* Reports the file header to the tap, immediately. */
void capture_pcap_tap(struct capture_pcap *pcap, const struct capture_tap *tap);

#endif
