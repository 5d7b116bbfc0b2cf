/* SPDX-License-Identifier: MIT */
#include "tools/generate/fuzz.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A mutation may lengthen a datagram by this much. */
#define GROWTH_BYTES 64

/* ---- the fields of a datagram ---- */

static void add_field(void *user, const struct ue_record *record) {
    struct generate_fuzz *fuzz = user;
    bool is_on_wire = !record->generated && record->bits != 0 && record->bit + record->bits <= fuzz->bits;
    if (is_on_wire && fuzz->field_count < GENERATE_FUZZ_FIELDS_MAX) {
        fuzz->fields[fuzz->field_count++] = (struct generate_fuzz_field){record->field, record->bit, record->bits};
    }
}

static void load(struct generate_fuzz *fuzz, const struct ue_context *context, const uint8_t *bytes,
                 size_t size_bytes) {
    struct ue_trace sink = {NULL, add_field, NULL, fuzz};
    struct ue_decode_result result;
    memset(fuzz->bytes, 0, sizeof fuzz->bytes);
    memcpy(fuzz->bytes, bytes, size_bytes);
    fuzz->bits = size_bytes * 8;
    fuzz->field_count = 0;
    ue_datagram_trace(context, bytes, size_bytes, NULL, &sink, &result);
}

/* ---- mutations ---- */

static void describe(struct generate_fuzz *fuzz, const struct generate_fuzz_field *f, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void describe(struct generate_fuzz *fuzz, const struct generate_fuzz_field *f, const char *format, ...) {
    int used = snprintf(fuzz->text, sizeof fuzz->text, "fuzz: %s at bit %zu, %zu bits: ", ue_field_row(f->field)->name,
                        f->bit, f->bits);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fuzz->text + used, sizeof fuzz->text - (size_t)used, format, arguments);
    va_end(arguments);
}

/* Replaces the bits from `at` to the end by those from `from` to the end. */
static void move_tail(struct generate_fuzz *fuzz, size_t at, size_t from) {
    uint8_t old[GENERATE_FUZZ_BYTES_MAX];
    size_t count = fuzz->bits - from;
    memcpy(old, fuzz->bytes, sizeof old);
    ue_bits_copy(fuzz->bytes, at, old, from, count);
    fuzz->bits = at + count;
}

static void flip(struct generate_fuzz *fuzz, const struct generate_fuzz_field *f) {
    size_t bit = f->bit + sim_rng_below(&fuzz->rng, f->bits);
    fuzz->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    describe(fuzz, f, "bit %zu flipped", bit);
}

static void fill(struct generate_fuzz *fuzz, const struct generate_fuzz_field *f, bool ones) {
    for (size_t bit = f->bit; bit < f->bit + f->bits; bit++) {
        uint8_t mask = (uint8_t)(1u << bit % 8);
        fuzz->bytes[bit / 8] = (uint8_t)(ones ? fuzz->bytes[bit / 8] | mask : fuzz->bytes[bit / 8] & ~mask);
    }
    describe(fuzz, f, "all %s", ones ? "ones" : "zeros");
}

static void set_ones(struct generate_fuzz *fuzz, const struct generate_fuzz_field *f) {
    fill(fuzz, f, true);
}

static void set_zeros(struct generate_fuzz *fuzz, const struct generate_fuzz_field *f) {
    fill(fuzz, f, false);
}

/* One more or one less: finds errors in lengths and counts. */
static void change_by_one(struct generate_fuzz *fuzz, const struct generate_fuzz_field *f) {
    unsigned bits = f->bits < 64 ? (unsigned)f->bits : 64;
    uint64_t old = ue_view_load((struct ue_view){fuzz->bytes, f->bit, bits}, 0, bits);
    bool up = sim_rng_below(&fuzz->rng, 2) != 0;
    uint64_t number = (up ? old + 1 : old - 1) & ue_bits_mask(bits);
    uint8_t bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(number >> 8 * i);
    }
    ue_bits_copy(fuzz->bytes, f->bit, bytes, 0, bits);
    describe(fuzz, f, "%" PRIu64 " instead of %" PRIu64 " in its low bits", number, old);
}

/* Ends the datagram inside the field, with a terminator or without. */
static void cut(struct generate_fuzz *fuzz, const struct generate_fuzz_field *f) {
    bool ends = sim_rng_below(&fuzz->rng, 2) != 0;
    size_t bit = f->bit + sim_rng_below(&fuzz->rng, f->bits + 1);
    size_t size = ue_bits_bytes(bit + 1);
    uint8_t mask = (uint8_t)ue_bits_mask(bit % 8);
    fuzz->bytes[bit / 8] = (uint8_t)((fuzz->bytes[bit / 8] & mask) | (ends ? 1u << bit % 8 : 0));
    fuzz->bits = size * 8;
    describe(fuzz, f, "cut at bit %zu, %s terminator", bit, ends ? "with a" : "without");
}

static void insert(struct generate_fuzz *fuzz, const struct generate_fuzz_field *f) {
    bool bit = sim_rng_below(&fuzz->rng, 2) != 0;
    move_tail(fuzz, f->bit + 1, f->bit);
    uint8_t mask = (uint8_t)(1u << f->bit % 8);
    fuzz->bytes[f->bit / 8] = (uint8_t)(bit ? fuzz->bytes[f->bit / 8] | mask : fuzz->bytes[f->bit / 8] & ~mask);
    describe(fuzz, f, "a bit %d inserted before it", bit);
}

static void leave_out(struct generate_fuzz *fuzz, const struct generate_fuzz_field *f) {
    move_tail(fuzz, f->bit, f->bit + f->bits);
    describe(fuzz, f, "left out");
}

static void repeat(struct generate_fuzz *fuzz, const struct generate_fuzz_field *f) {
    if (f->bits > GROWTH_BYTES * 8) {
        leave_out(fuzz, f);
        return;
    }
    move_tail(fuzz, f->bit + f->bits, f->bit);
    describe(fuzz, f, "repeated");
}

/* Each group of a packed integer says whether another one follows; sets that bit in all. */
static void set_continuation_bits(struct generate_fuzz *fuzz, const struct generate_fuzz_field *f) {
    for (size_t bit = f->bit; bit < f->bit + f->bits; bit += 8) {
        fuzz->bytes[bit / 8] |= (uint8_t)(1u << bit % 8);
    }
    describe(fuzz, f, "every eighth bit set, as in a packed number without end");
}

typedef void mutation(struct generate_fuzz *fuzz, const struct generate_fuzz_field *f);

static mutation *const mutations[] = {flip,   set_ones,  set_zeros, change_by_one,        cut,
                                      insert, leave_out, repeat,    set_continuation_bits};

bool generate_fuzz_datagram(struct generate_fuzz *fuzz, const struct ue_context *context, const uint8_t *bytes,
                            size_t size_bytes) {
    if (sim_rng_below(&fuzz->rng, 2) == 0 || size_bytes + GROWTH_BYTES + 8 > GENERATE_FUZZ_BYTES_MAX) {
        return false;
    }
    load(fuzz, context, bytes, size_bytes);
    if (fuzz->field_count == 0) {
        return false;
    }
    const struct generate_fuzz_field field = fuzz->fields[sim_rng_below(&fuzz->rng, fuzz->field_count)];
    mutations[sim_rng_below(&fuzz->rng, sizeof mutations / sizeof mutations[0])](fuzz, &field);
    fuzz->damaged++;
    return true;
}
