/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tools/capture/capture_address.h"

static void text_and_back(void **state) {
    static const char *const texts[] = {
        "10.0.0.1:7777",
        "255.255.255.255:65535",
        "0.0.0.0:0",
        "[fe80::1]:7777",
        "[::]:0",
        "[2001:db8:1:2:3:4:5:6]:65535",
        "[::ffff:255.255.255.255]:65535",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct capture_address address;
        char text[CAPTURE_ADDRESS_TEXT_BYTES];

        assert_true(capture_address_parse(texts[i], &address));
        assert_int_equal(address.family, texts[i][0] == '[' ? CAPTURE_IPV6 : CAPTURE_IPV4);
        assert_string_equal(capture_address_format(&address, text), texts[i]);
    }
}

static void members_are_as_documented(void **state) {
    static const struct capture_address expected = {{10, 1, 2, 3}, 7777, CAPTURE_IPV4};
    struct capture_address address;

    assert_true(capture_address_parse("10.1.2.3:7777", &address));
    assert_memory_equal(&address, &expected, sizeof expected);
}

static void other_texts_are_refused(void **state) {
    static const char *const texts[] = {
        "",
        ":",
        "10.0.0.1",
        "10.0.0.1:",
        "10.0.0.1:65536",
        "10.0.0.1:-1",
        "10.0.0.1:7a",
        "10.0.0.1: 7",
        "10.0.0:1",
        "10.0.0.256:1",
        "fe80::1:7777",
        "[fe80::1]7777",
        "[fe80::1]",
        "[fe80::1:7777",
        "[]:1",
        "[10.0.0.1]:1",
        "[fe80::1]]:1",
        "10.0.0.1:99999999999999999999",
        "]:1",
        "[:1",
        "[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]:1",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct capture_address address = {.port = 4711};

        assert_false(capture_address_parse(texts[i], &address));
        assert_int_equal(address.port, 4711);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_back),
        cmocka_unit_test(members_are_as_documented),
        cmocka_unit_test(other_texts_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
