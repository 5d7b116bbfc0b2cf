/* SPDX-License-Identifier: MIT */
/* Private: the Internet checksum (RFC 1071), and big-endian stores. */
#ifndef UE_CAPTURE_CHECKSUM_H
#define UE_CAPTURE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

static inline void ue_store_be16(uint8_t *bytes, size_t value) {
    bytes[0] = (uint8_t)(value >> 8);
    bytes[1] = (uint8_t)value;
}

/* Sum of the 16-bit words; an odd byte counts as a word's first. */
static inline uint32_t ue_checksum_add(uint32_t sum, const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i + 1 < size; i += 2)
        sum += (uint32_t)(bytes[i] << 8 | bytes[i + 1]);
    return size % 2 != 0 ? sum + ((uint32_t)bytes[size - 1] << 8) : sum;
}

static inline uint16_t ue_checksum_end(uint32_t sum) {
    while (sum >> 16 != 0)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

#endif
