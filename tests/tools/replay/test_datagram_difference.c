/* SPDX-License-Identifier: MIT */
/* How a difference between texts of two datagrams is printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <glib.h>

#include "tools/replay/datagram_difference.h"

static struct replay_difference difference;
static struct text_buffer out;

/* A datagram whose bunch opens a channel of this name. */
static void encode(const char *name, uint8_t *bytes, size_t *size_bytes) {
    glong units;
    g_autofree gunichar2 *wide = g_utf8_to_utf16(name, -1, NULL, &units, NULL);
    struct ue_item item = {.bunch = {.control = true,
                                     .open = true,
                                     .has_name = true,
                                     .channel = 3,
                                     .name.text = {{(const uint8_t *)wide, 0, (size_t)units * 16}, true}}};
    struct ue_datagram datagram = {.packet = {.history_words = 1}, .items = &item, .item_count = 1};
    struct ue_fault fault;
    assert_int_equal(
        ue_datagram_encode(&difference.context, &datagram, bytes, REPLAY_DIFFERENCE_BYTES, size_bytes, &fault), UE_OK);
}

static void compare(const char *expected, const char *actual) {
    difference = (struct replay_difference){.frame = 1};
    ue_context_init(&difference.context, ue_profile_find("5.0"), NULL);
    encode(expected, difference.expected, &difference.expected_bytes);
    encode(actual, difference.actual, &difference.actual_bytes);
    out.length = 0;
}

static void assert_printed(const char *text) {
    text_buffer_add_char(&out, '\0');
    if (strstr(out.text, text) == NULL || !g_utf8_validate(out.text, -1, NULL)) {
        fail_msg("\"%s\" is not in: %s", text, out.text);
    }
}

static void json_has_the_texts(void **state) {
    compare("Jose", "Joan");
    replay_difference_print_json(&difference, &out);
    assert_printed("\"expected_value\":\"\\\"Jose\\\"\",\"recorded_value\":\"\\\"Joan\\\"\"");
    compare("José", "\U0001f47e");
    replay_difference_print_json(&difference, &out);
    assert_printed("\"expected_value\":\"\\\"José\\\"\",\"recorded_value\":\"\\\"\U0001f47e\\\"\"");
}

/* Values of more than 64 bytes, with a quotation mark at each end: the last characters and the first difference. */
static void long_texts_are_cut_between_characters(void **state) {
    g_autofree char *sixty = g_strnfill(60, 'a');
    g_autofree char *expected = g_strconcat("X", sixty, "bé end of the text", NULL);
    g_autofree char *actual = g_strconcat("Y", sixty, "bé end of the text", NULL);
    compare(expected, actual);
    replay_difference_print(&difference, &out);
    g_autofree char *cut = g_strconcat("expected \"X", sixty, "b..., recorded \"Y", sixty, "b...\n", NULL);
    assert_printed(cut);
    g_autofree char *accent = g_strconcat("X", sixty, "abc\u00e9", NULL);
    g_autofree char *other = g_strconcat("X", sixty, "abc\u00e8", NULL);
    compare(accent, other);
    replay_difference_print(&difference, &out);
    assert_printed("expected ...\u00e9\", recorded ...\u00e8\"\n");
    text_buffer_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_has_the_texts),
        cmocka_unit_test(long_texts_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
