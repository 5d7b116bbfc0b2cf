/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/settings.h>

static void set(struct ue_settings *settings, const char *key, const char *value) {
    assert_int_equal(ue_settings_set(settings, key, value), UE_SETTING_OK);
}

static void every_key_reaches_its_member(void **state) {
    struct ue_settings s = {0};
    set(&s, "magic_bits", "32");
    set(&s, "magic", "0x500C7696");
    set(&s, "skip_bytes", "8");
    set(&s, "max_packet", "1028");
    set(&s, "ch_seq_bound", "4096");
    set(&s, "extra_bits", "48");
    set(&s, "terminators", "1");
    set(&s, "handlers", "aesgcm,oodle");
    set(&s, "internal_ack", "true");
    set(&s, "guid_bits", "128");
    set(&s, "netver", "41");
    set(&s, "reliable_buffer", "512");
    assert_int_equal(s.magic_bits, 32);
    assert_int_equal(s.magic, 0x500c7696);
    assert_int_equal(s.skip_bytes, 8);
    assert_int_equal(s.max_packet_bytes, 1028);
    assert_int_equal(s.ch_seq_bound, 4096);
    assert_int_equal(s.extra_bits, 48);
    assert_int_equal(s.terminators, 1);
    assert_int_equal(s.handlers[0], UE_HANDLER_AESGCM);
    assert_int_equal(s.handlers[1], UE_HANDLER_OODLE);
    assert_int_equal(s.handlers[2], UE_HANDLER_NONE);
    assert_true(s.internal_ack);
    assert_int_equal(s.guid_bits, 128);
    assert_int_equal(s.netver, 41);
    assert_int_equal(s.reliable_buffer, 512);
    set(&s, "netver", "automatic");
    set(&s, "terminators", "automatic");
    set(&s, "max-packet", "0");
    set(&s, "handlers", "");
    set(&s, "internal-ack", "off");
    assert_int_equal(s.max_packet_bytes, 0);
    assert_int_equal(s.netver, 0);
    assert_int_equal(s.terminators, 0);
    assert_int_equal(s.handlers[0], UE_HANDLER_NONE);
    assert_false(s.internal_ack);
}

static void a_bad_value_is_refused_and_changes_nothing(void **state) {
    static const char *const pairs[][2] = {
        {"magic_bits", "33"},
        {"magic_bits", ""},
        {"magic_bits", "-1"},
        {"magic_bits", "1 "},
        {"magic_bits", " 1"},
        {"magic_bits", "0x"},
        {"magic_bits", "1e1"},
        {"magic", "0x100000000"},
        {"max_packet", "65536"},
        {"ch_seq_bound", "1000"},
        {"extra_bits", "4097"},
        {"terminators", "3"},
        {"handlers", "rot13"},
        {"handlers", "oodle,"},
        {"handlers", ",oodle"},
        {"handlers", "oodle aesgcm"},
        {"handlers", "oodle,oodle,oodle,oodle,oodle"},
        {"internal_ack", "maybe"},
        {"guid_bits", "64"},
        {"skip_bytes", "automatic"},
        {"netver", "61"},
        {"skip_bytes", "99999999999999999999999999"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct ue_settings settings = {.terminators = 2, .magic = 7};
        struct ue_settings before = settings;
        if (ue_settings_set(&settings, pairs[i][0], pairs[i][1]) != UE_SETTING_BAD_VALUE) {
            fail_msg("%s took \"%s\"", pairs[i][0], pairs[i][1]);
        }
        assert_memory_equal(&settings, &before, sizeof before);
    }
}

static void rows_name_the_keys(void **state) {
    size_t count = 0;
    for (const struct ue_setting_row *row; (row = ue_setting_row(count)) != NULL; count++) {
        struct ue_settings settings = {0};
        assert_true(row->description[0] != '\0');
        assert_int_not_equal(ue_settings_set(&settings, row->key, "x"), UE_SETTING_UNKNOWN);
    }
    assert_int_equal(count, 12);
    struct ue_settings settings = {0};
    assert_int_equal(ue_settings_set(&settings, "magic_bit", "1"), UE_SETTING_UNKNOWN);
    assert_int_equal(ue_settings_set(&settings, "magic_bits_", "1"), UE_SETTING_UNKNOWN);
    assert_int_equal(ue_settings_set(&settings, "", "1"), UE_SETTING_UNKNOWN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_reaches_its_member),
        cmocka_unit_test(a_bad_value_is_refused_and_changes_nothing),
        cmocka_unit_test(rows_name_the_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
