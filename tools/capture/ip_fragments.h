/* SPDX-License-Identifier: MIT */
/* Private: reassembly of IP fragments in bounded memory and time. */
#ifndef UERUDP_TOOLS_CAPTURE_IP_FRAGMENTS_H
#define UERUDP_TOOLS_CAPTURE_IP_FRAGMENTS_H

#include "tools/capture/header_cursor.h"

/* Identifies the fragments of one datagram. Compared with memcmp, so start from zero. */
struct ip_fragment_key {
    struct capture_address source, destination; /* ports are zero */
    uint32_t id;
    uint32_t protocol; /* of IPv4; 0 for IPv6, which does not use it to identify fragments */
};

/* One fragment as its header describes it. */
struct ip_fragment {
    struct ip_fragment_key key;
    size_t offset_bytes;
    bool more;
    uint8_t next_header;
    uint64_t frame;
    int64_t time_ns;
};

/* A reassembled datagram; the span is valid until the next call. */
struct ip_reassembled {
    struct header_cursor span;
    uint8_t next_header;
    uint64_t first_frame;
};

/* Adds a fragment with its data. Returns CAPTURE_HEADERS_UDP if *whole is set, else CAPTURE_HEADERS_FRAGMENT or
   CAPTURE_HEADERS_MALFORMED. */
enum capture_headers_result ip_fragments_add(struct ip_fragments *fragments, const struct ip_fragment *fragment,
                                             const struct header_cursor *data, struct ip_reassembled *whole);

#endif
