/* SPDX-License-Identifier: MIT */
/* Private: a cursor over the headers of a captured packet, and big-endian loads. */
#ifndef UERUDP_TOOLS_CAPTURE_HEADER_CURSOR_H
#define UERUDP_TOOLS_CAPTURE_HEADER_CURSOR_H

#include "tools/capture/packet_headers.h"

/* The unparsed part of a packet: captured_bytes of length_bytes are present. fault is the reason why it holds no
   datagram. */
struct header_cursor {
    const uint8_t *bytes;
    size_t captured_bytes, length_bytes;
    enum capture_headers_result fault; /* CAPTURE_HEADERS_OTHER until a header is cut or malformed */
};

/* Returns the next size_bytes and advances. Returns NULL if they are missing; the fault says whether the snap length
   is the reason. */
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

/* Cuts the span after size_bytes, for example to remove Ethernet padding. Returns false and sets the fault if it is
   shorter. */
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
