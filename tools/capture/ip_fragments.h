/* SPDX-License-Identifier: MIT */
/* Private: IP fragments put together in bounded memory and time. */
#ifndef UERUDP_TOOLS_CAPTURE_IP_FRAGMENTS_H
#define UERUDP_TOOLS_CAPTURE_IP_FRAGMENTS_H

#include "tools/capture/header_cursor.h"

/* What the fragments of one datagram have in common. Compared with memcmp, so fill it from zero. */
struct ue_fragment_key {
    struct ue_address source, destination; /* ports are zero */
    uint32_t id;
    uint32_t protocol; /* of IPv4; 0 for IPv6, where it is not part of the identity */
};

/* One fragment as its header describes it. */
struct ue_fragment {
    struct ue_fragment_key key;
    size_t offset_bytes;
    bool more;
    uint8_t next_header;
    uint64_t frame;
    int64_t time_ns;
};

/* A datagram of which nothing is missing; the span is valid until the next call. */
struct ue_whole {
    struct ue_span span;
    uint8_t next_header;
    uint64_t first_frame;
};

/* Add a fragment with its data. UE_FRAME_UDP: *whole was filled. Else UE_FRAME_FRAGMENT or UE_FRAME_MALFORMED. */
enum ue_frame_result ue_fragments_add(struct ue_fragments *fragments, const struct ue_fragment *fragment,
                                      const struct ue_span *data, struct ue_whole *whole);

#endif
