/* SPDX-License-Identifier: MIT */
/* Laws L1 and L2 for each wire structure alone, in every generation:
   L1  what decodes canonically encodes to the same bits;
   L2  what encodes decodes to an equal structure. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "libcodec/layouts.h"
#include "tests/arbitrary_message.h"
#include "tests/equal.h"
#include "tests/guarded.h"

#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__) || defined(__clang__)
#define ROUNDS 30000 /* instrumented, perhaps */
#else
#define ROUNDS 100000
#endif
#define ACCEPTED_MIN 10 /* percent */
#define RANDOM_BYTES 1600
#define OUT_BYTES 20000

/* One structure: how it is made, run and compared. */
struct part {
    const char *name;
    void (*make)(struct rng *rng, const struct ue_context *x, void *m);
    void (*run)(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, void *m);
    bool (*equal)(const struct ue_context *x, const void *a, const void *b);
    bool whole;    /* takes all bits that are left */
    bool handlers; /* only with packet handlers */
};

#define PART(name, type, made, ran, same)                                                                              \
    static void make_##name(struct rng *rng, const struct ue_context *x, void *m) {                                    \
        made(rng, x, (type *)m);                                                                                       \
    }                                                                                                                  \
    static void run_##name(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, void *m) {                  \
        ran(op, c, x, (type *)m);                                                                                      \
    }                                                                                                                  \
    static bool equal_##name(const struct ue_context *x, const void *a, const void *b) {                               \
        (void)x;                                                                                                       \
        return same((const type *)a, (const type *)b);                                                                 \
    }

PART(prefix, struct ue_prefix, arbitrary_prefix, ue_prefix_run, prefix_equal)
PART(handshake, struct ue_handshake, arbitrary_handshake, ue_handshake_run, handshake_equal)
#define SAME_HANDLERS(a, b) handlers_equal(x, (a), (b))
PART(handlers, struct ue_handlers, arbitrary_handlers, ue_handlers_run, SAME_HANDLERS)
PART(packet, struct ue_packet, arbitrary_packet, ue_packet_run, packet_equal)
PART(ack, struct ue_ack, arbitrary_ack, ue_ack_run, ack_equal)
PART(bunch, struct ue_bunch, arbitrary_bunch, ue_bunch_run, bunch_equal)
PART(message, struct ue_message, arbitrary_message, ue_message_run, message_equal)

union any {
    struct ue_prefix prefix;
    struct ue_handshake handshake;
    struct ue_handlers handlers;
    struct ue_packet packet;
    struct ue_ack ack;
    struct ue_bunch bunch;
    struct ue_message message;
};

struct law {
    const struct part *part;
    struct rng rng;
    struct guarded room;
    uint8_t out[OUT_BYTES];
    uint64_t tried;
    uint64_t accepted;
};

static struct law law;

static struct ue_context context_for(const struct part *part, size_t row) {
    struct ue_context x = arbitrary_context(&law.rng, row);
    while (part->handlers && x.settings.handlers[0] == UE_HANDLER_NONE) {
        x = arbitrary_context(&law.rng, row);
    }
    return x;
}

static enum ue_status encode(const struct ue_context *x, void *m, size_t *bits) {
    struct ue_cursor c;
    ue_cursor_write(&c, law.out, sizeof law.out, 0);
    law.part->run(UE_ENCODE, &c, x, m);
    ue_cursor_flush(&c);
    *bits = ue_cursor_pos(&c);
    return c.fault.status;
}

static _Noreturn void complain(const char *what, size_t row) {
    fail_msg("%s, generation %s: %s in round %" PRIu64, law.part->name, ue_profile_at(row)->name, what, law.tried);
    abort();
}

static void try_struct(size_t row) {
    union any m;
    union any back;
    size_t bits;
    struct ue_context x = context_for(law.part, row);
    law.part->make(&law.rng, &x, &m);
    if (encode(&x, &m, &bits) != UE_OK) {
        return;
    }
    law.accepted++;
    struct ue_cursor c;
    uint8_t *in = guarded_put(&law.room, law.out, ue_bits_bytes(bits));
    ue_cursor_read(&c, in, 0, bits);
    law.part->run(UE_DECODE, &c, &x, &back);
    if (!ue_cursor_ok(&c) || ue_cursor_left(&c) != 0) {
        complain("decode refuses what encode wrote (L2)", row);
    }
    if (!law.part->equal(&x, &m, &back)) {
        complain("decode gives another structure than was encoded (L2)", row);
    }
}

/* Random bits; or an encoding of a random structure with a few bits changed, which gets deeper. */
static size_t random_bits(const struct ue_context *x, uint8_t *bytes) {
    union any m;
    size_t bits;
    size_t size = RANDOM_BYTES;
    if (!rng_chance(&law.rng, 60)) {
        rng_fill(&law.rng, bytes, RANDOM_BYTES);
        return law.part->whole ? rng_below(&law.rng, 600) : RANDOM_BYTES * 8;
    }
    law.part->make(&law.rng, x, &m);
    if (encode(x, &m, &bits) != UE_OK || bits > RANDOM_BYTES * 8) {
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

static void try_bits(size_t row) {
    union any m;
    uint8_t bytes[RANDOM_BYTES];
    struct ue_cursor c;
    struct ue_context x = context_for(law.part, row);
    size_t end = random_bits(&x, bytes);
    uint8_t *in = guarded_put(&law.room, bytes, ue_bits_bytes(end));
    ue_cursor_read(&c, in, 0, end);
    law.part->run(UE_DECODE, &c, &x, &m);
    if (!ue_cursor_ok(&c) || !c.canonical || (law.part->whole && ue_cursor_left(&c) != 0)) {
        return;
    }
    law.accepted++;
    size_t used = ue_cursor_pos(&c);
    size_t bits;
    if (encode(&x, &m, &bits) != UE_OK) {
        complain("encode refuses what decode read (L1)", row);
    }
    if (bits != used || !ue_view_equal((struct ue_view){law.out, 0, bits}, (struct ue_view){in, 0, used})) {
        complain("encode gives other bits than were decoded (L1)", row);
    }
}

static void hold(const char *name, const struct part *part, void (*attempt)(size_t row)) {
    law.part = part;
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        uint64_t rounds = rng_rounds(ROUNDS);
        law.accepted = 0;
        for (law.tried = 0; law.tried < rounds; law.tried++) {
            attempt(row);
        }
        unsigned percent = (unsigned)(law.accepted * 100 / rounds);
        printf("%s %-9s %-4s %" PRIu64 " of %" PRIu64 " accepted (%u%%)\n", name, part->name, ue_profile_at(row)->name,
               law.accepted, rounds, percent);
        if (percent < ACCEPTED_MIN) {
            complain("too few accepted", row);
        }
    }
}

#define LAWS(name, whole, handlers)                                                                                    \
    static const struct part part_##name = {#name, make_##name, run_##name, equal_##name, whole, handlers};            \
    static void name##_L1(void **state) {                                                                              \
        (void)state;                                                                                                   \
        hold("L1", &part_##name, try_bits);                                                                            \
    }                                                                                                                  \
    static void name##_L2(void **state) {                                                                              \
        (void)state;                                                                                                   \
        hold("L2", &part_##name, try_struct);                                                                          \
    }

LAWS(prefix, false, false)
LAWS(handshake, true, false)
LAWS(handlers, true, true)
LAWS(packet, false, false)
LAWS(ack, false, false)
LAWS(bunch, false, false)
LAWS(message, true, false)

static int set_up(void **state) {
    (void)state;
    law.rng = rng_seeded("laws");
    law.room = guarded_new(OUT_BYTES);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    guarded_free(&law.room);
    return 0;
}

#define BOTH(name) cmocka_unit_test(name##_L1), cmocka_unit_test(name##_L2)

int main(void) {
    const struct CMUnitTest tests[] = {
        BOTH(prefix), BOTH(handshake), BOTH(handlers), BOTH(packet), BOTH(ack), BOTH(bunch), BOTH(message),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
