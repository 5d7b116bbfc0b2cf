/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/core/datagram_compression.h"

#include "tools/endpoint/core/datagram_encryption.h"

#define RUN_MAX 255

/* The bits of a byte, of which the last may be short. */
static uint64_t load_byte(const uint8_t *bytes, size_t size_bytes, size_t bit, size_t end) {
    return ue_bits_load(bytes, size_bytes, bit, end - bit < 8 ? (unsigned)(end - bit) : 8);
}

/* A byte of 0 is followed by the number of zeros that it stands for. */
static size_t count_run(const uint8_t *bytes, size_t size_bytes, size_t bit, size_t end) {
    size_t count = 0;
    while (count < RUN_MAX && bit + count * 8 < end && load_byte(bytes, size_bytes, bit + count * 8, end) == 0) {
        count++;
    }
    return count;
}

static void put(uint8_t *out, size_t *bit, uint64_t value, unsigned bits) {
    for (unsigned i = 0; i < bits; i++, (*bit)++) {
        out[*bit / 8] |= (uint8_t)((value >> i & 1) << (*bit % 8));
    }
}

/* A bounded integer (protocol.md 2.3). */
static void put_below(uint8_t *out, size_t *bit, uint32_t value, uint32_t bound) {
    const struct ue_bound of = ue_bound_of(bound);
    uint64_t low = value & ue_bits_mask(of.bits);
    put(out, bit, value, of.bits + (low < of.longer));
}

/* False: it ends where at least a byte must follow. */
static bool get_below(const uint8_t *bytes, size_t *bit, size_t end, uint32_t bound, size_t *value) {
    const struct ue_bound of = ue_bound_of(bound);
    const struct ue_view all = {bytes, 0, end};
    if (end - *bit < of.bits + 8) {
        return false;
    }
    bool is_longer = ue_view_load(all, *bit, of.bits) < of.longer;
    *value = ue_view_load(all, *bit, of.bits + is_longer);
    *bit += of.bits + is_longer;
    return true;
}

/* Appends the bytes in [from, end). False: they would not be smaller. */
static bool put_runs(const uint8_t *clear, size_t size_bytes, size_t from, size_t end, uint8_t *out, size_t *bit) {
    size_t limit = *bit + (end - from);
    while (from < end) {
        uint64_t byte = load_byte(clear, size_bytes, from, end);
        size_t run = byte == 0 ? count_run(clear, size_bytes, from, end) : 1;
        if (*bit + 32 > limit) {
            return false;
        }
        put(out, bit, byte, 8);
        put(out, bit, run, byte == 0 ? 8 : 0);
        from += run * 8;
    }
    return true;
}

size_t ue_compression_compress(const struct ue_context *context, const uint8_t *clear, size_t size_bytes,
                               uint8_t *out) {
    struct ue_handler_span span;
    size_t last; /* the inner terminator */
    if (!ue_handler_span_find(context, UE_HANDLER_OODLE, clear, size_bytes, &span) || span.is_handshake ||
        ue_bits_load(clear, size_bytes, span.begin, 1) != 0 ||
        !ue_bits_last_set(clear, span.begin + 1, span.end, &last)) {
        return 0;
    }
    size_t count = ue_bits_bytes(last - span.begin);
    size_t bit = span.begin;
    if (count > context->data_bound / 8) {
        return 0;
    }
    memset(out, 0, size_bytes + UE_COMPRESSION_OVERHEAD_BYTES);
    ue_bits_copy(out, 0, clear, 0, span.begin);
    put(out, &bit, 1, 1);
    put_below(out, &bit, (uint32_t)(count - 1), context->data_bound / 8);
    if (!put_runs(clear, size_bytes, span.begin + 1, last + 1, out, &bit)) {
        return 0;
    }
    put(out, &bit, 1, 1);
    return ue_bits_bytes(bit);
}

size_t ue_compression_room_bytes(const struct ue_context *context, size_t size_bytes) {
    return size_bytes + context->data_bound / 8 + UE_COMPRESSION_OVERHEAD_BYTES;
}

/* False: not as many bytes as they should be. */
static bool get_runs(const uint8_t *bytes, size_t size_bytes, size_t bit, size_t end, size_t count, uint8_t *out,
                     size_t *to) {
    size_t limit = *to + count * 8;
    while (bit + 8 <= end) {
        uint64_t byte = ue_bits_load(bytes, size_bytes, bit, 8);
        bit += 8;
        if (byte == 0 && bit + 8 > end) {
            return false;
        }
        size_t bits = byte != 0 ? 8 : ue_bits_load(bytes, size_bytes, bit, 8) * 8;
        bit += byte != 0 ? 0 : 8;
        if (bits == 0 || *to + bits > limit) {
            return false;
        }
        put(out, to, byte, byte != 0 ? 8 : 0);
        *to += byte != 0 ? 0 : bits;
    }
    return bit == end && *to == limit;
}

size_t ue_compression_decompress(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                 uint8_t *out) {
    struct ue_handler_span span;
    if (!ue_handler_span_find(context, UE_HANDLER_OODLE, bytes, size_bytes, &span) || span.is_handshake ||
        ue_bits_load(bytes, size_bytes, span.begin, 1) == 0) {
        return 0;
    }
    size_t from = span.begin + 1;
    size_t to = span.begin + 1; /* after a flag of 0 */
    size_t last;
    size_t count; /* of bytes, less 1 */
    if (!get_below(bytes, &from, span.end, context->data_bound / 8, &count)) {
        return 0;
    }
    memset(out, 0, ue_compression_room_bytes(context, size_bytes));
    ue_bits_copy(out, 0, bytes, 0, span.begin);
    if (!get_runs(bytes, size_bytes, from, span.end, count + 1, out, &to) ||
        !ue_bits_last_set(out, span.begin + 1, to, &last)) {
        return 0;
    }
    last++; /* after the inner terminator */
    put(out, &last, 1, 1);
    return ue_bits_bytes(last);
}
