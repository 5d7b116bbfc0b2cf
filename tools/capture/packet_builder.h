/* SPDX-License-Identifier: MIT */
/* Builds an Ethernet frame around a UDP datagram. */
#ifndef UERUDP_TOOLS_CAPTURE_PACKET_BUILDER_H
#define UERUDP_TOOLS_CAPTURE_PACKET_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "tools/capture/capture_address.h"

#define CAPTURE_PACKET_PAYLOAD_MAX_BYTES 65507 /* limit of IPv4 */
#define CAPTURE_PACKET_MAX_BYTES (14 + 40 + 8 + CAPTURE_PACKET_PAYLOAD_MAX_BYTES)

/* Writes an Ethernet frame with IPv4 or IPv6, UDP, correct checksums and the payload. Returns its size; 0 if the
   address families differ or the payload is too long. */
size_t capture_packet_build(const struct capture_address *source, const struct capture_address *destination,
                            const void *payload, size_t payload_bytes, uint8_t frame[CAPTURE_PACKET_MAX_BYTES]);

#endif
