/* SPDX-License-Identifier: MIT */
#include "tools/capture/frame_build.h"

#include <string.h>

#define ETHERNET_BYTES 14
#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define UDP_BYTES 8
#define PROTOCOL_UDP 17
#define HOP_LIMIT 64

static void store16(uint8_t *bytes, size_t value) {
    bytes[0] = (uint8_t)(value >> 8);
    bytes[1] = (uint8_t)value;
}

/* Sum of the 16-bit words, as the Internet checksum takes it (RFC 1071); an odd byte counts as a word's first. */
static uint32_t sum_words(uint32_t sum, const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i + 1 < size; i += 2)
        sum += (uint32_t)(bytes[i] << 8 | bytes[i + 1]);
    return size % 2 != 0 ? sum + ((uint32_t)bytes[size - 1] << 8) : sum;
}

static uint16_t checksum(uint32_t sum) {
    while (sum >> 16 != 0)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

/* Locally administered hardware addresses that end in those of IP. */
static void ethernet_build(uint8_t *header, const struct ue_address *source, const struct ue_address *destination) {
    size_t last = source->family == UE_IPV6 ? 12 : 0;

    memset(header, 0, ETHERNET_BYTES);
    header[0] = header[6] = 0x02;
    memcpy(header + 2, destination->bytes + last, 4);
    memcpy(header + 8, source->bytes + last, 4);
    store16(header + 12, source->family == UE_IPV6 ? 0x86dd : 0x0800);
}

static void ipv4_build(uint8_t *header, const struct ue_address *source, const struct ue_address *destination,
                       size_t udp_bytes) {
    memset(header, 0, IPV4_BYTES);
    header[0] = 0x45;
    store16(header + 2, IPV4_BYTES + udp_bytes);
    header[8] = HOP_LIMIT;
    header[9] = PROTOCOL_UDP;
    memcpy(header + 12, source->bytes, 4);
    memcpy(header + 16, destination->bytes, 4);
    store16(header + 10, checksum(sum_words(0, header, IPV4_BYTES)));
}

static void ipv6_build(uint8_t *header, const struct ue_address *source, const struct ue_address *destination,
                       size_t udp_bytes) {
    memset(header, 0, IPV6_BYTES);
    header[0] = 0x60;
    store16(header + 4, udp_bytes);
    header[6] = PROTOCOL_UDP;
    header[7] = HOP_LIMIT;
    memcpy(header + 8, source->bytes, 16);
    memcpy(header + 24, destination->bytes, 16);
}

/* The checksum covers addresses, protocol and length too; one of zero is written as its other form, 0xffff. */
static void udp_build(uint8_t *datagram, const struct ue_address *source, const struct ue_address *destination,
                      size_t udp_bytes) {
    uint32_t sum = (uint32_t)(PROTOCOL_UDP + udp_bytes);
    uint16_t value;

    store16(datagram, source->port);
    store16(datagram + 2, destination->port);
    store16(datagram + 4, udp_bytes);
    store16(datagram + 6, 0);
    sum = sum_words(sum, source->bytes, sizeof source->bytes);
    sum = sum_words(sum, destination->bytes, sizeof destination->bytes);
    value = checksum(sum_words(sum, datagram, udp_bytes));
    store16(datagram + 6, value == 0 ? 0xffff : value);
}

size_t ue_frame_build(const struct ue_address *source, const struct ue_address *destination, const void *payload,
                      size_t payload_bytes, uint8_t frame[UE_FRAME_MAX_BYTES]) {
    bool is_ipv6 = source->family == UE_IPV6;
    uint8_t *ip = frame + ETHERNET_BYTES;
    uint8_t *udp = ip + (is_ipv6 ? IPV6_BYTES : IPV4_BYTES);
    size_t udp_bytes = UDP_BYTES + payload_bytes;

    if (source->family != destination->family || payload_bytes > UE_FRAME_PAYLOAD_MAX_BYTES)
        return 0;
    ethernet_build(frame, source, destination);
    (is_ipv6 ? ipv6_build : ipv4_build)(ip, source, destination, udp_bytes);
    if (payload_bytes > 0)
        memcpy(udp + UDP_BYTES, payload, payload_bytes);
    udp_build(udp, source, destination, udp_bytes);
    return (size_t)(udp - frame) + udp_bytes;
}
