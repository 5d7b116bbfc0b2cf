/* SPDX-License-Identifier: MIT */
/* Bytes for tests: written as hex or as wire bits, and copied so that reading past their end is caught. */
#ifndef UERUDP_TESTS_SUPPORT_GUARDED_H
#define UERUDP_TESTS_SUPPORT_GUARDED_H

#include <stddef.h>
#include <stdint.h>

/* Room for a run of bytes that ends where an inaccessible page begins: reading one byte too many is a crash, with and
   without sanitizers. */
struct guarded {
    uint8_t *base; /* of the mapping */
    size_t room_bytes;
};

struct guarded guarded_new(size_t room_bytes);
void guarded_free(struct guarded *guarded);

/* Copies the bytes to the very end and returns where they begin there. */
uint8_t *guarded_put(const struct guarded *guarded, const void *bytes, size_t size_bytes);

/* Where a run of that size would begin, its content left as it is. */
uint8_t *guarded_end(const struct guarded *guarded, size_t size_bytes);

/* Reads hex digits, blanks between bytes allowed; returns the number of bytes. Anything else fails the test. */
size_t hex_read(const char *digits, uint8_t *bytes, size_t room_bytes);

/* Asserts that the bits from `bit` on are those of a text of 0 and 1 in wire order, blanks ignored. */
void assert_wire_bits(const uint8_t *bytes, size_t bit, const char *bits);

/* Asserts that bytes equal a hex text, and prints both when they do not. */
void assert_hex(const uint8_t *bytes, size_t size_bytes, const char *digits);

#endif
