/* SPDX-License-Identifier: MIT */
/* Private: the Internet checksum (RFC 1071), and big-endian stores. */
#ifndef UERUDP_TOOLS_CAPTURE_CHECKSUM_H
#define UERUDP_TOOLS_CAPTURE_CHECKSUM_H

#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void capture_store_be16(uint8_t *bytes, size_t value) {
    bytes[0] = (uint8_t)(value >> 8);
    bytes[1] = (uint8_t)value;
}

/* Adds the 16-bit words in host order, two at a time; a trailing odd byte is padded with zero. All parts but the
   last must have an even size. */
static inline uint64_t capture_checksum_add(uint64_t sum, const uint8_t *bytes, size_t size) {
    uint32_t words;
    for (; size >= sizeof words; bytes += sizeof words, size -= sizeof words) {
        memcpy(&words, bytes, sizeof words);
        sum += words;
    }
    words = 0;
    memcpy(&words, bytes, size);
    return sum + words;
}

static inline uint16_t capture_checksum_finish(uint64_t sum) {
    while (sum >> 16 != 0)
        sum = (sum & 0xffff) + (sum >> 16);
    return ntohs((uint16_t)~sum);
}

#endif
