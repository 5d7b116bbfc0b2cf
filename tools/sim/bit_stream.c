/* SPDX-License-Identifier: MIT */
#include "tools/sim/bit_stream.h"

#include <string.h>

#define PACKED_GROUPS_MAX 10

void sim_bits_write(struct sim_bit_writer *w, uint64_t value, unsigned bits) {
    uint8_t bytes[8];
    ue_bytes_store64(bytes, value);
    ue_bits_copy(w->bytes, w->bits, bytes, 0, bits);
    w->bits += bits;
}

void sim_bits_write_view(struct sim_bit_writer *w, struct ue_view view) {
    ue_bits_copy(w->bytes, w->bits, view.base, view.bit, view.bits);
    w->bits += view.bits;
}

void sim_bits_write_packed(struct sim_bit_writer *w, uint64_t value) {
    for (; value > 127; value >>= 7) {
        sim_bits_write(w, (value & 127) << 1 | 1, 8);
    }
    sim_bits_write(w, value << 1, 8);
}

size_t sim_bits_packed_length(uint64_t value) {
    size_t bits = 8;
    for (; value > 127; value >>= 7) {
        bits += 8;
    }
    return bits;
}

void sim_bits_write_text(struct sim_bit_writer *w, const char *text) {
    size_t size = strlen(text) + 1;
    sim_bits_write(w, size, 32);
    sim_bits_write_view(w, (struct ue_view){(const uint8_t *)text, 0, size * 8});
}

bool sim_bits_read_view(struct ue_view *data, uint64_t bits, struct ue_view *view) {
    if (data->bits < bits) {
        return false;
    }
    *view = (struct ue_view){data->base, data->bit, bits};
    data->bit += bits;
    data->bits -= bits;
    return true;
}

bool sim_bits_read(struct ue_view *data, unsigned bits, uint64_t *value) {
    struct ue_view view;
    bool is_there = sim_bits_read_view(data, bits, &view);
    *value = is_there ? ue_view_load(view, 0, bits) : 0;
    return is_there;
}

bool sim_bits_read_packed(struct ue_view *data, uint64_t *value) {
    *value = 0;
    uint64_t group = 1;
    for (unsigned i = 0; (group & 1) != 0; i++) {
        if (i == PACKED_GROUPS_MAX - 1 || !sim_bits_read(data, 8, &group)) {
            return false;
        }
        *value |= group >> 1 << 7 * i;
    }
    return true;
}

bool sim_bits_read_expected(struct ue_view *data, const struct sim_bit_writer *expected) {
    struct ue_view front;
    return sim_bits_read_view(data, expected->bits, &front) &&
           ue_view_equal(front, (struct ue_view){expected->bytes, 0, expected->bits});
}
