/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tools/cli/suggestion.h"

static void expect(const char *word, const GPtrArray *names, const char *expected) {
    char *text = suggestion_text(word, names, "none");
    assert_string_equal(text, expected);
    g_free(text);
}

static void test_near_and_far(void **state) {
    static const char *const words[] = {"decode",     "encode",       "info",  "packet.seq",
                                        "packet.ack", "bunch.ch_seq", "--json"};
    GPtrArray *names = g_ptr_array_new();
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        g_ptr_array_add(names, (char *)words[i]);
    }
    expect("decod", names, "; did you mean decode?"); /* a missing letter */
    expect("inof", names, "; did you mean info?");    /* swapped letters */
    expect("Info", names, "; did you mean info?");    /* case */
    expect("bunch.ch-seq", names, "; did you mean bunch.ch_seq?");
    expect("xxcode", names, "; did you mean decode or encode?");
    expect("seq", names, "; did you mean packet.seq?"); /* the last part */
    expect("dec", names, "; did you mean decode?");     /* the beginning */
    expect("--jsn", names, "; did you mean --json?");
    expect("nonsense", names, "none");
    expect("i", names, "none");
    expect("", names, "none");
    expect("infoinfoinfoinfoinfoinfoinfoinfoinfoinfoinfoinfoinfoinfo", names, "none"); /* longer than any name */
    g_ptr_array_unref(names);
}

/* More than four names that are equally near help nobody. */
static void test_too_many(void **state) {
    GPtrArray *names = g_ptr_array_new();
    static const char *const words[] = {"5.1", "5.2", "5.3", "5.4", "5.5"};
    for (size_t i = 0; i < 4; i++) {
        g_ptr_array_add(names, (char *)words[i]);
    }
    expect("5.9", names, "; did you mean 5.1, 5.2, 5.3 or 5.4?");
    g_ptr_array_add(names, (char *)words[4]);
    expect("5.9", names, "none");
    g_ptr_array_unref(names);
}

static void test_fields_and_releases(void **state) {
    GPtrArray *names = g_ptr_array_new();
    suggestion_add_fields(names);
    expect("packt.seq", names, "; did you mean packet.seq?");
    expect("analysis.lost", names, "none"); /* of the plugin */
    g_ptr_array_set_size(names, 0);
    suggestion_add_releases(names);
    assert_int_equal(names->len, 24);
    assert_string_equal(g_ptr_array_index(names, 0), "4.13");
    assert_string_equal(g_ptr_array_index(names, 23), "5.8");
    g_ptr_array_unref(names);
    char *text = suggestion_of_release("UE5.3");
    assert_string_equal(text, "");
    g_free(text);
    text = suggestion_of_release("5,3");
    assert_string_equal(text, "; did you mean 5.3?");
    g_free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near_and_far),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_fields_and_releases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
