/* SPDX-License-Identifier: MIT */
/*
 * Reads UDP payloads written as hex text, in constant memory. Accepted, also mixed in one file:
 *
 *   80 00 b5    8000b5    80:00:b5    0x80, 0x00, 0xb5
 *       one datagram per line; a comma at the end continues it on the next
 *   static const uint8_t hello[] = { 0x80, 0x00, 0xb5 };
 *       one datagram per pair of braces
 *   00000000  80 00 b5  |...|
 *       dumps of text2pcap, hexdump -C, xxd, od, tcpdump -X and Wireshark; offset 0 or an empty line begins anew
 *
 * A time may stand in front of a datagram, on its line or the one before, behind the mark if there is one:
 *
 *   O 2026-01-31 23:59:59.123456    I 23:59:59.123456    12.345678
 *
 * Without a date it is of 1970-01-01; all are UTC, and without a date a fraction is needed.
 *
 * Comments are those of C, and # to the end of the line. A mark before a datagram tells who sent it: `C>` or `O` the
 * client, which is also assumed without a mark, `S>` or `I` the server; so do Wireshark's array names peer0_ and
 * peer1_.
 */
#ifndef UERUDP_TOOLS_CAPTURE_HEX_TEXT_H
#define UERUDP_TOOLS_CAPTURE_HEX_TEXT_H

#include "tools/capture/packet_headers.h"

/* A hex text being read; opaque. */
struct hex_text;

/* Open a file, or standard input if path is "-". NULL on failure, with a text in error. Free with hex_text_close. */
struct hex_text *hex_text_open(const char *path, char error[CAPTURE_ERROR_BYTES]);

/* The same for a text in memory, which must outlive the reader. */
struct hex_text *hex_text_open_memory(const void *bytes, size_t size_bytes, char error[CAPTURE_ERROR_BYTES]);

/*
 * Read the next datagram, as one between client 10.0.0.1:50000 and server 10.0.0.2:7777. first_frame counts
 * from 1, payload is valid until the next call. After END or DAMAGED every call gives the same result again.
 */
enum capture_result hex_text_next(struct hex_text *hex, struct capture_udp *udp);

/* The time of that datagram, nanoseconds since 1970; false, and *time_ns unchanged, if the text has none for it. */
bool hex_text_time(const struct hex_text *hex, int64_t *time_ns);

/* Whether the server sent that datagram. */
bool hex_text_is_from_server(const struct hex_text *hex);

/* What is wrong, with line and column (both from 1), after DAMAGED; else "". */
const char *hex_text_error(const struct hex_text *hex);

/* Free the reader; NULL is allowed. */
void hex_text_close(struct hex_text *hex);

#endif
