/* SPDX-License-Identifier: MIT */
/* Decoding and encoding in steps yields the same bytes, fields and faults as in one call. Counting yields the same as
   decoding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/codec/law_rounds.h"
#include "tests/support/arbitrary.h"
#include "tests/support/equal.h"
#include "tests/support/guarded.h"

#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__) || defined(__clang__)
#define ROUNDS 60000 /* possibly with sanitizers */
#else
#define ROUNDS 300000
#endif
#define ACCEPTED_MIN 20 /* percent */
#define BYTES_MAX 30000
#define ARBITRARY_ITEMS 8
#define ITEMS_MAX 4096 /* of random bits */

static struct {
    struct rng rng;
    struct guarded buffer;
    uint8_t bytes[BYTES_MAX];
    uint8_t pieces[BYTES_MAX];
    struct ue_item whole_items[ITEMS_MAX];
    struct ue_item piece_items[ITEMS_MAX];
} law;

/* ---- encoding ---- */

static enum ue_status encode_pieces(const struct ue_context *x, const struct ue_datagram *d, size_t *size_bytes,
                                    struct ue_fault *fault) {
    size_t bit = 0;
    enum ue_status status = ue_datagram_encode_head(x, d, law.pieces, sizeof law.pieces, &bit, fault);
    for (size_t i = 0; i < d->item_count && status == UE_OK; i++) {
        status = ue_item_encode(x, &d->items[i], law.pieces, sizeof law.pieces, &bit, fault);
    }
    if (status == UE_OK) {
        status = ue_datagram_encode_end(x, law.pieces, sizeof law.pieces, &bit, fault);
    }
    *size_bytes = ue_bits_bytes(bit);
    return status;
}

static bool try_encode(size_t row) {
    struct ue_item items[ARBITRARY_ITEMS];
    struct ue_datagram d = {.items = items, .item_capacity = ARBITRARY_ITEMS};
    struct ue_context x = arbitrary_context(&law.rng, row);
    struct ue_fault whole, pieces;
    size_t whole_bytes, piece_bytes;
    arbitrary_datagram(&law.rng, &x, &d);
    enum ue_status status = ue_datagram_encode(&x, &d, law.bytes, sizeof law.bytes, &whole_bytes, &whole);
    memset(law.pieces, 0xff, sizeof law.pieces); /* earlier content of the buffer does not remain */
    if (d.prefix.is_handshake) {
        if (encode_pieces(&x, &d, &piece_bytes, &pieces) == UE_OK) {
            law_rounds_fail("a handshake message has no pieces", row);
        }
        return false;
    }
    if (d.handlers.is_opaque) {
        return false; /* encrypted content takes no items */
    }
    if (encode_pieces(&x, &d, &piece_bytes, &pieces) != status) {
        law_rounds_fail("pieces have another status", row);
    }
    if (status != UE_OK) {
        if (!fault_equal(&whole, &pieces)) {
            law_rounds_fail("pieces have another fault", row);
        }
        return false;
    }
    if (piece_bytes != whole_bytes || memcmp(law.bytes, law.pieces, whole_bytes) != 0) {
        law_rounds_fail("pieces give other bytes", row);
    }
    return true;
}

/* ---- decoding ---- */

/* Random bytes, or an encoding with bits changed, cut off, or bytes appended. */
static size_t random_bytes(const struct ue_context *x) {
    struct ue_item items[ARBITRARY_ITEMS];
    struct ue_datagram d = {.items = items, .item_capacity = ARBITRARY_ITEMS};
    struct ue_fault fault;
    size_t size = 0;
    arbitrary_datagram(&law.rng, x, &d);
    if (rng_chance(&law.rng, 15) || ue_datagram_encode(x, &d, law.bytes, sizeof law.bytes, &size, &fault) != UE_OK) {
        size = rng_below(&law.rng, 300);
        rng_fill(&law.rng, law.bytes, size);
        return size;
    }
    for (uint64_t flips = rng_below(&law.rng, 4); flips > 0; flips--) {
        uint64_t at = rng_below(&law.rng, size * 8);
        law.bytes[at / 8] ^= (uint8_t)(1 << at % 8);
    }
    switch (rng_below(&law.rng, 8)) {
    case 0: return rng_below(&law.rng, size);
    case 1: rng_fill(&law.rng, law.bytes + size, 3); return size + 3;
    default: return size;
    }
}

/* One item, or several at once. */
static enum ue_status decode_next(const struct ue_context *x, const uint8_t *bytes, struct ue_item_range *rest,
                                  struct ue_datagram *d, struct ue_fault *fault) {
    size_t room = d->item_capacity - d->item_count;
    size_t wanted = 1 + rng_below(&law.rng, 3);
    size_t count = ue_datagram_next(x, bytes, rest, &d->items[d->item_count], wanted < room ? wanted : room, fault);
    assert_true(count == wanted || rest->bit == rest->end_bit || fault->status != UE_OK || wanted > room);
    d->item_count += count;
    return fault->status;
}

static enum ue_status decode_pieces(const struct ue_context *x, const uint8_t *bytes, size_t size_bytes,
                                    struct ue_datagram *d, struct ue_item_range *rest, struct ue_fault *fault) {
    enum ue_status status = ue_datagram_begin(x, bytes, size_bytes, d, rest, fault);
    if (d->prefix.is_handshake || d->handlers.is_opaque) {
        return status;
    }
    while (status == UE_OK && rest->bit < rest->end_bit) {
        assert_true(d->item_count < d->item_capacity);
        status = decode_next(x, bytes, rest, d, fault);
    }
    return status;
}

static struct ue_bunch_counts sum_bunches(const struct ue_datagram *d) {
    struct ue_bunch_counts sum = {0};
    for (size_t i = 0; i < d->item_count; i++) {
        const struct ue_bunch *bunch = &d->items[i].bunch;
        if (!d->items[i].is_ack) {
            sum.all++;
            sum.reliable += bunch->reliable;
            sum.partial += bunch->partial;
            sum.open += bunch->open;
            sum.close += bunch->close;
        }
    }
    return sum;
}

static void expect_counts(const struct ue_context *x, size_t row, const uint8_t *bytes, size_t size,
                          const struct ue_datagram *whole, const struct ue_decode_result *result) {
    struct ue_decode_result counted;
    struct ue_bunch_counts counts;
    struct ue_bunch_counts wanted = sum_bunches(whole);
    struct ue_visitor counter = ue_bunch_counter(&counts);
    ue_datagram_decode(x, bytes, size, NULL, &counter, &counted);
    if (!fault_equal(&counted.fault, &result->fault) || counted.item_count != result->item_count) {
        law_rounds_fail("counting ends elsewhere", row);
    }
    if (memcmp(&counts, &wanted, sizeof counts) != 0) {
        law_rounds_fail("counting gives other numbers", row);
    }
}

static bool try_decode(size_t row) {
    struct ue_context x = arbitrary_context(&law.rng, row);
    size_t size = random_bytes(&x);
    const uint8_t *bytes = guarded_put(&law.buffer, law.bytes, size);
    struct ue_datagram whole = {.items = law.whole_items, .item_capacity = ITEMS_MAX};
    struct ue_datagram pieces = {.items = law.piece_items, .item_capacity = ITEMS_MAX};
    struct ue_decode_result result;
    struct ue_item_range rest;
    struct ue_fault fault;
    enum ue_status status = ue_datagram_decode(&x, bytes, size, &whole, NULL, &result);
    if (decode_pieces(&x, bytes, size, &pieces, &rest, &fault) != status || !fault_equal(&fault, &result.fault)) {
        law_rounds_fail("pieces end in another fault", row);
    }
    if (pieces.item_count != whole.item_count || !prefix_equal(&pieces.prefix, &whole.prefix)) {
        law_rounds_fail("pieces give another prefix or number of items", row);
    }
    bool has_head = status == UE_OK || pieces.item_count != 0;
    if (has_head && !datagram_equal(&x, &pieces, &whole)) {
        law_rounds_fail("pieces give other fields", row);
    }
    if (status == UE_OK && rest.bit != result.payload_end_bit) {
        law_rounds_fail("pieces end at another bit", row);
    }
    expect_counts(&x, row, bytes, size, &whole, &result);
    return status == UE_OK && !whole.prefix.is_handshake;
}

/* ---- laws ---- */

static void pieces_encode_to_the_same_bytes(void **state) {
    law_rounds_run("encode in steps", ROUNDS, ACCEPTED_MIN, try_encode);
}

static void pieces_decode_to_the_same_fields_and_faults(void **state) {
    law_rounds_run("decode in steps", ROUNDS, ACCEPTED_MIN, try_decode);
}

static int set_up(void **state) {
    law.rng = rng_seeded("laws of pieces");
    law.buffer = guarded_new(BYTES_MAX);
    return 0;
}

static int tear_down(void **state) {
    guarded_free(&law.buffer);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_encode_to_the_same_bytes),
        cmocka_unit_test(pieces_decode_to_the_same_fields_and_faults),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
