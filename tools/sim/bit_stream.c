/* SPDX-License-Identifier: MIT */
#include "tools/sim/bit_stream.h"

#include <string.h>

#define PACKED_GROUPS_MAX 10

void ue_bit_put(struct ue_bit_writer *w, uint64_t value, unsigned bits) {
    uint8_t bytes[8];
    ue_bytes_store64(bytes, value);
    ue_bits_copy(w->bytes, w->bits, bytes, 0, bits);
    w->bits += bits;
}

void ue_bit_put_view(struct ue_bit_writer *w, struct ue_view view) {
    ue_bits_copy(w->bytes, w->bits, view.base, view.bit, view.bits);
    w->bits += view.bits;
}

void ue_bit_put_packed(struct ue_bit_writer *w, uint64_t value) {
    for (; value > 127; value >>= 7) {
        ue_bit_put(w, (value & 127) << 1 | 1, 8);
    }
    ue_bit_put(w, value << 1, 8);
}

size_t ue_bit_packed_bits(uint64_t value) {
    size_t bits = 8;
    for (; value > 127; value >>= 7) {
        bits += 8;
    }
    return bits;
}

void ue_bit_put_text(struct ue_bit_writer *w, const char *text) {
    size_t size = strlen(text) + 1;
    ue_bit_put(w, size, 32);
    ue_bit_put_view(w, (struct ue_view){(const uint8_t *)text, 0, size * 8});
}

bool ue_bit_take_view(struct ue_view *data, uint64_t bits, struct ue_view *view) {
    if (data->bits < bits) {
        return false;
    }
    *view = (struct ue_view){data->base, data->bit, bits};
    data->bit += bits;
    data->bits -= bits;
    return true;
}

bool ue_bit_take(struct ue_view *data, unsigned bits, uint64_t *value) {
    struct ue_view view;
    bool is_there = ue_bit_take_view(data, bits, &view);
    *value = is_there ? ue_view_load(view, 0, bits) : 0;
    return is_there;
}

bool ue_bit_take_packed(struct ue_view *data, uint64_t *value) {
    *value = 0;
    uint64_t group = 1;
    for (unsigned i = 0; (group & 1) != 0; i++) {
        if (i == PACKED_GROUPS_MAX - 1 || !ue_bit_take(data, 8, &group)) {
            return false;
        }
        *value |= group >> 1 << 7 * i;
    }
    return true;
}

bool ue_bit_take_same(struct ue_view *data, const struct ue_bit_writer *expected) {
    struct ue_view front;
    return ue_bit_take_view(data, expected->bits, &front) &&
           ue_view_equal(front, (struct ue_view){expected->bytes, 0, expected->bits});
}
