/* SPDX-License-Identifier: MIT */
/* Private: the time in front of a datagram in a hex text. */
#ifndef UERUDP_TOOLS_CAPTURE_HEX_TIMESTAMP_H
#define UERUDP_TOOLS_CAPTURE_HEX_TIMESTAMP_H

#include <stddef.h>
#include <stdint.h>

/* Parses a time at the start of the text: `2026-01-31 23:59:59.5`, also with T and Z; `23:59:59.5` on 1970-01-01;
   `12.5` seconds since 1970. The last two need a fraction, because they could be bytes otherwise. Returns the
   length; 0: no time, *time_ns is unchanged. */
size_t hex_timestamp_parse(const char *text, size_t size_bytes, int64_t *time_ns);

#endif
