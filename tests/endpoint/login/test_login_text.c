/* SPDX-License-Identifier: MIT */
/* Conversion of engine texts from and to UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tools/endpoint/login/login_text.h"

#define TEXT_BYTES 64

static struct ue_text text_of(const void *units, size_t count, bool wide) {
    return (struct ue_text){{units, 0, count * (wide ? 16 : 8)}, wide};
}

static void engine_texts_convert_to_utf8(void **state) {
    static const struct {
        const char *units;
        size_t count;
        bool wide;
        const char *utf8;
    } cases[] = {
        {"", 0, false, ""},
        {"A~\x7f\x80\xff", 5, false, "A~\x7f\xc2\x80\xc3\xbf"}, /* Latin-1 */
        {"a\0b", 3, false, "a"},
        {"\xff\x07\x00\x08\xff\xff", 3, true, "\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf"},
        {"\x00\xd8\x00\xdc\xff\xdb\xff\xdf", 4, true, "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
        {"\x00\xd8x\0", 2, true, "\xef\xbf\xbdx"}, /* high surrogate without a low one */
        {"\x00\xdcx\0", 2, true, "\xef\xbf\xbdx"}, /* low surrogate alone */
        {"\x00\xd8\x00\xd8\x00\xdc", 3, true, "\xef\xbf\xbd\xf0\x90\x80\x80"},
        {"x\0\x00\xd8", 2, true, "x\xef\xbf\xbd"},
        {"\xff\xd7\x00\xe0", 2, true, "\xed\x9f\xbf\xee\x80\x80"}, /* next to the surrogates */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char utf8[TEXT_BYTES];
        ue_text_to_utf8(text_of(cases[i].units, cases[i].count, cases[i].wide), utf8, sizeof utf8);
        assert_string_equal(utf8, cases[i].utf8);
    }
}

/* A text of four UTF-8 bytes needs five; a character that does not fit is omitted. */
static void texts_are_truncated_at_whole_characters(void **state) {
    static const char *const expected[] = {"",
                                           "a",
                                           "a",
                                           "a\xc3\xab",
                                           "a\xc3\xab"
                                           "b",
                                           "a\xc3\xab"
                                           "b"};
    for (size_t size_bytes = 1; size_bytes <= 6; size_bytes++) {
        char utf8[TEXT_BYTES];
        memset(utf8, '#', sizeof utf8);
        ue_text_to_utf8(text_of("a\xeb"
                                "b",
                                3, false),
                        utf8, size_bytes);
        assert_string_equal(utf8, expected[size_bytes - 1]);
        assert_int_equal(utf8[size_bytes], '#');
    }
}

static void utf8_converts_to_engine_texts(void **state) {
    static const struct {
        const char *utf8;
        bool wide;
        const char *units;
        size_t size_bytes;
    } cases[] = {
        {NULL, false, "", 0},
        {"", false, "", 0},
        {"A\x7f", false, "A\x7f", 2},
        {"\xc2\x80\xdf\xbf", true, "\x80\x00\xff\x07", 4},
        {"A\xe0\xa0\x80", true, "A\0\x00\x08", 4},
        {"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", true, "\x00\xd8\x00\xdc\xff\xdb\xff\xdf", 8},
        {"\x80z", true, "\xfd\xffz\0", 4},                                 /* a continuation alone */
        {"\xc1\xbf", true, "\xfd\xff\xfd\xff", 4},                         /* not the shortest form */
        {"\xed\xa0\x80", true, "\xfd\xff\xfd\xff\xfd\xff", 6},             /* a surrogate */
        {"\xf4\x90\x80\x80", true, "\xfd\xff\xfd\xff\xfd\xff\xfd\xff", 8}, /* beyond U+10FFFF */
        {"\xe6\x9d", true, "\xfd\xff\xfd\xff", 4},                         /* truncated */
        {"\xff", true, "\xfd\xff", 2},
        {"\xed\x9f\xbf\xee\x80\x80", true, "\xff\xd7\x00\xe0", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t units[TEXT_BYTES];
        struct ue_text text = ue_text_from_utf8(cases[i].utf8, units);
        assert_int_equal(text.wide, cases[i].wide);
        assert_int_equal(text.units.bits, cases[i].size_bytes * 8);
        assert_memory_equal(units, cases[i].units, cases[i].size_bytes);
    }
}

static void unique_ids_convert_to_text_or_digits(void **state) {
    static const uint8_t bytes[] = {0x0a, 0xf3, 0x91};
    static const struct {
        uint8_t flags;
        const char *utf8;
    } cases[] = {
        {0x11, "0af391"}, {0x15, "af391"}, {0xf5, "0af391"}}; /* packed; padded; of the V2 type, never padded */
    char utf8[TEXT_BYTES];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ue_unique_id id = {.flags = cases[i].flags, .bytes = {bytes, 0, 24}};
        ue_unique_id_to_utf8(&id, utf8, sizeof utf8);
        assert_string_equal(utf8, cases[i].utf8);
    }
    struct ue_unique_id plain = {.flags = 8, .text = text_of("id-1", 4, false)};
    ue_unique_id_to_utf8(&plain, utf8, sizeof utf8);
    assert_string_equal(utf8, "id-1");
    struct ue_unique_id packed = {.flags = 0x11, .bytes = {bytes, 0, 24}};
    memset(utf8, '#', sizeof utf8);
    ue_unique_id_to_utf8(&packed, utf8, 4);
    assert_string_equal(utf8, "0af");
    assert_int_equal(utf8[4], '#');
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engine_texts_convert_to_utf8),
        cmocka_unit_test(texts_are_truncated_at_whole_characters),
        cmocka_unit_test(utf8_converts_to_engine_texts),
        cmocka_unit_test(unique_ids_convert_to_text_or_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
