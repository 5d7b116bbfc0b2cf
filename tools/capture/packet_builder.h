/* SPDX-License-Identifier: MIT */
/* Builds the Ethernet frame around a UDP datagram. */
#ifndef UERUDP_TOOLS_CAPTURE_PACKET_BUILDER_H
#define UERUDP_TOOLS_CAPTURE_PACKET_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "tools/capture/address.h"

#define CAPTURE_PACKET_PAYLOAD_MAX_BYTES 65507 /* what IPv4 can carry */
#define CAPTURE_PACKET_MAX_BYTES (14 + 40 + 8 + CAPTURE_PACKET_PAYLOAD_MAX_BYTES)

/*
 * Write Ethernet, IPv4 or IPv6, UDP with right checksums and the payload as one frame, whatever its size,
 * into frame. Returns the frame's size in bytes; 0 if the families differ or the payload is too long.
 */
size_t capture_packet_build(const struct capture_address *source, const struct capture_address *destination, const void *payload,
                      size_t payload_bytes, uint8_t frame[CAPTURE_PACKET_MAX_BYTES]);

#endif
