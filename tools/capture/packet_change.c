/* SPDX-License-Identifier: MIT */
/* Updates the headers of a packet whose payload or addresses change. */
#include "tools/capture/checksum.h"
#include "tools/capture/header_cursor.h"
#include "tools/capture/packet_headers.h"

#define UDP_BYTES 8
#define LENGTH_MAX 65535
#define PROTOCOL_UDP 17
#define IPV6_BYTES 40

/* Offset of IP's length field. */
static size_t ip_length_offset(const struct capture_packet_offsets *offsets) {
    return offsets->network + (offsets->family == CAPTURE_IPV6 ? 4 : 2);
}

bool capture_packet_resize_payload(const struct capture_packet_offsets *offsets, size_t payload_bytes, uint8_t *bytes) {
    size_t begin = offsets->network + (offsets->family == CAPTURE_IPV6 ? IPV6_BYTES : 0);
    size_t udp = offsets->payload - UDP_BYTES;
    size_t ip_bytes = offsets->payload - begin + payload_bytes;

    if (ip_bytes > LENGTH_MAX)
        return false;
    if (capture_load_be16(bytes + ip_length_offset(offsets)) != 0)
        capture_store_be16(bytes + ip_length_offset(offsets), ip_bytes);
    if (capture_load_be16(bytes + udp + 4) != 0)
        capture_store_be16(bytes + udp + 4, UDP_BYTES + payload_bytes);
    return true;
}

static void seal_ipv4(uint8_t *header) {
    capture_store_be16(header + 10, 0);
    capture_store_be16(header + 10,
                       capture_checksum_finish(capture_checksum_add(0, header, (size_t)(header[0] & 0x0f) * 4)));
}

/* The checksum covers addresses, protocol and length too; a checksum of zero is written as 0xffff. */
static uint16_t udp_checksum(const struct capture_packet_offsets *offsets, const uint8_t *bytes) {
    bool is_ipv6 = offsets->family == CAPTURE_IPV6;
    const uint8_t *addresses = bytes + offsets->network + (is_ipv6 ? 8 : 12);
    size_t udp_bytes = UDP_BYTES + offsets->payload_bytes;
    uint64_t numbers = htons(PROTOCOL_UDP) + htons((uint16_t)udp_bytes);
    uint64_t sum = capture_checksum_add(numbers, addresses, is_ipv6 ? 32 : 8);
    uint16_t value =
        capture_checksum_finish(capture_checksum_add(sum, bytes + offsets->payload - UDP_BYTES, udp_bytes));

    return value == 0 ? 0xffff : value;
}

static void seal_udp(const struct capture_packet_offsets *offsets, uint8_t *bytes) {
    uint8_t *header = bytes + offsets->payload - UDP_BYTES;
    size_t length = capture_load_be16(header + 4);
    bool is_whole = length == UDP_BYTES + offsets->payload_bytes;

    if (offsets->family == CAPTURE_IPV4 && (capture_load_be16(header + 6) == 0 || !is_whole)) {
        capture_store_be16(header + 6, 0);
    } else if (is_whole) {
        capture_store_be16(header + 6, 0);
        capture_store_be16(header + 6, udp_checksum(offsets, bytes));
    }
}

/* The first fragment holds the checksum of a datagram whose rest is in other packets. */
static bool holds_udp_checksum(const struct capture_packet_offsets *offsets, const uint8_t *bytes, size_t size_bytes) {
    size_t place_of_fragment =
        offsets->family == CAPTURE_IPV4 ? capture_load_be16(bytes + offsets->network + 6) & 0x1fff : 1;

    return offsets->is_fragment && place_of_fragment == 0 && bytes[offsets->network + 9] == PROTOCOL_UDP &&
           size_bytes >= offsets->transport + UDP_BYTES;
}

void capture_packet_update_checksums(const struct capture_packet_offsets *offsets, uint8_t *bytes, size_t size_bytes) {
    if (offsets->family == CAPTURE_IPV4)
        seal_ipv4(bytes + offsets->network);
    if (offsets->is_udp)
        seal_udp(offsets, bytes);
    else if (holds_udp_checksum(offsets, bytes, size_bytes))
        capture_store_be16(bytes + offsets->transport + 6, 0);
}
