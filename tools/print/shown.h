/* SPDX-License-Identifier: MIT */
/* One datagram to be printed: the bytes, how to read them, and what the capture says about it. */
#ifndef UE_PRINT_SHOWN_H
#define UE_PRINT_SHOWN_H

#include "libcodec/datagram.h"

struct ue_shown {
    uint64_t frame;
    int64_t time_ns;
    const char *source;
    const char *destination;
    const uint8_t *bytes;
    size_t size_bytes; /* to be traced: captured_bytes, and a byte that ends a cut datagram */
    size_t captured_bytes;
    size_t length_bytes; /* on the wire; larger than captured_bytes when a snap length cut the datagram */
    uint32_t stream;
    const struct ue_context *context; /* NULL: of no known form, only its bytes are shown */
    const struct ue_links *links;
    const char *reason;    /* why this generation was chosen */
    bool raw;              /* the fields do not give these bytes again */
    struct ue_fault fault; /* what decoding found; UE_OK for a whole datagram */
    bool canonical;
};

static inline bool ue_shown_is_cut(const struct ue_shown *shown) {
    return shown->captured_bytes < shown->length_bytes;
}

#endif
