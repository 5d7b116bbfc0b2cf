/* SPDX-License-Identifier: MIT */
/* Private: constants of the pcapng format, and loads and stores in either byte order. */
#ifndef UERUDP_TOOLS_CAPTURE_PCAPNG_LAYOUT_H
#define UERUDP_TOOLS_CAPTURE_PCAPNG_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum pcapng_block_type {
    PCAPNG_INTERFACE = 1,
    PCAPNG_OBSOLETE_PACKET = 2,
    PCAPNG_SIMPLE_PACKET = 3,
    PCAPNG_ENHANCED_PACKET = 6,
    PCAPNG_SECTION = 0x0a0d0d0a, /* the same number in both byte orders */
};

/* Of packets and interfaces; every block may have the first two. */
enum pcapng_option_code {
    PCAPNG_END = 0,
    PCAPNG_COMMENT = 1,
    PCAPNG_NAME = 2,         /* of an interface */
    PCAPNG_PACKET_FLAGS = 2, /* of a packet */
    PCAPNG_APPLICATION = 4,  /* of a section */
    PCAPNG_PACKET_DROPS = 4,
    PCAPNG_PACKET_ID = 5,
    PCAPNG_PACKET_QUEUE = 6,
    PCAPNG_SPEED = 8,
    PCAPNG_TSRESOL = 9,
    PCAPNG_FCSLEN = 13,
    PCAPNG_TSOFFSET = 14
};

#define PCAPNG_HEADER_BYTES 8         /* type and length */
#define PCAPNG_FRAME_BYTES 12         /* around the body: type, length, length */
#define PCAPNG_PACKET_HEADER_BYTES 28 /* of an enhanced or obsolete packet, without its data */
#define PCAPNG_SIMPLE_HEADER_BYTES 12

static inline uint16_t pcapng_load16(const uint8_t *bytes, bool is_swapped) {
    uint16_t value;

    memcpy(&value, bytes, sizeof value);
    return is_swapped ? __builtin_bswap16(value) : value;
}

static inline uint32_t pcapng_load32(const uint8_t *bytes, bool is_swapped) {
    uint32_t value;

    memcpy(&value, bytes, sizeof value);
    return is_swapped ? __builtin_bswap32(value) : value;
}

static inline void pcapng_store32(uint8_t *bytes, uint32_t value, bool is_swapped) {
    value = is_swapped ? __builtin_bswap32(value) : value;
    memcpy(bytes, &value, sizeof value);
}

/* The size of an item padded to 32 bits. */
static inline size_t pcapng_padded(size_t size_bytes) {
    return (size_bytes + 3) & ~(size_t)3;
}

#endif
