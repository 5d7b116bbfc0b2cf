/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/datagram_input.h"

struct ue_settings datagram_input_init(struct datagram_input *input, const uint8_t *data, size_t size,
                                       int *server_side) {
    *input = (struct datagram_input){data, size, 1};
    *server_side = (data[0] & 128) != 0 ? (data[0] >> 6 & 1) : -1;
    return (struct ue_settings){.magic_bits = data[0] & 31, .skip_bytes = (data[0] & 32) != 0 ? 8 : 0};
}

bool datagram_input_next(struct datagram_input *input, struct datagram_input_item *item) {
    if (input->read_bytes + 2 > input->size) {
        return false;
    }
    const uint8_t *bytes = input->data + input->read_bytes;
    unsigned head = bytes[0] | (unsigned)bytes[1] << 8;
    input->read_bytes += 2;
    size_t left = input->size - input->read_bytes;
    size_t length = head & 0x7fff;
    *item = (struct datagram_input_item){head >> 15, bytes + 2, length < left ? length : left};
    input->read_bytes += item->size;
    return true;
}
