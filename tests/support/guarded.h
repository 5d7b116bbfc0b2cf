/* SPDX-License-Identifier: MIT */
/* Test buffers: parsed from hex, compared as wire bits, and placed so that a read past their end is caught. */
#ifndef UERUDP_TESTS_SUPPORT_GUARDED_H
#define UERUDP_TESTS_SUPPORT_GUARDED_H

#include <stddef.h>
#include <stdint.h>

/* A buffer that ends where an inaccessible page begins: a read past the end crashes, with and without sanitizers. */
struct guarded {
    uint8_t *base; /* of the mapping */
    size_t capacity_bytes;
};

struct guarded guarded_new(size_t capacity_bytes);
void guarded_free(struct guarded *guarded);

/* Copies the bytes to the end of the buffer and returns their address there. */
uint8_t *guarded_put(const struct guarded *guarded, const void *bytes, size_t size_bytes);

/* Returns the address of the last size_bytes bytes and leaves their content unchanged. */
uint8_t *guarded_end(const struct guarded *guarded, size_t size_bytes);

/* Parses hex digits, with optional blanks between bytes; returns the number of bytes. Fails the test on any other
   text. */
size_t hex_read(const char *digits, uint8_t *bytes, size_t capacity_bytes);

/* Asserts that the bits from `bit` on equal a text of 0 and 1 in wire order, blanks ignored. */
void assert_wire_bits(const uint8_t *bytes, size_t bit, const char *bits);

/* Asserts that bytes equal a hex text, and prints both if they differ. */
void assert_hex(const uint8_t *bytes, size_t size_bytes, const char *digits);

#endif
