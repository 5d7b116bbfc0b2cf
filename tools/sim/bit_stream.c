/* SPDX-License-Identifier: MIT */
#include "tools/sim/bit_stream.h"

#include <string.h>

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

bool sim_bits_read_expected(struct ue_view *data, const struct sim_bit_writer *expected) {
    struct ue_view front;
    return sim_bits_read_view(data, expected->bits, &front) &&
           ue_view_equal(front, (struct ue_view){expected->bytes, 0, expected->bits});
}
