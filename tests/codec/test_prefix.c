/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "libcodec/wire/prefix_layout.h"
#include "tests/support/equal.h"
#include "tests/support/guarded.h"

static const uint8_t wrapper[8] = {1, 2, 3, 4, 5, 6, 7, 8};

static void assert_prefix(const char *release, const struct ue_settings *settings, const struct ue_prefix *prefix,
                          const char *bits) {
    struct ue_context x;
    struct ue_cursor c;
    uint8_t bytes[32];
    struct ue_prefix m = *prefix;
    struct ue_prefix back;
    ue_context_init(&x, ue_profile_find(release), settings);
    ue_cursor_init_write(&c, bytes, sizeof bytes, 0);
    ue_prefix_run(UE_ENCODE, &c, &x, &m);
    ue_cursor_flush(&c);
    assert_true(ue_cursor_ok(&c));
    size_t size = ue_cursor_pos(&c);
    assert_wire_bits(bytes, 0, bits);
    ue_cursor_init_read(&c, bytes, 0, size);
    ue_prefix_run(UE_DECODE, &c, &x, &back);
    assert_true(ue_cursor_ok(&c) && ue_cursor_left(&c) == 0);
    assert_true(prefix_equal(prefix, &back));
}

/* protocol.md 4.1. */
static void widths_follow_generation_and_settings(void **state) {
    struct ue_settings stock = {0};
    struct ue_settings magic = {.magic_bits = 4};
    struct ue_settings wrapped = {.skip_bytes = 1, .magic_bits = 3};
    assert_prefix("4.18", &stock, &(struct ue_prefix){.is_handshake = true}, "1");
    assert_prefix("5.0", &stock, &(struct ue_prefix){0}, "0");
    assert_prefix("5.1", &stock, &(struct ue_prefix){.session_id = 2, .client_id = 1, .is_handshake = true},
                  "01 100 1");
    assert_prefix("4.25", &magic, &(struct ue_prefix){.magic = 7}, "1110 0"); /* the text "1110" */
    assert_prefix("5.4", &wrapped,
                  &(struct ue_prefix){.wrapper = {wrapper, 0, 8}, .magic = 1, .session_id = 3, .client_id = 4},
                  "10000000 100 11 001 0");
}

/* 0x500C7696 travels as bytes 96 76 0c 50. */
static void a_long_magic_header_is_little_endian(void **state) {
    struct ue_settings settings = {.magic_bits = 32};
    struct ue_context x;
    struct ue_cursor c;
    uint8_t bytes[32];
    ue_context_init(&x, ue_profile_find("4.25"), &settings);
    ue_cursor_init_write(&c, bytes, sizeof bytes, 0);
    ue_prefix_run(UE_ENCODE, &c, &x, &(struct ue_prefix){.magic = 0x500c7696});
    ue_cursor_flush(&c);
    assert_hex(bytes, 4, "96760c50");
}

static enum ue_status refused(const struct ue_settings *settings, const char *release, struct ue_prefix prefix) {
    struct ue_context x;
    struct ue_cursor c;
    uint8_t bytes[32];
    ue_context_init(&x, ue_profile_find(release), settings);
    ue_cursor_init_write(&c, bytes, sizeof bytes, 0);
    ue_prefix_run(UE_ENCODE, &c, &x, &prefix);
    return c.fault.status;
}

static void what_has_no_place_is_refused(void **state) {
    struct ue_settings stock = {0};
    struct ue_settings wrapped = {.skip_bytes = 2, .magic_bits = 3};
    assert_int_equal(refused(&stock, "4.25", (struct ue_prefix){.session_id = 1}), UE_E_ABSENT);
    assert_int_equal(refused(&stock, "4.25", (struct ue_prefix){.magic = 1}), UE_E_ABSENT);
    assert_int_equal(refused(&stock, "4.25", (struct ue_prefix){.wrapper = {wrapper, 0, 8}}), UE_E_ABSENT);
    assert_int_equal(refused(&stock, "5.4", (struct ue_prefix){.session_id = 4}), UE_E_RANGE);
    assert_int_equal(refused(&stock, "5.4", (struct ue_prefix){.client_id = 8}), UE_E_RANGE);
    assert_int_equal(refused(&wrapped, "5.4", (struct ue_prefix){.wrapper = {wrapper, 0, 8}}), UE_E_RANGE);
    assert_int_equal(refused(&wrapped, "5.4", (struct ue_prefix){.wrapper = {wrapper, 0, 16}, .magic = 8}), UE_E_RANGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_follow_generation_and_settings),
        cmocka_unit_test(a_long_magic_header_is_little_endian),
        cmocka_unit_test(what_has_no_place_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
