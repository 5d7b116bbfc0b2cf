/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "libcodec/wire/handlers.h"
#include "tests/support/equal.h"
#include "tests/support/guarded.h"

static struct ue_context chain(enum ue_handler first, enum ue_handler second) {
    struct ue_context x;
    struct ue_settings settings = {.handlers = {first, second}};
    ue_context_init(&x, ue_profile_find("4.25"), &settings);
    return x;
}

/* Encodes, compares the first bits with the text, decodes. */
static void assert_handlers(const struct ue_context *x, const struct ue_handlers *handlers, const char *bits,
                            size_t count) {
    struct ue_handlers m = *handlers;
    struct ue_handlers back;
    struct ue_cursor c;
    uint8_t bytes[128];
    ue_cursor_init_write(&c, bytes, sizeof bytes, 0);
    ue_handlers_run(UE_ENCODE, &c, x, &m);
    ue_cursor_flush(&c);
    assert_true(ue_cursor_ok(&c));
    size_t size = ue_cursor_pos(&c);
    assert_int_equal(size, count);
    assert_wire_bits(bytes, 0, bits);
    ue_cursor_init_read(&c, bytes, 0, size);
    ue_handlers_run(UE_DECODE, &c, x, &back);
    assert_true(ue_cursor_ok(&c) && ue_cursor_left(&c) == 0);
    assert_true(handlers_equal(x, handlers, &back));
}

static const uint8_t content[8] = {0xc3, 1, 2, 3, 4, 5, 6, 7};

/* protocol.md 13. */
static void clear_content_has_one_bit_for_each_component(void **state) {
    struct ue_context x = chain(UE_HANDLER_AESGCM, UE_HANDLER_OODLE);
    assert_handlers(&x, &(struct ue_handlers){0}, "00", 2);
    x = chain(UE_HANDLER_DTLS, UE_HANDLER_AES_ECB);
    assert_handlers(&x, &(struct ue_handlers){0}, "00", 2);
    x = chain(UE_HANDLER_AESGCM_BYTES, UE_HANDLER_NONE);
    assert_handlers(&x, &(struct ue_handlers){0}, "00000000", 8);
}

static void sealed_content_is_opaque(void **state) {
    struct ue_context x = chain(UE_HANDLER_AESGCM, UE_HANDLER_OODLE);
    struct ue_handlers m = {.is_opaque = true, .opaque = {content, 0, 64}};
    m.components[0] = (struct ue_handler_bits){.encrypted = true, .iv = {1}, .tag = {2}};
    assert_handlers(&x, &m, "1 10000000", 1 + 96 + 128 + 64);
    x = chain(UE_HANDLER_AESGCM_BYTES, UE_HANDLER_NONE);
    assert_handlers(&x, &m, "10000000", 96 + 128 + 64);
    x = chain(UE_HANDLER_AES_ECB, UE_HANDLER_NONE);
    m.components[0] = (struct ue_handler_bits){.encrypted = true};
    assert_handlers(&x, &m, "1 11000011", 65);
    x = chain(UE_HANDLER_DTLS, UE_HANDLER_NONE);
    m.components[0].dtls_handshake = true;
    assert_handlers(&x, &m, "11 11000011", 66);
}

static void compressed_content_tells_its_size(void **state) {
    struct ue_context x = chain(UE_HANDLER_OODLE, UE_HANDLER_NONE);
    struct ue_handlers m = {.is_opaque = true, .opaque = {content, 0, 16}};
    m.components[0] = (struct ue_handler_bits){.compressed = true, .decompressed_bytes = 1};
    assert_handlers(&x, &m, "1 0000000000 11000011", 1 + 10 + 16); /* the size minus one */
    m.components[0].decompressed_bytes = 1024;
    assert_handlers(&x, &m, "1 1111111111", 1 + 10 + 16);
}

static void the_reliability_handler_has_two_packed_numbers(void **state) {
    struct ue_context x = chain(UE_HANDLER_RELIABILITY, UE_HANDLER_NONE);
    struct ue_handlers m = {0};
    m.components[0] = (struct ue_handler_bits){.reliability_ack = 3, .reliability_id = 300};
    assert_handlers(&x, &m, "01100000 10011010 00100000", 24);
}

static enum ue_status encode(const struct ue_context *x, struct ue_handlers m) {
    struct ue_cursor c;
    uint8_t bytes[128];
    ue_cursor_init_write(&c, bytes, sizeof bytes, 0);
    ue_handlers_run(UE_ENCODE, &c, x, &m);
    return c.fault.status;
}

static void what_has_no_place_is_refused(void **state) {
    struct ue_context x = chain(UE_HANDLER_AESGCM, UE_HANDLER_NONE);
    struct ue_handlers m = {0};
    m.components[0].iv[3] = 1; /* not encrypted */
    assert_int_equal(encode(&x, m), UE_E_ABSENT);
    m = (struct ue_handlers){0};
    m.components[1].compressed = true; /* no such component */
    assert_int_equal(encode(&x, m), UE_E_ABSENT);
    m = (struct ue_handlers){.opaque = {content, 0, 8}};
    assert_int_equal(encode(&x, m), UE_E_ABSENT);
    m = (struct ue_handlers){.is_opaque = true};
    assert_int_equal(encode(&x, m), UE_E_ABSENT);
    x = chain(UE_HANDLER_OODLE, UE_HANDLER_NONE);
    m = (struct ue_handlers){.is_opaque = true};
    m.components[0] = (struct ue_handler_bits){.compressed = true, .decompressed_bytes = 1025};
    assert_int_equal(encode(&x, m), UE_E_RANGE);
    m.components[0].decompressed_bytes = 0;
    assert_int_equal(encode(&x, m), UE_E_RANGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clear_content_has_one_bit_for_each_component),
        cmocka_unit_test(sealed_content_is_opaque),
        cmocka_unit_test(compressed_content_tells_its_size),
        cmocka_unit_test(the_reliability_handler_has_two_packed_numbers),
        cmocka_unit_test(what_has_no_place_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
