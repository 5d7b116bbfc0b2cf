/* SPDX-License-Identifier: MIT */
/* The words of layouts, each in a layout of its own: what they write, read, report and refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "libcodec/wire/layout_run.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct sample {
    bool flag;
    bool shared;
    uint8_t count;
    uint8_t number;
    uint32_t wire;
    uint64_t wide;
    uint32_t array[3];
    uint8_t bytes[2];
    struct ue_text text;
    struct ue_view view;
};

/* One layout for each word. */
#define WORD(name, ...)                                                                                                \
    UE_INLINE void name##_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct sample *m) {   \
        __VA_ARGS__;                                                                                                   \
    }                                                                                                                  \
    static void name##_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct sample *m) {         \
        switch (op) {                                                                                                  \
        case UE_DECODE: name##_layout(UE_DECODE, c, x, m); break;                                                      \
        case UE_ENCODE: name##_layout(UE_ENCODE, c, x, m); break;                                                      \
        case UE_TRACE: name##_layout(UE_TRACE, c, x, m); break;                                                        \
        case UE_BUILD: name##_layout(UE_BUILD, c, x, m); break;                                                        \
        case UE_DECODE_FAST: break;                                                                                    \
        }                                                                                                              \
    }

static void element(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field field) {
    uint64_t value = 0;
    ue_layout_packed(op, c, field, 10, value);
}

WORD(view, VIEW(m->view, PACKET_EXTRA, 12))
WORD(view_of, VIEW_OF(m->view, VOICE_DATA, 12))
WORD(rest, REST(m->view, HANDSHAKE_RANDOM))
WORD(view_below, VIEW_BELOW(m->view, BUNCH_DATA_BITS, BUNCH_DATA, ue_bound_of(16)))
WORD(view_packed, VIEW_PACKED(m->view, BLOCK_PAYLOAD_BITS, BLOCK_PAYLOAD))
WORD(counted, COUNTED(m->view, CONTROL_UNIQUE_ID_BYTES, 8, 8))
WORD(elements, ELEMENTS(m->view, MAPPED_GUID, m->count, element))
WORD(decoded_view, size_t at = ue_cursor_pos(c); UINT(m->number, PACKET_SEQ, 4); DECODED_VIEW(m->view, at))
WORD(wide, WIDE_AS(m->wide, m->view, UE_F_EXPORT_GUID, 72))
WORD(uints, UINTS(m->array, PACKET_HISTORY, 8, m->count))
WORD(shown, UINT_SHOWN(m->number, VOICE_AMPLITUDE, 8, m->number + 1000u))
WORD(mapped, UINT_MAPPED(m->wire, m->number, PACKET_HISTORY_WORDS, 4, m->number - 1u, m->wire < 8 ? m->wire + 1 : 8);
     SHARED_IF(true, m->shared, PACKET_HISTORY_FLUSH, 4, m->wire == 15); CANONICAL(m->wire < 8))
WORD(below_mapped,
     BELOW_MAPPED(m->wire, m->number, HANDLER_DECOMPRESSED_BYTES, ue_bound_of(15), m->number - 1u, m->wire + 1))
WORD(shared_absent, SHARED_IF(false, m->shared, PACKET_HISTORY_FLUSH, 4, true))
WORD(more, MORE(m->flag, HANDSHAKE_COOKIE, ue_cursor_left(c) != 0); UINT_IF(m->flag, m->number, PACKET_SEQ, 4))
WORD(follows, unsigned i = 0; CLEAR(m->array);
     for (; i < AT_MOST(m->count, 3u) && FOLLOWS(ue_cursor_left(c) != 0); i++) UINT(m->array[i], PACKET_HISTORY, 8);
     IMPLIED(m->count, EXPORT_FLAGS, i))
WORD(text_if, FLAG(m->flag, BUNCH_CONTROL); TEXT_IF(m->flag, m->text, BUNCH_NAME_TEXT))
WORD(bytes_if, FLAG(m->flag, BUNCH_CONTROL); BYTES_IF(m->flag, m->bytes, HANDLER_IV))
WORD(enum_if, FLAG(m->flag, BUNCH_CLOSE); ENUM_IF(m->flag, m->number, BUNCH_CLOSE_REASON, 15))
WORD(ahead, AHEAD_IF(true, m->flag, LEGACY_IS_ACK); UINT(m->number, PACKET_SEQ, 8))
WORD(complete, UINT(m->number, PACKET_SEQ, 4); COMPLETE(HANDSHAKE_RANDOM))
WORD(require_at, size_t at = ue_cursor_pos(c); UINT(m->number, CONTROL_TYPE, 4);
     REQUIRE_AT(m->number < 8, UE_E_TYPE, CONTROL_TYPE, at))
WORD(until, size_t end = 0; UNTIL(end, UE_PADDING_NONE, 2); UINT(m->number, PACKET_SEQ, 4); TERMINATOR(end, 2))
WORD(generated, size_t at = ue_cursor_pos(c); UINT(m->number, PACKET_SEQ, 4);
     GENERATED_NAME(BUNCH_CHANNEL_NAME, at, m->number == 1 ? "one" : NULL, NULL);
     REPORT(ue_cursor_report_generated(c, UE_F_PACKET_ID, at, 4, 9)))

WORD(grouped, BEGIN(PACKET); UINT(m->number, PACKET_SEQ, 4); END(PACKET, m))

typedef void layout_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct sample *m);

static const struct ue_context any;
static uint8_t out[64];
static struct ue_record records[8];
static size_t record_count;

static size_t write_bits(const char *digits, uint8_t bytes[64]) {
    size_t count = strlen(digits);
    memset(bytes, 0, 64);
    for (size_t i = 0; i < count; i++) {
        bytes[i / 8] |= (uint8_t)((digits[i] == '1') << (i % 8));
    }
    return count;
}

static struct ue_fault encode(layout_run *run, struct sample m, const char *bits) {
    struct ue_cursor c;
    memset(out, 0, sizeof out);
    ue_cursor_init_write(&c, out, sizeof out, 0);
    run(UE_ENCODE, &c, &any, &m);
    ue_cursor_flush(&c);
    if (bits != NULL) {
        uint8_t expected[64];
        assert_int_equal(c.fault.status, UE_OK);
        assert_int_equal(ue_cursor_pos(&c), write_bits(bits, expected));
        assert_memory_equal(out, expected, sizeof expected);
    }
    return c.fault;
}

static void refuse(layout_run *run, struct sample m, enum ue_status status, enum ue_field field) {
    struct ue_fault fault = encode(run, m, NULL);
    assert_int_equal(fault.status, status);
    assert_int_equal(fault.field, field);
}

static struct ue_cursor decode(layout_run *run, const char *bits, struct sample *m) {
    static uint8_t bytes[64];
    struct ue_cursor c;
    ue_cursor_init_read(&c, bytes, 0, write_bits(bits, bytes));
    run(UE_DECODE, &c, &any, m);
    return c;
}

static void fail_at(layout_run *run, const char *bits, struct sample m, enum ue_status status, enum ue_field field,
                    size_t bit) {
    struct ue_cursor c = decode(run, bits, &m);
    assert_int_equal(c.fault.status, status);
    assert_int_equal(c.fault.field, field);
    assert_int_equal(c.fault.bit, bit);
}

static void on_field(void *user, const struct ue_record *record) {
    assert_true(record_count < COUNT(records));
    records[record_count++] = *record;
}

static void trace(layout_run *run, const char *bits, struct sample m) {
    static uint8_t bytes[64];
    const struct ue_trace sink = {.field = on_field};
    struct ue_cursor c;
    record_count = 0;
    ue_cursor_init_read(&c, bytes, 0, write_bits(bits, bytes));
    c.trace = &sink;
    run(UE_TRACE, &c, &any, &m);
}

static void reported(size_t index, enum ue_field field, size_t bit, size_t bits, uint64_t number, bool coded) {
    assert_true(index < record_count);
    assert_int_equal(records[index].field, field);
    assert_int_equal(records[index].bit, bit);
    assert_int_equal(records[index].bits, bits);
    assert_int_equal(records[index].number, number);
    assert_int_equal(records[index].coded, coded);
}

static const uint8_t ones[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static struct sample of_bits(size_t bits) {
    return (struct sample){.view = {ones, 0, bits}};
}

static void views_have_the_length_that_the_layout_says(void **state) {
    struct sample m = {0};
    encode(view_run, of_bits(12), "111111111111");
    refuse(view_run, of_bits(11), UE_E_RANGE, UE_F_PACKET_EXTRA);
    refuse(view_of_run, of_bits(13), UE_E_CONFLICT, UE_F_VOICE_DATA);
    decode(view_run, "111100000000101", &m);
    assert_int_equal(m.view.bits, 12);
    fail_at(view_run, "11111111111", m, UE_E_LENGTH, UE_F_PACKET_EXTRA, 0);
    encode(rest_run, of_bits(5), "11111");
    decode(rest_run, "1010101", &m);
    assert_int_equal(m.view.bits, 7);
}

static void views_after_their_length(void **state) {
    struct sample m = {0};
    encode(view_below_run, of_bits(3), "1100111");
    refuse(view_below_run, of_bits(16), UE_E_RANGE, UE_F_BUNCH_DATA_BITS);
    encode(view_packed_run, of_bits(2), "0010000011");
    struct ue_cursor c = decode(view_packed_run, "10100000000000001111", &m);
    assert_int_equal(m.view.bits, 2);
    assert_false(c.canonical);
    fail_at(view_below_run, "110011", m, UE_E_LENGTH, UE_F_BUNCH_DATA, 4);
    trace(view_below_run, "1100111", m);
    assert_int_equal(record_count, 2);
    reported(0, UE_F_BUNCH_DATA_BITS, 0, 4, 3, false);
    reported(1, UE_F_BUNCH_DATA, 4, 3, 0, false);
}

static void elements_after_their_number(void **state) {
    struct sample m = {0};
    encode(counted_run, of_bits(8), "1000000011111111");
    refuse(counted_run, of_bits(9), UE_E_RANGE, UE_F_CONTROL_UNIQUE_ID_BYTES);
    trace(counted_run, "1000000011111111", m);
    assert_int_equal(record_count, 1);
    reported(0, UE_F_CONTROL_UNIQUE_ID_BYTES, 0, 16, 0, true);
    assert_int_equal(records[0].text.units.bits, 8);
    fail_at(counted_run, "100000001111111", m, UE_E_LENGTH, UE_F_CONTROL_UNIQUE_ID_BYTES, 8);
}

static void decoded_views_are_not_encoded(void **state) {
    struct sample m = of_bits(9);
    m.number = 5;
    encode(decoded_view_run, m, "1010");
    m = (struct sample){0};
    struct ue_cursor c = decode(decoded_view_run, "10100000", &m);
    assert_int_equal(m.number, 5);
    assert_ptr_equal(m.view.base, c.in);
    assert_int_equal(m.view.bit, 0);
    assert_int_equal(m.view.bits, 4);
}

static void elements_of_any_size(void **state) {
    static const uint8_t ids[] = {2, 3, 4};
    struct sample m = {.count = 2, .view = {ids, 0, 24}};
    encode(elements_run, m, "010000001100000000100000");
    m.count = 3;
    refuse(elements_run, m, UE_E_CONFLICT, UE_F_MAPPED_GUID);
    m = (struct sample){.count = 2};
    decode(elements_run, "01000000110000000010000011", &m);
    assert_int_equal(m.view.bits, 24);
    trace(elements_run, "010000001100000000100000", m);
    assert_int_equal(record_count, 2);
    reported(1, UE_F_MAPPED_GUID, 8, 16, 1 | 2 << 7, true);
    fail_at(elements_run, "0100000011000000", m, UE_E_TRUNCATED, UE_F_MAPPED_GUID, 8);
}

static void integers_of_more_than_64_bits(void **state) {
    const char *bits = "100000000000000000000000000000000000000000000000000000000000000011111111";
    struct sample m = {.wide = 1, .view = {ones, 0, 8}};
    encode(wide_run, m, bits);
    refuse(wide_run, (struct sample){.view = {ones, 0, 9}}, UE_E_RANGE, UE_F_EXPORT_GUID);
    trace(wide_run, bits, m);
    reported(0, UE_F_EXPORT_GUID, 0, 72, 1, true);
    fail_at(wide_run, "11", m, UE_E_LENGTH, UE_F_EXPORT_GUID, 0);
}

static void arrays_are_zero_after_the_last_element(void **state) {
    struct sample m = {.count = 1, .array = {1}};
    encode(uints_run, m, "10000000");
    m.array[1] = 1;
    refuse(uints_run, m, UE_E_ABSENT, UE_F_PACKET_HISTORY);
    decode(uints_run, "0100000011", &m);
    assert_true(m.array[0] == 2 && m.array[1] == 0);
    m.count = 2;
    fail_at(uints_run, "0100000011", m, UE_E_TRUNCATED, UE_F_PACKET_HISTORY, 8);
}

static void values_that_differ_from_their_bits(void **state) {
    struct sample m = {.number = 5};
    encode(shown_run, m, "10100000");
    trace(shown_run, "10100000", m);
    assert_int_equal(record_count, 1);
    reported(0, UE_F_VOICE_AMPLITUDE, 0, 8, 1005, true);
    encode(mapped_run, (struct sample){.number = 3}, "0100");
    refuse(mapped_run, (struct sample){.number = 0}, UE_E_RANGE, UE_F_PACKET_HISTORY_WORDS);
    refuse(mapped_run, (struct sample){.number = 9}, UE_E_RANGE, UE_F_PACKET_HISTORY_WORDS);
    assert_true(decode(mapped_run, "0100", &m).canonical && m.number == 3 && !m.shared);
    assert_true(!decode(mapped_run, "0001", &m).canonical && m.number == 8);
    trace(mapped_run, "1111", m);
    assert_int_equal(record_count, 2);
    reported(0, UE_F_PACKET_HISTORY_WORDS, 0, 4, 8, true);
    reported(1, UE_F_PACKET_HISTORY_FLUSH, 0, 4, 1, true);
    encode(below_mapped_run, (struct sample){.number = 7}, "0110");
    refuse(below_mapped_run, (struct sample){.number = 16}, UE_E_RANGE, UE_F_HANDLER_DECOMPRESSED_BYTES);
    refuse(shared_absent_run, (struct sample){.shared = true}, UE_E_ABSENT, UE_F_PACKET_HISTORY_FLUSH);
}

static void presence_by_the_bits_left(void **state) {
    struct sample m = {.flag = true, .number = 3};
    encode(more_run, m, "1100");
    refuse(more_run, (struct sample){.number = 3}, UE_E_ABSENT, UE_F_PACKET_SEQ);
    decode(more_run, "", &m);
    assert_true(!m.flag && m.number == 0);
    decode(more_run, "1000", &m);
    assert_true(m.flag && m.number == 1);
    encode(follows_run, (struct sample){.count = 2, .array = {1, 2}}, "1000000001000000");
    decode(follows_run, "10000000", &m);
    assert_true(m.count == 1 && m.array[0] == 1);
}

static void parts_that_a_flag_announces(void **state) {
    struct sample m = {.text.wide = true};
    refuse(text_if_run, m, UE_E_ABSENT, UE_F_BUNCH_NAME_TEXT);
    refuse(text_if_run, of_bits(0), UE_OK, UE_F_NONE);
    decode(text_if_run, "0", &m);
    assert_false(m.text.wide);
    refuse(bytes_if_run, (struct sample){.bytes = {0, 1}}, UE_E_ABSENT, UE_F_HANDLER_IV);
    encode(bytes_if_run, (struct sample){.flag = true, .bytes = {1, 2}}, "11000000001000000");
    decode(bytes_if_run, "0", &m);
    assert_int_equal(m.bytes[0], 0);
    encode(enum_if_run, (struct sample){.flag = true, .number = 14}, "10111");
    refuse(enum_if_run, (struct sample){.flag = true, .number = 15}, UE_E_RANGE, UE_F_BUNCH_CLOSE_REASON);
    refuse(enum_if_run, (struct sample){.number = 1}, UE_E_ABSENT, UE_F_BUNCH_CLOSE_REASON);
}

static void bits_ahead_and_the_end(void **state) {
    struct sample m = {0};
    struct ue_cursor c = decode(ahead_run, "11000000", &m);
    assert_true(m.flag && m.number == 3 && ue_cursor_left(&c) == 0);
    fail_at(complete_run, "11110", m, UE_E_TRAILING, UE_F_HANDSHAKE_RANDOM, 4);
    encode(complete_run, (struct sample){.number = 1}, "1000");
    fail_at(require_at_run, "1111", m, UE_E_TYPE, UE_F_CONTROL_TYPE, 0);
    refuse(require_at_run, (struct sample){.number = 9}, UE_E_TYPE, UE_F_CONTROL_TYPE);
}

static void terminators_end_what_precedes_them(void **state) {
    struct sample m = {.number = 5};
    encode(until_run, m, "1010100");
    assert_true(decode(until_run, "0100100", &m).canonical && m.number == 2);
    assert_false(decode(until_run, "010010", &m).canonical);
    fail_at(until_run, "0000000", m, UE_E_TERMINATOR, UE_F_TERMINATOR, 7);
    fail_at(until_run, "010100", m, UE_E_TRUNCATED, UE_F_PACKET_SEQ, 0);
    trace(until_run, "1010100", m);
    assert_int_equal(record_count, 2);
    reported(1, UE_F_TERMINATOR, 4, 1, 1, false);
}

static void derived_fields_are_only_reported(void **state) {
    struct sample m = {.number = 1};
    encode(generated_run, m, "1000");
    trace(generated_run, "1000", m);
    assert_int_equal(record_count, 3);
    assert_string_equal(records[1].string, "one");
    reported(2, UE_F_PACKET_ID, 0, 4, 9, false);
    trace(generated_run, "0000", m);
    assert_int_equal(record_count, 2);
    trace(generated_run, "100", m); /* nothing after a fault */
    assert_int_equal(record_count, 0);
}

static void on_end(void *user, enum ue_group group, size_t bit, const void *structure) {
    const struct sample *m = structure;
    assert_int_equal(group, UE_GROUP_PACKET);
    assert_int_equal(bit, 4);
    *(unsigned *)user = m->number;
}

static void a_group_ends_with_its_structure(void **state) {
    const uint8_t bytes[] = {0x0d};
    unsigned number = 0;
    const struct ue_trace sink = {.end = on_end, .user = &number};
    struct sample m = {0};
    struct ue_cursor c;
    ue_cursor_init_read(&c, bytes, 0, 8);
    c.trace = &sink;
    grouped_run(UE_TRACE, &c, &any, &m);
    assert_int_equal(number, 13);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_have_the_length_that_the_layout_says),
        cmocka_unit_test(views_after_their_length),
        cmocka_unit_test(elements_after_their_number),
        cmocka_unit_test(decoded_views_are_not_encoded),
        cmocka_unit_test(elements_of_any_size),
        cmocka_unit_test(integers_of_more_than_64_bits),
        cmocka_unit_test(arrays_are_zero_after_the_last_element),
        cmocka_unit_test(values_that_differ_from_their_bits),
        cmocka_unit_test(presence_by_the_bits_left),
        cmocka_unit_test(parts_that_a_flag_announces),
        cmocka_unit_test(bits_ahead_and_the_end),
        cmocka_unit_test(terminators_end_what_precedes_them),
        cmocka_unit_test(derived_fields_are_only_reported),
        cmocka_unit_test(a_group_ends_with_its_structure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
