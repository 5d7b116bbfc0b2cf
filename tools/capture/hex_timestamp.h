/* SPDX-License-Identifier: MIT */
/* Private: a time in front of a datagram in a hex text. */
#ifndef UERUDP_TOOLS_CAPTURE_HEX_TIMESTAMP_H
#define UERUDP_TOOLS_CAPTURE_HEX_TIMESTAMP_H

#include <stddef.h>
#include <stdint.h>

/* Reads a time at the begin of a text of size_bytes: `2026-01-31 23:59:59.5`, also with T between and Z behind;
   `23:59:59.5`, of 1970-01-01; `12.5`, seconds since 1970. The latter two have a fraction, else they could be bytes.
   Returns its length, 0: there is none; *time_ns is then unchanged. */
size_t hex_timestamp_parse(const char *text, size_t size_bytes, int64_t *time_ns);

#endif
