/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include <uerudp/bunch.h>
#include "tests/support/equal.h"
#include "tests/support/guarded.h"

#define ROOM 4096

static const uint8_t zeros[ROOM];

static struct ue_context context(const char *release, struct ue_settings settings) {
    struct ue_context x;
    ue_context_init(&x, ue_profile_find(release), &settings);
    return x;
}

/* Encodes a header to the bits of the text, and decodes it. */
static void assert_bunch(const struct ue_context *x, const struct ue_bunch *bunch, const char *header) {
    uint8_t bytes[ROOM];
    struct ue_bunch back;
    struct ue_fault fault;
    size_t bit = 0;
    size_t header_bits = 0;
    for (const char *at = header; *at != '\0'; at++) {
        header_bits += *at != ' ';
    }
    assert_int_equal(ue_bunch_encode(x, bunch, bytes, sizeof bytes, &bit, &fault), UE_OK);
    assert_int_equal(bit, header_bits + bunch->data.bits);
    assert_wire_bits(bytes, 0, header);
    size_t end = bit;
    bit = 0;
    assert_int_equal(ue_bunch_decode(x, bytes, end, &bit, &back, &fault), UE_OK);
    assert_int_equal(bit, end);
    assert_true(bunch_equal(bunch, &back));
}

#define DATA(count) .data = {zeros, 0, (count)}
#define NAMED(number) .has_name = true, .name = {.hardcoded = true, .index = (number)}

/* The examples of protocol.md 19.8. */
static void the_hello_of_5_0(void **state) {
    struct ue_context x = context("5.0", (struct ue_settings){0});
    struct ue_bunch b = {
        .control = true, .open = true, .reliable = true, .ch_seq = 4, NAMED(UE_NAME_CONTROL), DATA(80)};
    assert_bunch(&x, &b, "1 1 0 0 1 00000000 0 0 0 0010000000 1 1111111101000000 0000101000000");
}

static void fragments_of_5_6(void **state) {
    struct ue_context x = context("5.6", (struct ue_settings){.max_packet_bytes = 1028});
    struct ue_bunch first = {.control = true,
                             .open = true,
                             .reliable = true,
                             .channel = 8,
                             .has_exports = true,
                             .partial = true,
                             .ch_seq = 318,
                             .partial_initial = true,
                             NAMED(UE_NAME_ACTOR),
                             DATA(3473)};
    assert_bunch(&x, &first, "1 1 0 0 1 00001000 1 0 1 0111110010 1 0 0 1 00110011 1000100110110");
    struct ue_bunch last = {.reliable = true,
                            .channel = 8,
                            .partial = true,
                            .ch_seq = 335,
                            .partial_final = true,
                            NAMED(UE_NAME_ACTOR),
                            DATA(2057)};
    assert_bunch(&x, &last, "0 0 1 00001000 0 0 1 1111001010 0 0 1 1 00110011 1001000000010");
    struct ue_bunch small = {.channel = 7, DATA(31)};
    assert_bunch(&x, &small, "0 0 0 01110000 0 0 0 11111000000000");
}

static void closes(void **state) {
    struct ue_context x = context("5.4", (struct ue_settings){0});
    struct ue_bunch b = {
        .control = true, .close = true, .reliable = true, .ch_seq = 554, NAMED(UE_NAME_CONTROL), DATA(0)};
    assert_bunch(&x, &b, "1 0 1 0000 0 1 00000000 0 0 0 0101010001 1 1111111101000000 0000000000000");
    x = context("4.23", (struct ue_settings){.internal_ack = true});
    b = (struct ue_bunch){
        .control = true, .close = true, .reliable = true, .channel = 28, NAMED(UE_NAME_ACTOR), DATA(0)};
    assert_bunch(&x, &b, "1 0 1 0000 0 1 00011100 0 0 0 1 00110011 00000000000000");
}

static void the_hello_of_4_18(void **state) {
    struct ue_context x = context("4.18", (struct ue_settings){.ch_seq_bound = 4096});
    struct ue_bunch b = {
        .control = true, .open = true, .reliable = true, .ch_seq = 658, .ch_type = UE_CHANNEL_CONTROL, DATA(80)};
    assert_bunch(&x, &b, "0 1 1 0 0 1 00000000000000 0 0 0 010010010100 100 000010100000");
}

static void generations_differ_as_documented(void **state) {
    struct ue_bunch b = {.control = true, .close = true, .dormant = true, .channel = 2048, DATA(1)};
    struct ue_context x = context("4.19", (struct ue_settings){0});
    assert_bunch(&x, &b, "0 1 0 1 1 0 0 0000000000010 0 0 0 1000000000000"); /* 13 bits of channel */
    x = context("4.20", (struct ue_settings){0});
    assert_bunch(&x, &b, "0 1 0 1 1 0 0 10000000 00000100 0 0 0 1000000000000");
    x = context("4.13", (struct ue_settings){0}); /* no paused bit */
    assert_bunch(&x, &b, "0 1 0 1 1 0 0000000000010 0 0 0 100000000000");
    b = (struct ue_bunch){.control = true, .close = true, .close_reason = 7, .paused = true, .channel = 2, DATA(1)};
    x = context("4.22", (struct ue_settings){0});
    assert_bunch(&x, &b, "1 0 1 111 1 0 00100000 0 0 0 1000000000000"); /* reason 7 takes three bits */
}

static void names_may_be_texts(void **state) {
    static const uint8_t text[] = "Foo";
    struct ue_context x = context("5.4", (struct ue_settings){0});
    struct ue_bunch b = {.reliable = true,
                         .channel = 2,
                         .has_name = true,
                         .name = {.text = {{text, 0, 24}, false}, .number = 3},
                         DATA(0)};
    assert_bunch(&x, &b,
                 "0 0 1 00100000 0 0 0 0000000000"
                 "0 00100000000000000000000000000000 01100010 11110110 11110110 00000000"
                 "11000000000000000000000000000000 0000000000000");
    assert_null(ue_bunch_channel_name(&x, &b));
}

static enum ue_status encode(const struct ue_context *x, struct ue_bunch b, enum ue_field field) {
    uint8_t bytes[ROOM];
    struct ue_fault fault;
    size_t bit = 0;
    ue_bunch_encode(x, &b, bytes, sizeof bytes, &bit, &fault);
    assert_int_equal(fault.field, field);
    return fault.status;
}

static void what_does_not_fit_is_refused_by_name(void **state) {
    struct ue_context x = context("5.4", (struct ue_settings){0});
    struct ue_context old = context("4.19", (struct ue_settings){0});
    struct ue_bunch plain = {.channel = 2};
    struct ue_bunch b = plain;
    b.open = true;
    assert_int_equal(encode(&x, b, UE_F_BUNCH_OPEN), UE_E_ABSENT);
    b = (struct ue_bunch){.control = true, .close = true, .close_reason = 15};
    assert_int_equal(encode(&x, b, UE_F_BUNCH_CLOSE_REASON), UE_E_RANGE);
    b = (struct ue_bunch){.control = true, .close = true, .dormant = true};
    assert_int_equal(encode(&x, b, UE_F_BUNCH_DORMANT), UE_E_ABSENT);
    b = plain;
    b.ch_seq = 1;
    assert_int_equal(encode(&x, b, UE_F_BUNCH_CH_SEQ), UE_E_ABSENT);
    b = (struct ue_bunch){.reliable = true, .ch_seq = 1024, NAMED(UE_NAME_ACTOR)};
    assert_int_equal(encode(&x, b, UE_F_BUNCH_CH_SEQ), UE_E_RANGE);
    b = (struct ue_bunch){.partial = true, .partial_exports_final = true};
    assert_int_equal(encode(&x, b, UE_F_BUNCH_PARTIAL_EXPORTS_FINAL), UE_E_ABSENT);
    b = (struct ue_bunch){DATA(8192)};
    assert_int_equal(encode(&x, b, UE_F_BUNCH_DATA_BITS), UE_E_RANGE);
    b = (struct ue_bunch){.channel = 10240};
    assert_int_equal(encode(&old, b, UE_F_BUNCH_CHANNEL), UE_E_RANGE);
    b = (struct ue_bunch){.reliable = true, .ch_type = 8};
    assert_int_equal(encode(&old, b, UE_F_BUNCH_CH_TYPE), UE_E_RANGE);
}

static void channels_have_names(void **state) {
    struct ue_context x = context("5.4", (struct ue_settings){0});
    struct ue_context old = context("4.19", (struct ue_settings){0});
    struct ue_context replay = context("4.23", (struct ue_settings){.internal_ack = true});
    struct ue_bunch unnamed = {.channel = 0};
    assert_string_equal(ue_bunch_channel_name(&x, &(struct ue_bunch){NAMED(295)}), "DataStream");
    assert_string_equal(ue_bunch_channel_name(&x, &(struct ue_bunch){NAMED(256)}), "Voice");
    assert_null(ue_bunch_channel_name(&x, &(struct ue_bunch){NAMED(300)}));
    assert_string_equal(ue_bunch_channel_name(&x, &unnamed), "Control");
    assert_null(ue_bunch_channel_name(&replay, &unnamed));
    unnamed.channel = 5;
    assert_null(ue_bunch_channel_name(&x, &unnamed));
    assert_string_equal(ue_bunch_channel_name(&old, &(struct ue_bunch){.ch_type = 2}), "Actor");
    assert_null(ue_bunch_channel_name(&old, &(struct ue_bunch){.channel = 3, .ch_type = 7}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hello_of_5_0),
        cmocka_unit_test(fragments_of_5_6),
        cmocka_unit_test(closes),
        cmocka_unit_test(the_hello_of_4_18),
        cmocka_unit_test(generations_differ_as_documented),
        cmocka_unit_test(names_may_be_texts),
        cmocka_unit_test(what_does_not_fit_is_refused_by_name),
        cmocka_unit_test(channels_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
