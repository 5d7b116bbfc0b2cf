/* SPDX-License-Identifier: MIT */
/* Whether a datagram's fields say all of its bytes. */
#ifndef UERUDP_TOOLS_PRINT_ROUNDTRIP_H
#define UERUDP_TOOLS_PRINT_ROUNDTRIP_H

#include <uerudp/datagram.h>

/* True when decoding and encoding gives the same bytes, and everything needed for that stands in the fields. */
bool print_datagram_roundtrips(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes);

#endif
