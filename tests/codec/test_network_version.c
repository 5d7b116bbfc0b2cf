/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/network_version.h>

/* protocol.md 16. */
static void checksums_of_known_builds(void **state) {
    struct ue_project example = {.name = "Example"};
    assert_true(ue_network_version_checksum(&example, 23) == 2358803763u);
    assert_true(ue_network_version_checksum(&example, 30) == 2743834095u);
    struct ue_project template = {.name = "ThirdPerson", .version = "1.0.0.0", .changelist = 19505902};
    assert_true(ue_network_version_checksum(&template, 23) == 2354465482u);
}

static void text_and_parts_agree(void **state) {
    const char *text = "My Game 2.3.0.1, NetCL: 4294967295, EngineNetVer: 7, GameNetVer: 12";
    struct ue_project project = {"My Game", "2.3.0.1", UINT32_MAX, 12};
    assert_true(ue_network_version_checksum(&project, 7) == ue_network_version_checksum_text(text, strlen(text)));
}

/* An "é" counts as the one character U+00E9. */
static void names_are_read_as_utf8(void **state) {
    assert_true(ue_network_version_checksum_text("\xc3\xa9", 2) != ue_network_version_checksum_text("\xc3\xc9", 2));
    assert_true(ue_network_version_checksum_text("\xc3\xa9", 2) ==
                ue_network_version_checksum_text("\xe9", 1)); /* cut: byte for byte */
    assert_true(ue_network_version_checksum_text("A", 1) == ue_network_version_checksum_text("a", 1));
    assert_true(ue_network_version_checksum_text("", 0) == 0);
}

static void the_network_version_is_learned(void **state) {
    struct ue_project example = {.name = "Example"};
    assert_int_equal(ue_network_version_find(&example, 2358803763u), 23);
    assert_int_equal(ue_network_version_find(&example, 2743834095u), 30);
    assert_int_equal(ue_network_version_find(&example, ue_network_version_checksum(&example, UE_NETWORK_VERSION_MAX)),
                     UE_NETWORK_VERSION_MAX);
    assert_int_equal(
        ue_network_version_find(&example, ue_network_version_checksum(&example, UE_NETWORK_VERSION_MAX + 1)), 0);
    assert_int_equal(ue_network_version_find(&example, 1645622576), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksums_of_known_builds),
        cmocka_unit_test(text_and_parts_agree),
        cmocka_unit_test(names_are_read_as_utf8),
        cmocka_unit_test(the_network_version_is_learned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
