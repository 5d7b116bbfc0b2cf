/* SPDX-License-Identifier: MIT */
/* The codec as one writes it first: every header bit by itself, payloads a byte at a time. */
#include <string.h>

#include "tests/bench/codec/anchors.h"

struct bits {
    uint8_t *bytes; /* only written by the writing functions */
    size_t bit;
    size_t end;
    bool failed;
};

static uint32_t read_bit(struct bits *b) {
    if (b->bit >= b->end) {
        b->failed = true;
        return 0;
    }
    uint32_t value = b->bytes[b->bit / 8] >> (b->bit % 8) & 1;
    b->bit++;
    return value;
}

static uint32_t read_bits(struct bits *b, unsigned count) {
    uint32_t value = 0;
    for (unsigned i = 0; i < count; i++) {
        value |= read_bit(b) << i;
    }
    return value;
}

/* The engine's bounded integer: one bit per mask while the value may still grow. */
static uint32_t read_below(struct bits *b, uint32_t max) {
    uint32_t value = 0;
    for (uint32_t mask = 1; value + mask < max && mask != 0; mask *= 2) {
        if (read_bit(b)) {
            value |= mask;
        }
    }
    return value;
}

static uint32_t read_packed(struct bits *b) {
    uint32_t value = 0;
    uint32_t more = 1;
    for (unsigned shift = 0; shift < 32 && more; shift += 7) {
        more = read_bit(b);
        value |= read_bits(b, 7) << shift;
    }
    return value;
}

static bool cut_terminator(struct bits *b) {
    while (b->end > 0 && (b->bytes[(b->end - 1) / 8] >> ((b->end - 1) % 8) & 1) == 0) {
        b->end--;
    }
    if (b->end == 0) {
        return false;
    }
    b->end--;
    return true;
}

static bool read_header(struct bits *b, struct sample *s) {
    s->session_id = (uint8_t)read_bits(b, 2);
    s->client_id = (uint8_t)read_bits(b, 3);
    if (read_bit(b)) {
        return false;
    }
    uint32_t words = read_bits(b, 4) + 1;
    if (words > SAMPLE_WORDS_MAX) {
        return false;
    }
    s->history_words = (uint8_t)words;
    s->ack = (uint16_t)read_bits(b, 14);
    s->seq = (uint16_t)read_bits(b, 14);
    for (uint32_t i = 0; i < words; i++) {
        s->history[i] = read_bits(b, 32);
    }
    s->has_info = read_bit(b);
    s->jitter_ms = s->has_info ? (uint16_t)read_bits(b, 10) : 0;
    s->has_frame_time = s->has_info && read_bit(b);
    s->frame_time_ms = s->has_frame_time ? (uint8_t)read_bits(b, 8) : 0;
    return !b->failed;
}

static bool read_bunch(struct bits *b, struct sample_bunch *m) {
    memset(m, 0, sizeof *m);
    m->control = read_bit(b);
    m->open = m->control && read_bit(b);
    m->close = m->control && read_bit(b);
    m->close_reason = m->close ? (uint8_t)read_below(b, 15) : 0;
    m->paused = read_bit(b);
    m->reliable = read_bit(b);
    m->channel = read_packed(b);
    m->has_exports = read_bit(b);
    m->has_mapped = read_bit(b);
    m->partial = read_bit(b);
    m->ch_seq = m->reliable ? (uint16_t)read_below(b, 1024) : 0;
    m->partial_initial = m->partial && read_bit(b);
    m->partial_final = m->partial && read_bit(b);
    m->has_name = m->reliable || m->open;
    if (m->has_name) {
        if (!read_bit(b)) {
            return false;
        }
        m->name_index = (uint16_t)read_packed(b);
    }
    m->data_bits = read_below(b, SAMPLE_BYTES_MAX * 8);
    m->data_bit = (uint32_t)b->bit;
    if (b->failed || m->data_bits > b->end - b->bit) {
        return false;
    }
    b->bit += m->data_bits;
    return true;
}

bool naive_decode(const uint8_t *bytes, size_t size, struct sample *sample) {
    struct bits b = {(uint8_t *)bytes, 0, size * 8, false};
    sample->bunch_count = 0;
    if (!cut_terminator(&b) || !cut_terminator(&b) || !read_header(&b, sample)) {
        return false;
    }
    while (b.bit < b.end) {
        if (sample->bunch_count == SAMPLE_BUNCHES_MAX || !read_bunch(&b, &sample->bunches[sample->bunch_count])) {
            return false;
        }
        sample->bunch_count++;
    }
    return true;
}

static void copy_out(uint8_t *to, const uint8_t *bytes, size_t bit, size_t bits) {
    const uint8_t *from = bytes + bit / 8;
    unsigned shift = bit % 8;
    for (size_t i = 0; i < bits / 8; i++) {
        to[i] = shift == 0 ? from[i] : (uint8_t)(from[i] >> shift | from[i + 1] << (8 - shift));
    }
    struct bits rest = {(uint8_t *)bytes, bit + bits / 8 * 8, bit + bits, false};
    if (bits % 8 != 0) {
        to[bits / 8] = (uint8_t)read_bits(&rest, bits % 8);
    }
}

bool naive_decode_payload(const uint8_t *bytes, size_t size, struct sample *sample, uint8_t *payloads) {
    if (!naive_decode(bytes, size, sample)) {
        return false;
    }
    uint32_t byte = 0;
    for (uint32_t i = 0; i < sample->bunch_count; i++) {
        struct sample_bunch *b = &sample->bunches[i];
        b->payload_byte = byte;
        copy_out(payloads + byte, bytes, b->data_bit, b->data_bits);
        byte = sample_next_payload(byte, b->data_bits);
    }
    return true;
}

/* ---- writing ---- */

static void write_bit(struct bits *b, bool value) {
    if (b->bit >= b->end) {
        b->failed = true;
        return;
    }
    if (b->bit % 8 == 0) {
        b->bytes[b->bit / 8] = 0;
    }
    b->bytes[b->bit / 8] |= (uint8_t)(value << (b->bit % 8));
    b->bit++;
}

static void write_bits(struct bits *b, uint32_t value, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        write_bit(b, value >> i & 1);
    }
}

static void write_below(struct bits *b, uint32_t value, uint32_t max) {
    uint32_t written = 0;
    for (uint32_t mask = 1; written + mask < max && mask != 0; mask *= 2) {
        write_bit(b, value & mask);
        written |= value & mask;
    }
}

static void write_packed(struct bits *b, uint32_t value) {
    do {
        write_bit(b, value > 127);
        write_bits(b, value & 127, 7);
        value >>= 7;
    } while (value != 0);
}

static void write_payload(struct bits *b, const uint8_t *payload, size_t bits) {
    unsigned shift = b->bit % 8;
    size_t whole = bits / 8;
    if (whole > (b->end - b->bit) / 8) {
        b->failed = true;
        return;
    }
    uint8_t *to = b->bytes + b->bit / 8;
    for (size_t i = 0; i < whole; i++) {
        if (shift == 0) {
            to[i] = payload[i];
        } else {
            to[i] |= (uint8_t)(payload[i] << shift);
            to[i + 1] = (uint8_t)(payload[i] >> (8 - shift));
        }
    }
    b->bit += whole * 8;
    if (bits % 8 != 0) {
        write_bits(b, payload[whole], bits % 8);
    }
}

static void write_header(struct bits *b, const struct sample *s) {
    write_bits(b, s->session_id, 2);
    write_bits(b, s->client_id, 3);
    write_bit(b, false);
    write_bits(b, s->history_words - 1u, 4);
    write_bits(b, s->ack, 14);
    write_bits(b, s->seq, 14);
    for (uint32_t i = 0; i < s->history_words; i++) {
        write_bits(b, s->history[i], 32);
    }
    write_bit(b, s->has_info);
    if (s->has_info) {
        write_bits(b, s->jitter_ms, 10);
        write_bit(b, s->has_frame_time);
    }
    if (s->has_frame_time) {
        write_bits(b, s->frame_time_ms, 8);
    }
}

static void write_bunch(struct bits *b, const struct sample_bunch *m) {
    write_bit(b, m->control);
    if (m->control) {
        write_bit(b, m->open);
        write_bit(b, m->close);
    }
    if (m->close) {
        write_below(b, m->close_reason, 15);
    }
    write_bit(b, m->paused);
    write_bit(b, m->reliable);
    write_packed(b, m->channel);
    write_bit(b, m->has_exports);
    write_bit(b, m->has_mapped);
    write_bit(b, m->partial);
    if (m->reliable) {
        write_below(b, m->ch_seq, 1024);
    }
    if (m->partial) {
        write_bit(b, m->partial_initial);
        write_bit(b, m->partial_final);
    }
    if (m->has_name) {
        write_bit(b, true);
        write_packed(b, m->name_index);
    }
    write_below(b, m->data_bits, SAMPLE_BYTES_MAX * 8);
}

size_t naive_encode(const struct sample *sample, const uint8_t *payloads, uint8_t *bytes) {
    struct bits b = {bytes, 0, SAMPLE_BYTES_MAX * 8, false};
    write_header(&b, sample);
    for (uint32_t i = 0; i < sample->bunch_count; i++) {
        const struct sample_bunch *m = &sample->bunches[i];
        write_bunch(&b, m);
        write_payload(&b, payloads + m->payload_byte, m->data_bits);
    }
    write_bits(&b, 3, 2);
    return b.failed ? 0 : (b.bit + 7) / 8;
}
