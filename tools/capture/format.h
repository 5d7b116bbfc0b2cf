/* SPDX-License-Identifier: MIT */
/* Private: the two capture formats as capture.c uses them. Both read from a byte source and write messages to error. */
#ifndef UERUDP_TOOLS_CAPTURE_FORMAT_H
#define UERUDP_TOOLS_CAPTURE_FORMAT_H

#include "tools/capture/capture_block.h"
#include "tools/capture/byte_source.h"

struct capture_pcap;
struct capture_pcapng;

/* The source must outlive the result. A pcap can fail: NULL with a message in error. */
struct capture_pcap *capture_pcap_open(struct byte_source *source, char error[CAPTURE_ERROR_BYTES]);
struct capture_pcapng *capture_pcapng_new(struct byte_source *source);

/* Set all of *packet but its frame number, and *block to the block that holds it. */
enum capture_result capture_pcap_next(struct capture_pcap *pcap, struct capture_packet *packet,
                                      struct capture_block *block, char error[CAPTURE_ERROR_BYTES]);
enum capture_result capture_pcapng_next(struct capture_pcapng *pcapng, struct capture_packet *packet,
                                        struct capture_block *block, char error[CAPTURE_ERROR_BYTES]);

/* Report the blocks that are not packets to the tap; for a classic pcap that is the file header, immediately. */
void capture_pcap_tap(struct capture_pcap *pcap, const struct capture_tap *tap);
void capture_pcapng_tap(struct capture_pcapng *pcapng, const struct capture_tap *tap);

void capture_pcap_close(struct capture_pcap *pcap);
void capture_pcapng_free(struct capture_pcapng *pcapng);

#endif
