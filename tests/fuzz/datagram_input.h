/* SPDX-License-Identifier: MIT */
/* An input that is a sequence of datagrams: one byte of settings, then each datagram after two bytes with its length
   and, in the highest bit, its side. seed.py writes this form. */
#ifndef UERUDP_TESTS_FUZZ_DATAGRAM_INPUT_H
#define UERUDP_TESTS_FUZZ_DATAGRAM_INPUT_H

#include <uerudp/detection.h>

struct datagram_input {
    const uint8_t *data;
    size_t size;
    size_t read_bytes;
};

struct datagram_input_item {
    unsigned side;
    const uint8_t *bytes; /* in the input */
    size_t size;
};

/* The settings, and the side of the server or -1, as the first byte says. The input is not empty. */
struct ue_settings datagram_input_init(struct datagram_input *input, const uint8_t *data, size_t size,
                                       int *server_side);

/* False at the end of the input. */
bool datagram_input_next(struct datagram_input *input, struct datagram_input_item *item);

#endif
