/* SPDX-License-Identifier: MIT */
#include "tests/codec/laws.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/codec/law_rounds.h"
#include "tests/support/arbitrary.h"
#include "tests/support/guarded.h"

#define ACCEPTED_MIN 10 /* percent */
#define RANDOM_BYTES 1600
#define OUT_BYTES 20000

struct law {
    const struct law_part *part;
    struct rng rng;
    struct guarded buffer;
    uint8_t out[OUT_BYTES];
    _Alignas(max_align_t) uint8_t one[LAWS_PART_BYTES];
    _Alignas(max_align_t) uint8_t back[LAWS_PART_BYTES];
};

static struct law law;

static struct ue_context context_for(const struct law_part *part, size_t row) {
    struct ue_context x = arbitrary_context(&law.rng, row);
    while (part->handlers && x.settings.handlers[0] == UE_HANDLER_NONE) {
        x = arbitrary_context(&law.rng, row);
    }
    return x;
}

static enum ue_status encode(const struct ue_context *x, void *m, size_t *bits) {
    struct ue_cursor c;
    ue_cursor_init_write(&c, law.out, sizeof law.out, 0);
    law.part->run(UE_ENCODE, &c, x, m);
    ue_cursor_flush(&c);
    *bits = ue_cursor_pos(&c);
    return c.fault.status;
}

/* Makes a random structure and encodes it. Returns false when encoding fails. */
static bool encode_arbitrary(const struct ue_context *x, size_t *bits) {
    law.part->make(&law.rng, x, law.one);
    return encode(x, law.one, bits) == UE_OK;
}

/* ---- L2 ---- */

static bool try_struct(size_t row) {
    struct ue_context x = context_for(law.part, row);
    size_t bits;
    if (!encode_arbitrary(&x, &bits)) {
        return false;
    }
    struct ue_cursor c;
    uint8_t *in = guarded_put(&law.buffer, law.out, ue_bits_bytes(bits));
    ue_cursor_init_read(&c, in, 0, bits);
    law.part->run(UE_DECODE, &c, &x, law.back);
    if (!ue_cursor_ok(&c) || ue_cursor_left(&c) != 0) {
        law_rounds_fail("decode refuses what encode wrote (L2)", row);
    }
    if (!law.part->equal(&x, law.one, law.back)) {
        law_rounds_fail("decode gives another structure than was encoded (L2)", row);
    }
    return true;
}

/* ---- L1 ---- */

/* Random bits, or an encoding of a random structure with a few bits changed, which decodes further. */
static size_t random_bits(const struct ue_context *x, uint8_t *bytes) {
    size_t bits;
    size_t size = RANDOM_BYTES;
    if (!rng_chance(&law.rng, 60)) {
        rng_fill(&law.rng, bytes, RANDOM_BYTES);
        return law.part->whole ? rng_below(&law.rng, 600) : RANDOM_BYTES * 8;
    }
    law.part->make(&law.rng, x, law.one);
    if (encode(x, law.one, &bits) != UE_OK || bits > RANDOM_BYTES * 8) {
        bits = 0;
    }
    memcpy(bytes, law.out, ue_bits_bytes(bits));
    for (uint64_t flips = rng_below(&law.rng, 4); bits != 0 && flips > 0; flips--) {
        uint64_t at = rng_below(&law.rng, bits);
        bytes[at / 8] ^= (uint8_t)(1 << at % 8);
    }
    if (!law.part->whole) {
        rng_fill(&law.rng, bytes + ue_bits_bytes(bits), size - ue_bits_bytes(bits));
        return size * 8;
    }
    return bits;
}

/* Tracing and decoding must read the same. */
static void assert_trace_agrees(const struct ue_context *x, const struct ue_cursor *decoded, const uint8_t *in,
                                size_t end, size_t row) {
    const struct ue_trace nobody = {NULL, NULL, NULL, NULL};
    struct ue_cursor c;
    ue_cursor_init_read(&c, in, 0, end);
    c.trace = &nobody;
    law.part->run(UE_TRACE, &c, x, law.one);
    if (c.fault.status != decoded->fault.status || ue_cursor_pos(&c) != ue_cursor_pos(decoded)) {
        law_rounds_fail("trace and decode disagree", row);
    }
    if (ue_cursor_ok(&c) && !law.part->equal(x, law.one, law.back)) {
        law_rounds_fail("trace gives another structure than decode", row);
    }
}

static bool try_bits(size_t row) {
    uint8_t bytes[RANDOM_BYTES];
    struct ue_cursor c;
    struct ue_context x = context_for(law.part, row);
    size_t end = random_bits(&x, bytes);
    uint8_t *in = guarded_put(&law.buffer, bytes, ue_bits_bytes(end));
    ue_cursor_init_read(&c, in, 0, end);
    law.part->run(UE_DECODE, &c, &x, law.back);
    assert_trace_agrees(&x, &c, in, end, row);
    if (!ue_cursor_ok(&c) || !c.canonical || (law.part->whole && ue_cursor_left(&c) != 0)) {
        return false;
    }
    size_t used = ue_cursor_pos(&c);
    size_t bits;
    if (encode(&x, law.back, &bits) != UE_OK) {
        law_rounds_fail("encode refuses what decode read (L1)", row);
    }
    if (bits != used || !ue_view_equal((struct ue_view){law.out, 0, bits}, (struct ue_view){in, 0, used})) {
        law_rounds_fail("encode gives other bits than were decoded (L1)", row);
    }
    return true;
}

/* ---- L4 ---- */

/* A structure that extends to the end of the payload may be complete at a cut. */
static bool try_cuts(size_t row) {
    struct ue_context x = context_for(law.part, row);
    size_t bits;
    if (!encode_arbitrary(&x, &bits)) {
        return false;
    }
    for (size_t end = 0; end < bits; end++) {
        struct ue_cursor c;
        ue_cursor_init_read(&c, guarded_put(&law.buffer, law.out, ue_bits_bytes(end)), 0, end);
        law.part->run(UE_DECODE, &c, &x, law.back);
        if ((ue_cursor_ok(&c) && !law.part->whole) || ue_cursor_pos(&c) > end || c.fault.bit > end) {
            law_rounds_fail("decode does not fault at the cut (L4)", row);
        }
    }
    return true;
}

/* ---- all generations ---- */

static void hold(const char *law_name, const struct law_part *part, uint64_t rounds, bool (*attempt)(size_t row)) {
    char name[64];
    snprintf(name, sizeof name, "%s %-9s", law_name, part->name);
    law.part = part;
    law_rounds_run(name, rounds, ACCEPTED_MIN, attempt);
}

void laws_hold_L1(const struct law_part *part, uint64_t rounds) {
    hold("L1", part, rounds, try_bits);
}

void laws_hold_L2(const struct law_part *part, uint64_t rounds) {
    hold("L2", part, rounds, try_struct);
}

void laws_hold_L4(const struct law_part *part, uint64_t rounds) {
    hold("L4", part, rounds, try_cuts);
}

int laws_set_up(void **state) {
    law.rng = rng_seeded("laws");
    law.buffer = guarded_new(OUT_BYTES);
    return 0;
}

int laws_tear_down(void **state) {
    guarded_free(&law.buffer);
    return 0;
}
