/* SPDX-License-Identifier: MIT */
/* The hash table of a server: a keyed hash, and a set of pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/rng.h"
#include "tools/endpoint/base/siphash.h"
#include "tools/endpoint/server/server_table.h"

/* From the reference implementation of SipHash: key 00 to 0f, input 00, 01, 02, ... */
static void the_hash_matches_the_reference_implementation(void **state) {
    static const struct {
        size_t size_bytes;
        uint64_t hash;
    } cases[] = {{0, UINT64_C(0x726fdb47dd0e0e31)},
                 {1, UINT64_C(0x74f839c593dc67fd)},
                 {8, UINT64_C(0x93f5f5799a932462)},
                 {15, UINT64_C(0xa129ca6149be45e5)}};
    uint8_t bytes[16];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)i;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(ue_siphash(bytes, bytes, cases[i].size_bytes) == cases[i].hash);
    }
}

#define MODEL_MAX 64

static bool table_has(const struct ue_table *table, uint64_t hash, const void *value) {
    const void *found;
    for (size_t at = 0; (found = ue_table_next(table, hash, &at)) != NULL;) {
        if (found == value) {
            return true;
        }
    }
    return false;
}

/* Compares with a list; few different hashes, so that nearly all collide. */
static void the_table_behaves_as_a_set_of_pairs(void **state) {
    static char values[MODEL_MAX];
    uint64_t hashes[MODEL_MAX];
    bool in_model[MODEL_MAX] = {false};
    struct rng rng = rng_seeded("server table");
    struct ue_share share;
    struct ue_table table;
    ue_share_init(&share, NULL, 65536);
    assert_false(ue_table_init(&table, &share, 100000));
    assert_true(ue_table_init(&table, &share, MODEL_MAX));
    for (uint64_t round = rng_rounds(20000); round > 0; round--) {
        size_t i = rng_below(&rng, MODEL_MAX);
        if (in_model[i]) {
            ue_table_remove(&table, hashes[i], &values[i]);
        } else {
            hashes[i] = rng_below(&rng, 5) + 126 * rng_below(&rng, 2);
            ue_table_put(&table, hashes[i], &values[i]);
        }
        in_model[i] = !in_model[i];
        i = rng_below(&rng, MODEL_MAX);
        assert_int_equal(table_has(&table, in_model[i] ? hashes[i] : 3, &values[i]), in_model[i]);
    }
    for (size_t i = 0; i < MODEL_MAX; i++) {
        assert_int_equal(table_has(&table, in_model[i] ? hashes[i] : 3, &values[i]), in_model[i]);
    }
    ue_table_free(&table, &share);
    assert_int_equal(share.used_bytes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_matches_the_reference_implementation),
        cmocka_unit_test(the_table_behaves_as_a_set_of_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
