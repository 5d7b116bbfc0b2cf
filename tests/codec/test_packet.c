/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "libcodec/wire/packet_layout.h"
#include "tests/support/context.h"
#include "tests/support/equal.h"
#include "tests/support/guarded.h"

static enum ue_status write(const struct ue_context *x, struct ue_packet m, uint8_t *bytes, size_t *bits) {
    struct ue_cursor c;
    ue_cursor_init_write(&c, bytes, 64, 0);
    ue_packet_run(UE_ENCODE, &c, x, &m);
    ue_cursor_flush(&c);
    *bits = ue_cursor_pos(&c);
    return c.fault.status;
}

static void assert_packet(const struct ue_context *x, const struct ue_packet *packet, size_t bits, const char *tail) {
    uint8_t bytes[64];
    size_t size;
    struct ue_packet back;
    struct ue_cursor c;
    assert_int_equal(write(x, *packet, bytes, &size), UE_OK);
    assert_int_equal(size, bits);
    assert_wire_bits(bytes, bits - strlen(tail), tail);
    ue_cursor_init_read(&c, bytes, 0, size);
    ue_packet_run(UE_DECODE, &c, x, &back);
    assert_true(ue_cursor_ok(&c) && ue_cursor_left(&c) == 0 && c.canonical);
    assert_true(packet_equal(packet, &back));
}

/* 0xbc5a8040 of protocol.md 19.8. */
static void the_first_word_packs_sequence_ack_and_count(void **state) {
    struct ue_context x = context_of("5.0", UE_CLIENT_TO_SERVER);
    struct ue_packet m = {.seq = 12054, .ack = 10244, .history_words = 1};
    uint8_t bytes[64];
    size_t bits;
    assert_int_equal(write(&x, m, bytes, &bits), UE_OK);
    assert_hex(bytes, 4, "40805abc");
    assert_packet(&x, &m, 65, "0");
    m = (struct ue_packet){.seq = 7199, .ack = 12706, .history_words = 2, .history = {0x49249249, 0x192}};
    assert_int_equal(write(&x, m, bytes, &bits), UE_OK);
    assert_hex(bytes, 12, "211a7f70 49922449 92010000");
}

/* Sizes of protocol.md 7: 1, 12 or 20 bits from 4.25 on, 9 or 17 before. */
static void packet_info_in_every_form(void **state) {
    struct ue_packet m = {.history_words = 1};
    struct ue_context client = context_of("4.25", UE_CLIENT_TO_SERVER);
    struct ue_context server = context_of("4.25", UE_SERVER_TO_CLIENT);
    assert_packet(&client, &m, 64 + 1, "0");
    m.has_info = true;
    m.jitter_ms = 1023;
    assert_packet(&client, &m, 64 + 12, "111111111110");
    m.has_frame_time = true;
    assert_packet(&client, &m, 64 + 12, "1"); /* a client's bit is followed by nothing */
    m.frame_time_ms = 16;
    assert_packet(&server, &m, 64 + 20, "00001000");
    struct ue_packet old = {.history_words = 1, .remote_kbps = 12};
    client = context_of("4.22", UE_CLIENT_TO_SERVER);
    server = context_of("4.22", UE_SERVER_TO_CLIENT);
    assert_packet(&client, &old, 64 + 9, "00110000");
    old.has_frame_time = true;
    old.frame_time_ms = 1;
    assert_packet(&server, &old, 64 + 17, "1000000000110000");
}

static void the_history_sequence_of_5_8(void **state) {
    struct ue_context x = context_of("5.8", UE_CLIENT_TO_SERVER);
    struct ue_packet m = {.seq = 1, .history_words = 1, .acked_history_seq = 0x8001};
    assert_packet(&x, &m, 64 + 16 + 1, "10000000000000010");
    m = (struct ue_packet){.seq = 1, .history_words = 8, .history_flush = true};
    assert_packet(&x, &m, 32 + 256 + 16 + 1, "0");
    uint8_t bytes[64];
    size_t bits;
    write(&x, m, bytes, &bits);
    assert_wire_bits(bytes, 0, "1111");
}

/* Word counts 9 to 15 are never sent: eight words are read, and the header is not canonical. */
static void a_count_beyond_eight_is_not_canonical(void **state) {
    for (unsigned nibble = 0; nibble < 16; nibble++) {
        struct ue_context x = context_of("5.4", UE_CLIENT_TO_SERVER);
        uint8_t bytes[64] = {(uint8_t)nibble};
        struct ue_packet m;
        struct ue_cursor c;
        ue_cursor_init_read(&c, bytes, 0, sizeof bytes * 8);
        ue_packet_run(UE_DECODE, &c, &x, &m);
        assert_int_equal(m.history_words, nibble < 8 ? nibble + 1 : 8);
        assert_int_equal(c.canonical, nibble < 8);
        assert_false(m.history_flush);
    }
}

static void a_legacy_packet_has_only_an_id(void **state) {
    struct ue_context x = context_of("4.18", UE_CLIENT_TO_SERVER);
    assert_packet(&x, &(struct ue_packet){.seq = 354}, 14, "01000110100000");
}

/* 24 bits, and 8 more for the server's frame time. */
static void legacy_acks(void **state) {
    static const struct {
        enum ue_direction direction;
        struct ue_ack ack;
        size_t bits;
    } rows[] = {
        {UE_CLIENT_TO_SERVER, {.ack_id = 12666}, 24},
        {UE_CLIENT_TO_SERVER, {.ack_id = 1, .has_frame_time = true, .remote_kbps = 300}, 32},
        {UE_SERVER_TO_CLIENT, {.ack_id = 16383, .has_frame_time = true, .frame_time_ms = 16}, 32},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ue_context x = context_of("4.20", rows[i].direction);
        uint8_t bytes[16];
        struct ue_cursor c;
        struct ue_ack m = rows[i].ack;
        ue_cursor_init_write(&c, bytes, sizeof bytes, 0);
        ue_ack_run(UE_ENCODE, &c, &x, &m);
        ue_cursor_flush(&c);
        assert_true(ue_cursor_ok(&c));
        size_t bits = ue_cursor_pos(&c);
        assert_int_equal(bits, rows[i].bits);
        ue_cursor_init_read(&c, bytes, 0, bits);
        ue_ack_run(UE_DECODE, &c, &x, &m);
        assert_true(ue_cursor_ok(&c) && ack_equal(&m, &rows[i].ack));
    }
}

static void what_does_not_fit_is_refused(void **state) {
    uint8_t bytes[64];
    size_t bits;
    struct ue_context x = context_of("4.25", UE_CLIENT_TO_SERVER);
    struct ue_packet good = {.history_words = 1};
    struct ue_packet m = good;
    m.seq = 16384;
    assert_int_equal(write(&x, m, bytes, &bits), UE_E_RANGE);
    m = good;
    m.history_words = 9;
    assert_int_equal(write(&x, m, bytes, &bits), UE_E_RANGE);
    m.history_words = 0;
    assert_int_equal(write(&x, m, bytes, &bits), UE_E_RANGE);
    m = good;
    m.history[1] = 1;
    assert_int_equal(write(&x, m, bytes, &bits), UE_E_ABSENT);
    m = good;
    m.history_flush = true;
    assert_int_equal(write(&x, m, bytes, &bits), UE_E_ABSENT);
    m = good;
    m.jitter_ms = 5; /* no info */
    assert_int_equal(write(&x, m, bytes, &bits), UE_E_ABSENT);
    m = (struct ue_packet){.history_words = 1, .has_info = true, .has_frame_time = true, .frame_time_ms = 1};
    assert_int_equal(write(&x, m, bytes, &bits), UE_E_ABSENT); /* from a client */
    x.settings.extra_bits = 48;
    assert_int_equal(write(&x, good, bytes, &bits), UE_E_RANGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_word_packs_sequence_ack_and_count),
        cmocka_unit_test(packet_info_in_every_form),
        cmocka_unit_test(the_history_sequence_of_5_8),
        cmocka_unit_test(a_count_beyond_eight_is_not_canonical),
        cmocka_unit_test(a_legacy_packet_has_only_an_id),
        cmocka_unit_test(legacy_acks),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
