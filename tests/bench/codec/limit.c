/* SPDX-License-Identifier: MIT */
/* A hand-written codec for exactly one layout, as fast as one packet at a time allows. */
#include <string.h>

#include "tests/bench/codec/anchors.h"

static inline uint64_t load(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* At least 57 bits from this position on. */
static inline uint64_t window(const uint8_t *bytes, size_t bit) {
    return load(bytes + (bit >> 3)) >> (bit & 7);
}

/* First bit after the last field: both terminators cut off. Only packets of 8 bytes and more. */
static inline bool payload_end(const uint8_t *bytes, size_t size, size_t *end) {
    if (size < 8) {
        return false;
    }
    uint64_t tail = load(bytes + size - 8);
    if (tail >> 56 == 0) {
        return false;
    }
    tail ^= UINT64_C(1) << (63 - __builtin_clzll(tail));
    if (tail == 0) {
        return false; /* more than 56 zeros between the terminators: no sender writes them */
    }
    *end = size * 8 - 1 - (size_t)__builtin_clzll(tail);
    return true;
}

static inline bool read_header(const uint8_t *bytes, struct sample *s, size_t *bit) {
    uint64_t w = window(bytes, 0);
    uint32_t nibble = w >> 6 & 15;
    if ((w >> 5 & 1) || nibble >= SAMPLE_WORDS_MAX) {
        return false;
    }
    s->session_id = w & 3;
    s->client_id = w >> 2 & 7;
    s->history_words = (uint8_t)(nibble + 1);
    s->ack = w >> 10 & 0x3fff;
    s->seq = w >> 24 & 0x3fff;
    size_t at = 38;
    for (uint32_t i = 0; i <= nibble; i++, at += 32) {
        s->history[i] = (uint32_t)window(bytes, at);
    }
    w = window(bytes, at);
    unsigned info = w & 1;
    unsigned timed = w >> 11 & info;
    s->has_info = info;
    s->jitter_ms = w >> 1 & (0x3ff & -info);
    s->has_frame_time = timed;
    s->frame_time_ms = w >> 12 & (0xff & -timed);
    *bit = at + 1 + 11 * info + 8 * timed;
    return true;
}

/* A packed integer of one or two bytes; gives its bits. */
static inline unsigned unpack(uint64_t w, uint32_t *value) {
    uint32_t more = w & 1;
    *value = (w >> 1 & 127) | (w >> 2 & (0x3f80 & -more));
    return 8 + 8 * more;
}

/* The low three bits as three bytes. */
static inline uint32_t spread(uint32_t bits) {
    return (bits & 7) * 0x4081 & 0x010101;
}

static inline void store4(void *to, uint32_t value) {
    memcpy(to, &value, sizeof value);
}

/* Two loads cover a bunch header; every optional field but the rare close reason is read and masked instead of branched
   around. Flags are stored four bytes at a time. */
static inline bool read_bunch(const uint8_t *bytes, struct sample_bunch *b, size_t *bit) {
    uint64_t w = window(bytes, *bit);
    uint32_t control = w & 1;
    uint32_t flags = w & (control * 6 + 1);
    unsigned used = 1 + 2 * control;
    w >>= used;
    store4(&b->control, spread(flags));
    if (__builtin_expect(flags >> 2, 0)) {
        unsigned longer = (w & 7) != 7;
        b->close_reason = w & (7 + 8 * longer);
        w >>= 3 + longer;
        used += 3 + longer;
    }
    uint32_t reliable = w >> 1 & 1;
    uint32_t pair = (w & 1) | reliable << 8;
    w >>= 2;
    unsigned bits = unpack(w, &b->channel);
    uint64_t strange = w >> 8 & w;
    w >>= bits;
    uint32_t partial = w >> 2 & 1;
    uint32_t named = reliable | (flags >> 1 & 1);
    store4(&b->has_exports, spread((uint32_t)w) | named << 24);
    size_t at = *bit + used + bits + 5;

    w = window(bytes, at);
    b->ch_seq = w & (0x3ff & -reliable);
    used = 10 * reliable;
    w >>= used;
    store4(&b->paused, pair | (w & partial) << 16 | (w >> 1 & partial) << 24);
    used += 2 * partial;
    w >>= 2 * partial;
    uint32_t name;
    bits = (unpack(w >> 1, &name) + 1) & -named;
    strange |= named & (~w | (w >> 1 & w >> 9));
    b->name_index = (uint16_t)(name & -named);
    w >>= bits;
    b->data_bits = w & 0x1fff;
    at += used + bits + 13;
    b->data_bit = (uint32_t)at;
    *bit = at + (w & 0x1fff);
    return (strange & 1) == 0;
}

bool limit_decode(const uint8_t *bytes, size_t size, struct sample *sample) {
    size_t bit, end;
    if (!payload_end(bytes, size, &end) || !read_header(bytes, sample, &bit)) {
        return false;
    }
    uint32_t count = 0;
    while (bit < end && count < SAMPLE_BUNCHES_MAX) {
        if (!read_bunch(bytes, &sample->bunches[count], &bit) || bit > end) {
            return false;
        }
        count++;
    }
    sample->bunch_count = count;
    return bit == end;
}

/* The compiler's portable vectors: AVX2 where the target has it. */
typedef uint64_t lanes __attribute__((vector_size(32)));

/* Copies with up to 31 bytes too many, then clears the bits after the end. */
static inline void align(uint8_t *to, const uint8_t *from, size_t bit, size_t bits) {
    from += bit >> 3;
    unsigned shift = bit & 7;
    for (size_t done = 0; done < bits; done += 256, to += 32, from += 32) {
        lanes low, high;
        memcpy(&low, from, sizeof low);
        memcpy(&high, from + 1, sizeof high);
        low = low >> shift | high << (8 - shift);
        memcpy(to, &low, sizeof low);
    }
    if (bits & 7) {
        to -= (((bits + 255) & ~(size_t)255) - bits) >> 3;
        to[-1] &= (uint8_t)((1u << (bits & 7)) - 1);
    }
}

bool limit_decode_payload(const uint8_t *bytes, size_t size, struct sample *sample, uint8_t *payloads) {
    if (!limit_decode(bytes, size, sample)) {
        return false;
    }
    uint32_t byte = 0;
    for (uint32_t i = 0; i < sample->bunch_count; i++) {
        struct sample_bunch *b = &sample->bunches[i];
        b->payload_byte = byte;
        align(payloads + byte, bytes, b->data_bit, b->data_bits);
        byte = sample_next_payload(byte, b->data_bits);
    }
    return true;
}

/* ---- writing: a 64-bit accumulator ---- */

struct writer {
    uint8_t *out;
    uint64_t word;
    unsigned fill; /* below 64 */
};

static inline void put(struct writer *w, uint64_t value, unsigned count) {
    w->word |= value << w->fill;
    unsigned fill = w->fill + count;
    if (fill >= 64) {
        memcpy(w->out, &w->word, 8);
        w->out += 8;
        fill -= 64;
        w->word = fill != 0 ? value >> (count - fill) : 0;
    }
    w->fill = fill;
}

static inline void put_payload(struct writer *w, const uint8_t *from, size_t bits) {
    uint64_t word = w->word;
    unsigned fill = w->fill;
    for (; bits >= 64; bits -= 64, from += 8, w->out += 8) {
        uint64_t next = load(from);
        word |= next << fill;
        memcpy(w->out, &word, 8);
        word = next >> 1 >> (63 - fill);
    }
    w->word = word;
    put(w, load(from) & ~(~UINT64_C(0) << bits), (unsigned)bits);
}

static inline void write_header(struct writer *w, const struct sample *s) {
    uint64_t words = s->history_words - 1u;
    put(w, s->session_id | s->client_id << 2 | words << 6 | (uint64_t)s->ack << 10 | (uint64_t)s->seq << 24, 38);
    for (uint32_t i = 0; i < s->history_words; i++) {
        put(w, s->history[i], 32);
    }
    uint32_t info = s->has_info | s->jitter_ms << 1 | s->has_frame_time << 11 | (uint32_t)s->frame_time_ms << 12;
    put(w, info, 1 + 11 * s->has_info + 8 * s->has_frame_time);
}

static inline unsigned pack(uint32_t value, uint64_t *packed) {
    unsigned more = value > 127;
    *packed = more | (value & 127) << 1 | (uint64_t)(value >> 7) << 9;
    return 8 + 8 * more;
}

static inline void write_bunch(struct writer *w, const struct sample_bunch *b) {
    uint64_t v = b->control | b->open << 1 | b->close << 2;
    unsigned n = 1 + 2 * b->control;
    v |= (uint64_t)b->close_reason << n;
    n += b->close * (3 + ((b->close_reason & 7) != 7));
    v |= (uint64_t)(b->paused | b->reliable << 1) << n;
    uint64_t packed;
    unsigned bits = pack(b->channel, &packed);
    v |= packed << (n + 2);
    n += 2 + bits;
    v |= (uint64_t)(b->has_exports | b->has_mapped << 1 | b->partial << 2) << n;
    n += 3;
    v |= (uint64_t)b->ch_seq << n;
    n += 10 * b->reliable;
    put(w, v, n);
    v = b->partial_initial | b->partial_final << 1;
    n = 2 * b->partial;
    bits = pack(b->name_index, &packed);
    v |= (uint64_t)(b->has_name | packed << 1) << n;
    n += (bits + 1) & -(unsigned)b->has_name;
    v |= (uint64_t)b->data_bits << n;
    put(w, v, n + 13);
}

size_t limit_encode(const struct sample *sample, const uint8_t *payloads, uint8_t *bytes) {
    struct writer w = {bytes, 0, 0};
    write_header(&w, sample);
    for (uint32_t i = 0; i < sample->bunch_count; i++) {
        const struct sample_bunch *b = &sample->bunches[i];
        write_bunch(&w, b);
        put_payload(&w, payloads + b->payload_byte, b->data_bits);
    }
    put(&w, 3, 2);
    memcpy(w.out, &w.word, 8);
    return (size_t)(w.out - bytes) + (w.fill + 7) / 8;
}
