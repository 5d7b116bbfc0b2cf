/* SPDX-License-Identifier: MIT */
/* Private: what reader.c needs of a capture format. Both formats read from a source and put texts into error. */
#ifndef UERUDP_TOOLS_CAPTURE_FORMAT_H
#define UERUDP_TOOLS_CAPTURE_FORMAT_H

#include "tools/capture/block.h"
#include "tools/capture/byte_source.h"

struct ue_pcap;
struct ue_pcapng;

/* NULL with a text in error on failure. The source must outlive the result. */
struct ue_pcap *ue_pcap_open(struct ue_source *source, char error[UE_CAPTURE_ERROR_BYTES]);
struct ue_pcapng *ue_pcapng_open(struct ue_source *source, char error[UE_CAPTURE_ERROR_BYTES]);

/* Fill everything of packet but its frame number, and the block in which it stands. */
enum ue_capture_result ue_pcap_next(struct ue_pcap *pcap, struct ue_capture_packet *packet, struct ue_block *block,
                                    char error[UE_CAPTURE_ERROR_BYTES]);
enum ue_capture_result ue_pcapng_next(struct ue_pcapng *pcapng, struct ue_capture_packet *packet,
                                      struct ue_block *block, char error[UE_CAPTURE_ERROR_BYTES]);

/* Tell what is no packet; of a classic pcap that is its header, at once. */
void ue_pcap_tap(struct ue_pcap *pcap, const struct ue_capture_tap *tap);
void ue_pcapng_tap(struct ue_pcapng *pcapng, const struct ue_capture_tap *tap);

void ue_pcap_close(struct ue_pcap *pcap);
void ue_pcapng_close(struct ue_pcapng *pcapng);

#endif
