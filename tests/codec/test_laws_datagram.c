/* SPDX-License-Identifier: MIT */
/* Laws L1, L2 and L4 for whole datagrams of every generation, through every path of the codec. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include <uerudp/profile_match.h>
#include "tests/codec/law_rounds.h"
#include "tests/support/arbitrary.h"
#include "tests/support/equal.h"
#include "tests/support/guarded.h"
#include "tests/support/roundtrip.h"

#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__) || defined(__clang__)
#define ROUNDS 60000 /* possibly with sanitizers */
#else
#define ROUNDS 300000
#endif
#define ACCEPTED_MIN 10 /* percent */
#define BYTES_MAX 30000
#define ITEMS_MAX 8

static struct {
    struct rng rng;
    struct guarded buffer;
    struct roundtrip *roundtrip;
    uint8_t bytes[BYTES_MAX];
} law;

/* A random datagram; 0 when it cannot be encoded. */
static size_t encode_arbitrary(const struct ue_context *x, struct ue_datagram *d) {
    size_t size = 0;
    struct ue_fault fault;
    arbitrary_datagram(&law.rng, x, d);
    enum ue_status status = ue_datagram_encode(x, d, law.bytes, sizeof law.bytes, &size, &fault);
    assert_int_equal(status, fault.status);
    return status == UE_OK ? size : 0;
}

static bool try_struct(size_t row) {
    struct ue_item items[ITEMS_MAX];
    struct ue_datagram d = {.items = items, .item_capacity = ITEMS_MAX};
    struct ue_context x = arbitrary_context(&law.rng, row);
    size_t size = encode_arbitrary(&x, &d);
    if (size == 0) {
        return false;
    }
    const uint8_t *bytes = guarded_put(&law.buffer, law.bytes, size);
    struct roundtrip *r = law.roundtrip;
    if (ue_datagram_decode(&x, bytes, size, &r->decoded, NULL, &r->result) != UE_OK) {
        law_rounds_fail("decode refuses what encode wrote (L2)", row);
    }
    if (!datagram_equal(&x, &d, &r->decoded)) {
        law_rounds_fail("decode gives another structure than was encoded (L2)", row);
    }
    return true;
}

/* Random bytes, or an encoding with bits changed, cut off, or bytes appended. */
static size_t random_bytes(const struct ue_context *x) {
    struct ue_item items[ITEMS_MAX];
    struct ue_datagram d = {.items = items, .item_capacity = ITEMS_MAX};
    size_t size = rng_chance(&law.rng, 85) ? encode_arbitrary(x, &d) : 0;
    if (size == 0) {
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

static bool try_bytes(size_t row) {
    struct ue_context x = arbitrary_context(&law.rng, row);
    size_t size = random_bytes(&x);
    const uint8_t *bytes = guarded_put(&law.buffer, law.bytes, size);
    const char *problem = roundtrip_problem(law.roundtrip, &x, bytes, size);
    if (problem != NULL) {
        law_rounds_fail(problem, row);
    }
    struct ue_handshake_match match;
    struct ue_packet_match fit;
    ue_profile_match_handshake(&x.settings, bytes, size, &match);
    ue_profile_match_packet(&x, bytes, size, &fit);
    return law.roundtrip->result.canonical;
}

static void what_decodes_encodes_to_the_same_bytes(void **state) {
    law_rounds_run("L1 datagram", ROUNDS, ACCEPTED_MIN, try_bytes);
}

static void what_encodes_decodes_to_an_equal_structure(void **state) {
    law_rounds_run("L2 datagram", ROUNDS, ACCEPTED_MIN, try_struct);
}

static int set_up(void **state) {
    law.rng = rng_seeded("laws of datagrams");
    law.buffer = guarded_new(BYTES_MAX);
    law.roundtrip = roundtrip_new();
    return law.roundtrip == NULL;
}

static int tear_down(void **state) {
    guarded_free(&law.buffer);
    roundtrip_free(law.roundtrip);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_decodes_encodes_to_the_same_bytes),
        cmocka_unit_test(what_encodes_decodes_to_an_equal_structure),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
