/* SPDX-License-Identifier: MIT */
/* The format inside bunches of replicated objects, and a mirror that reads random content. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/rng.h"
#include "tools/endpoint/replication/replication.h"

static void items_are_read_as_they_were_written(void **state) {
    (void)state;
    uint8_t bytes[64] = {0};
    struct ue_replication_writer w = {.bytes = bytes};
    struct ue_view value = {(const uint8_t *)"\xa5\x01", 0, 9};
    ue_replication_write_object(&w, 0xdeadbeef);
    ue_replication_write_properties(&w, 2);
    ue_replication_write_property(&w, 64, value);
    ue_replication_write_property(&w, 1, (struct ue_view){0});
    ue_replication_write_call(&w, 777, value);
    assert_int_equal(w.bits, UE_REPLICATION_OBJECT_BITS + UE_REPLICATION_PROPERTIES_BITS +
                                 2 * UE_REPLICATION_PROPERTY_BITS + 9 + UE_REPLICATION_CALL_BITS + 9);
    static const struct {
        enum ue_replication_block_kind kind;
        uint32_t number;
        size_t bits;
    } expected[] = {{UE_REPLICATION_OBJECT, 0xdeadbeef, 0},
                    {UE_REPLICATION_PROPERTY, 64, 9},
                    {UE_REPLICATION_PROPERTY, 1, 0},
                    {UE_REPLICATION_CALL, 777, 9}};
    struct ue_replication_reader r = {.data = {bytes, 0, w.bits}};
    struct ue_replication_block item;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_true(ue_replication_read(&r, &item));
        assert_int_equal(item.kind, expected[i].kind);
        assert_int_equal(item.number, expected[i].number);
        assert_int_equal(item.value.bits, expected[i].bits);
        assert_true(item.value.bits == 0 || ue_view_equal(item.value, value));
    }
    assert_false(ue_replication_read(&r, &item));
    assert_int_equal(r.status, UE_OK);
}

static void malformed_content_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t bits;
        enum ue_status status;
    } cases[] = {
        {"\3", 8, UE_E_TYPE},                      /* kind 3 */
        {"\0\0\0", 24, UE_E_TRUNCATED},            /* an id of 22 bits */
        {"\5\x00\x00", 16, UE_E_TRUNCATED},        /* one property, of which 7 bits are there */
        {"\x05\x00\x01\x00", 28, UE_E_LENGTH},     /* a value of two bits, of which none is there */
        {"\x02\x00\x04\x00\x00", 34, UE_E_LENGTH}, /* a call with parameters of 1 bit, which is missing */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ue_replication_reader r = {.data = {(const uint8_t *)cases[i].bytes, 0, cases[i].bits}};
        struct ue_replication_block item;
        while (ue_replication_read(&r, &item)) {
        }
        assert_int_equal(r.status, cases[i].status);
    }
}

static void one_channel_holds_one_object(void **state) {
    (void)state;
    static const enum ue_status expected[] = {UE_OK, UE_OK, UE_E_CONFLICT};
    struct ue_mirror mirror;
    ue_mirror_init(&mirror, NULL);
    for (uint32_t i = 0; i < 3; i++) {
        uint8_t bytes[8] = {0};
        struct ue_replication_writer w = {.bytes = bytes};
        ue_replication_write_object(&w, 5 + i / 2);
        assert_int_equal(ue_mirror_read(&mirror, (struct ue_view){bytes, 0, w.bits}), expected[i]);
        assert_int_equal(mirror.id, 5);
    }
}

static void random_content_crashes_nothing(void **state) {
    (void)state;
    struct rng rng = rng_seeded("replication noise");
    struct ue_share share;
    struct ue_mirror mirror;
    ue_share_init(&share, NULL, SIZE_MAX);
    ue_mirror_init(&mirror, &share);
    for (uint64_t round = rng_rounds(20000); round > 0; round--) {
        uint8_t bytes[300];
        size_t size_bytes = 1 + rng_below(&rng, sizeof bytes);
        rng_fill(&rng, bytes, size_bytes);
        ue_mirror_read(&mirror, (struct ue_view){bytes, 0, size_bytes * 8 - rng_below(&rng, 8)});
        assert_true(share.used_bytes < UE_HANDLES_MAX * (UE_PROPERTY_BITS_MAX / 8 + 64));
    }
    ue_mirror_free(&mirror);
    assert_int_equal(share.used_bytes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_read_as_they_were_written),
        cmocka_unit_test(malformed_content_is_refused),
        cmocka_unit_test(one_channel_holds_one_object),
        cmocka_unit_test(random_content_crashes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
