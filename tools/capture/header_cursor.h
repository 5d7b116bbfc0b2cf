/* SPDX-License-Identifier: MIT */
/* Private: the part of a packet that is not parsed yet, and big-endian loads. */
#ifndef UERUDP_TOOLS_CAPTURE_HEADER_CURSOR_H
#define UERUDP_TOOLS_CAPTURE_HEADER_CURSOR_H

#include "tools/capture/packet_headers.h"

/* captured_bytes of length_bytes are present; fault says why there is no datagram in it. */
struct header_cursor {
    const uint8_t *bytes;
    size_t captured_bytes, length_bytes;
    enum capture_headers_result fault; /* CAPTURE_HEADERS_OTHER until a header turns out cut or malformed */
};

/* The next size bytes. If they are not there: NULL, and the fault says whether the snap length is to blame. */
static inline const uint8_t *header_cursor_read(struct header_cursor *span, size_t size_bytes) {
    const uint8_t *bytes = span->bytes;

    if (span->captured_bytes < size_bytes) {
        span->fault = span->length_bytes < size_bytes ? CAPTURE_HEADERS_MALFORMED : CAPTURE_HEADERS_CUT;
        return NULL;
    }
    span->bytes += size_bytes;
    span->captured_bytes -= size_bytes;
    span->length_bytes -= size_bytes;
    return bytes;
}

/* Leave out what stands behind size bytes, such as Ethernet's padding. False, and a fault, if there are fewer. */
static inline bool header_cursor_limit(struct header_cursor *span, size_t size_bytes) {
    if (size_bytes > span->length_bytes) {
        span->fault = CAPTURE_HEADERS_MALFORMED;
        return false;
    }
    span->length_bytes = size_bytes;
    if (span->captured_bytes > size_bytes)
        span->captured_bytes = size_bytes;
    return true;
}

static inline uint16_t capture_load_be16(const uint8_t *bytes) {
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static inline uint32_t capture_load_be32(const uint8_t *bytes) {
    return (uint32_t)capture_load_be16(bytes) << 16 | capture_load_be16(bytes + 2);
}

#endif
