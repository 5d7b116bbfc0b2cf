/* SPDX-License-Identifier: MIT */
/*
 * Reads UDP payloads from hex text, in constant memory. A file may mix these notations:
 *
 *   80 00 b5    8000b5    80:00:b5    0x80, 0x00, 0xb5
 *       one datagram per line; a comma at the end continues it on the next line
 *   static const uint8_t hello[] = { 0x80, 0x00, 0xb5 };
 *       one datagram per pair of braces
 *   00000000  80 00 b5  |...|
 *       dumps of text2pcap, hexdump -C, xxd, od, tcpdump -X and Wireshark; offset 0 or an empty line begins
 *       the next datagram
 *
 * A time may precede a datagram, on its line or the line before, after the direction mark if there is one:
 *
 *   O 2026-01-31 23:59:59.123456    I 23:59:59.123456    12.345678
 *
 * Times are UTC. A time without a date is on 1970-01-01 and needs a fraction.
 *
 * Comments are C comments, and # to the end of the line. A mark before a datagram gives its sender: `C>` or `O` the
 * client, which is the default, `S>` or `I` the server. Wireshark's array names peer0_ and peer1_ do the same.
 */
#ifndef UERUDP_TOOLS_CAPTURE_HEX_TEXT_H
#define UERUDP_TOOLS_CAPTURE_HEX_TEXT_H

#include "tools/capture/packet_headers.h"

/* An open hex text. */
struct hex_text;

/* Opens a file, or standard input if path is "-". Returns NULL on failure, with a message in error. Free with
   hex_text_close. */
struct hex_text *hex_text_open(const char *path, char error[CAPTURE_ERROR_BYTES]);

/* Opens a text in memory, which must outlive the reader. */
struct hex_text *hex_text_open_memory(const void *bytes, size_t size_bytes, char error[CAPTURE_ERROR_BYTES]);

/* Reads the next datagram, between client 10.0.0.1:50000 and server 10.0.0.2:7777. first_frame counts from 1;
   payload is valid until the next call. After END or DAMAGED every call returns the same result. */
enum capture_result hex_text_next(struct hex_text *hex, struct capture_udp *udp);

/* Gives the time of that datagram in nanoseconds since 1970; false, and *time_ns unchanged, if the text has no time
   for it. */
bool hex_text_time(const struct hex_text *hex, int64_t *time_ns);

/* Whether the server sent that datagram. */
bool hex_text_is_from_server(const struct hex_text *hex);

/* The reason for DAMAGED, with line and column from 1; "" before. */
const char *hex_text_error(const struct hex_text *hex);

/* Frees the reader; NULL is allowed. */
void hex_text_close(struct hex_text *hex);

#endif
