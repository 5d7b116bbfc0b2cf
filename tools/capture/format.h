/* SPDX-License-Identifier: MIT */
/* Private: what reader.c needs of a capture format. Both formats read from a source and put texts into error. */
#ifndef UERUDP_TOOLS_CAPTURE_FORMAT_H
#define UERUDP_TOOLS_CAPTURE_FORMAT_H

#include "tools/capture/block.h"
#include "tools/capture/byte_source.h"

struct capture_pcap;
struct capture_pcapng;

/* NULL with a text in error on failure. The source must outlive the result. */
struct capture_pcap *capture_pcap_open(struct byte_source *source, char error[CAPTURE_ERROR_BYTES]);
struct capture_pcapng *capture_pcapng_open(struct byte_source *source, char error[CAPTURE_ERROR_BYTES]);

/* Fill everything of packet but its frame number, and the block in which it stands. */
enum capture_result capture_pcap_next(struct capture_pcap *pcap, struct capture_packet *packet, struct capture_block *block,
                                    char error[CAPTURE_ERROR_BYTES]);
enum capture_result capture_pcapng_next(struct capture_pcapng *pcapng, struct capture_packet *packet,
                                      struct capture_block *block, char error[CAPTURE_ERROR_BYTES]);

/* Tell what is no packet; of a classic pcap that is its header, at once. */
void capture_pcap_tap(struct capture_pcap *pcap, const struct capture_tap *tap);
void capture_pcapng_tap(struct capture_pcapng *pcapng, const struct capture_tap *tap);

void capture_pcap_close(struct capture_pcap *pcap);
void capture_pcapng_close(struct capture_pcapng *pcapng);

#endif
