/* SPDX-License-Identifier: MIT */
/* Captures and packets built byte by byte, for the tests of tools/capture. */
#ifndef UERUDP_TESTS_TOOLS_CAPTURE_CAPTURE_BYTES_H
#define UERUDP_TESTS_TOOLS_CAPTURE_CAPTURE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/capture/packet_headers.h"

/* A buffer of bounded size; exceeding it fails the test. */
struct bytes {
    uint8_t data[400000];
    size_t size;
    bool big; /* byte order of put16 and put32 */
};

void put(struct bytes *bytes, const void *data, size_t size);
void put_hex(struct bytes *bytes, const char *digits); /* spaces between bytes are allowed */
void put16(struct bytes *bytes, uint16_t value);
void put32(struct bytes *bytes, uint32_t value);

/* Classic pcap: the file header, and a packet of which `captured` bytes are in the file. */
void put_pcap_header(struct bytes *bytes, uint32_t magic, uint32_t link_type);
void put_pcap_packet(struct bytes *bytes, uint32_t seconds, uint32_t fraction, const void *data, size_t captured,
                     size_t length);

/* pcapng: a block around a body; sections, and interfaces and packets with options given as hex. */
void put_block(struct bytes *bytes, uint32_t type, const struct bytes *body);
void put_section(struct bytes *bytes);
void put_interface(struct bytes *bytes, uint16_t link_type, uint32_t snap_bytes, const char *options);
void put_enhanced(struct bytes *bytes, uint32_t interface, uint64_t ticks, const char *data, size_t length,
                  const char *options);

/* A packet of a link type, from hex, as if read from a file. The bytes are valid until the next call. */
struct capture_packet packet_of(uint16_t link_type, const char *hex);

/* The IP fragments of a test: setup and teardown functions of cmocka allocate and free them. */
extern struct ip_fragments *test_fragments;
int setup_fragments(void **state);
int teardown_fragments(void **state);

/* Opens the bytes as a capture; a failure fails the test. */
struct capture *open_bytes(const struct bytes *bytes);

/* Reads to the end, counts the packets and returns the last result. */
enum capture_result read_all(struct capture *capture, uint64_t *packets);

#endif
