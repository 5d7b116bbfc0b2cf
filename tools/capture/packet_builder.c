/* SPDX-License-Identifier: MIT */
#include "tools/capture/packet_builder.h"

#include <string.h>

#include "tools/capture/checksum.h"
#include "tools/capture/packet_headers.h"

#define ETHERNET_BYTES 14
#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define UDP_BYTES 8
#define PROTOCOL_UDP 17
#define HOP_LIMIT 64

/* Locally administered MAC addresses whose last bytes are those of the IP address. */
static void ethernet_build(uint8_t *header, const struct capture_address *source,
                           const struct capture_address *destination) {
    size_t last = source->family == CAPTURE_IPV6 ? 12 : 0;

    memset(header, 0, ETHERNET_BYTES);
    header[0] = header[6] = 0x02;
    memcpy(header + 2, destination->bytes + last, 4);
    memcpy(header + 8, source->bytes + last, 4);
    capture_store_be16(header + 12, source->family == CAPTURE_IPV6 ? 0x86dd : 0x0800);
}

static void ipv4_build(uint8_t *header, const struct capture_address *source, const struct capture_address *destination,
                       size_t udp_bytes) {
    memset(header, 0, IPV4_BYTES);
    header[0] = 0x45;
    capture_store_be16(header + 2, IPV4_BYTES + udp_bytes);
    header[8] = HOP_LIMIT;
    header[9] = PROTOCOL_UDP;
    memcpy(header + 12, source->bytes, 4);
    memcpy(header + 16, destination->bytes, 4);
}

static void ipv6_build(uint8_t *header, const struct capture_address *source, const struct capture_address *destination,
                       size_t udp_bytes) {
    memset(header, 0, IPV6_BYTES);
    header[0] = 0x60;
    capture_store_be16(header + 4, udp_bytes);
    header[6] = PROTOCOL_UDP;
    header[7] = HOP_LIMIT;
    memcpy(header + 8, source->bytes, 16);
    memcpy(header + 24, destination->bytes, 16);
}

/* A nonzero checksum makes capture_packet_update_checksums compute it. */
static void udp_build(uint8_t *header, const struct capture_address *source, const struct capture_address *destination,
                      size_t udp_bytes) {
    capture_store_be16(header, source->port);
    capture_store_be16(header + 2, destination->port);
    capture_store_be16(header + 4, udp_bytes);
    capture_store_be16(header + 6, 0xffff);
}

size_t capture_packet_build(const struct capture_address *source, const struct capture_address *destination,
                            const void *payload, size_t payload_bytes, uint8_t frame[CAPTURE_PACKET_MAX_BYTES]) {
    bool is_ipv6 = source->family == CAPTURE_IPV6;
    uint8_t *ip = frame + ETHERNET_BYTES;
    uint8_t *udp = ip + (is_ipv6 ? IPV6_BYTES : IPV4_BYTES);
    size_t udp_bytes = UDP_BYTES + payload_bytes;
    struct capture_packet_offsets offsets = {
        .network = ETHERNET_BYTES,
        .family = source->family,
        .is_udp = true,
        .payload = (size_t)(udp - frame) + UDP_BYTES,
        .payload_bytes = payload_bytes,
    };

    if (source->family != destination->family || payload_bytes > CAPTURE_PACKET_PAYLOAD_MAX_BYTES)
        return 0;
    ethernet_build(frame, source, destination);
    (is_ipv6 ? ipv6_build : ipv4_build)(ip, source, destination, udp_bytes);
    if (payload_bytes > 0)
        memcpy(udp + UDP_BYTES, payload, payload_bytes);
    udp_build(udp, source, destination, udp_bytes);
    capture_packet_update_checksums(&offsets, frame, offsets.payload + payload_bytes);
    return offsets.payload + payload_bytes;
}
