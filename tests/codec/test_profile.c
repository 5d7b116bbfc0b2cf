/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/profile.h>

static void every_release_finds_the_row_that_introduced_its_form(void **state) {
    static const char *const pairs[][2] = {
        {"4.13", "4.13"}, {"4.14", "4.14"}, {"4.16", "4.14"}, {"4.17", "4.14"}, {"4.18", "4.18"}, {"4.19", "4.19"},
        {"4.20", "4.20"}, {"4.21", "4.20"}, {"4.22", "4.22"}, {"4.23", "4.22"}, {"4.24", "4.24"}, {"4.25", "4.25"},
        {"4.27", "4.25"}, {"5.0", "4.25"},  {"5.1", "5.1"},   {"5.3", "5.1"},   {"5.4", "5.4"},   {"5.5", "5.5"},
        {"5.6", "5.5"},   {"5.7", "5.5"},   {"5.8", "5.8"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct ue_profile *found = ue_profile_find(pairs[i][0]);
        assert_non_null(found);
        assert_string_equal(found->name, pairs[i][1]);
        assert_ptr_equal(ue_profile_at(ue_profile_index(found)), found);
    }
}

/* A game's own profile may be one with another name. */
static void a_profile_with_another_name_has_the_row_of_its_form(void **state) {
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        struct ue_profile own = *ue_profile_at(row);
        own.name = "a game's own";
        assert_int_equal(row, ue_profile_index(&own));
        own.channel_bound--;
        assert_int_equal(UE_PROFILE_COUNT - 1, ue_profile_index(&own));
    }
}

static void a_row_names_the_releases_that_speak_it(void **state) {
    static const char *const pairs[][2] = {
        {"4.13", "4.13"},         {"4.14", "4.14 to 4.17"}, {"4.18", "4.18"},      {"4.19", "4.19"},
        {"4.20", "4.20 to 4.21"}, {"4.22", "4.22 to 4.23"}, {"4.24", "4.24"},      {"4.25", "4.25 to 5.0"},
        {"5.1", "5.1 to 5.3"},    {"5.4", "5.4"},           {"5.5", "5.5 to 5.7"}, {"5.8", "5.8"},
    };
    char text[UE_RELEASES_CHARS];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_string_equal(ue_profile_releases(ue_profile_find(pairs[i][0]), text), pairs[i][1]);
    }
    const struct ue_profile own = {.name = "a game's own"};
    assert_string_equal(ue_profile_releases(&own, text), own.name);
}

static void other_texts_are_no_release(void **state) {
    static const char *const texts[] = {"",     "4",     "4.",    "4.12", "4.28",  "5.9",  "5.10", "3.13", "4.1",
                                        "5.01", "4.130", "4.13 ", "auto", "5.1.1", "4,13", "6.0",  "5.-1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_null(ue_profile_find(texts[i]));
    }
    assert_null(ue_profile_at(UE_PROFILE_COUNT));
}

/* The rules of protocol.md 3, by network version. */
static void rows_follow_the_rules_by_network_version(void **state) {
    for (size_t i = 0; i < UE_PROFILE_COUNT; i++) {
        const struct ue_profile *p = ue_profile_at(i);
        enum ue_packet_layout packet = p->netver < 8    ? UE_PACKET_LEGACY
                                       : p->netver < 14 ? UE_PACKET_KBPS
                                       : p->netver < 44 ? UE_PACKET_JITTER
                                                        : UE_PACKET_HISTORY_SEQ;
        assert_int_equal(p->packet, packet);
        assert_int_equal(p->channel, p->netver < 3 ? UE_CHANNEL_BOUNDED : UE_CHANNEL_PACKED);
        assert_int_equal(p->custom_exports, p->netver >= 36);
        assert_int_equal(p->channel_bound, p->netver < 3 ? 10240 : 32767);
        assert_true(i == 0 || ue_profile_at(i - 1)->netver <= p->netver);
    }
    assert_false(ue_profile_find("4.13")->paused);
    assert_true(ue_profile_find("4.14")->paused);
    assert_int_equal(ue_profile_find("4.18")->max_packet_bytes, 512);
    assert_int_equal(ue_profile_find("4.19")->max_packet_bytes, 1024);
}

static void a_context_resolves_settings(void **state) {
    struct ue_context x;
    ue_context_init(&x, ue_profile_find("5.4"), NULL);
    assert_int_equal(x.data_bound, 8192);
    assert_int_equal(x.ch_seq_bound, 1024);
    assert_int_equal(x.settings.terminators, 2);
    assert_int_equal(x.direction, UE_DIRECTION_UNKNOWN);
    assert_true(x.ids && x.features && !x.restarting);

    struct ue_settings settings = {.max_packet_bytes = 1028, .ch_seq_bound = 4096, .terminators = 1};
    ue_context_init(&x, ue_profile_find("4.25"), &settings);
    assert_int_equal(x.data_bound, 8224);
    assert_int_equal(x.ch_seq_bound, 4096);
    assert_int_equal(x.settings.terminators, 1);
    assert_true(!x.ids && !x.features);

    settings = (struct ue_settings){.internal_ack = true, .terminators = 2};
    ue_context_init(&x, ue_profile_find("4.22"), &settings);
    assert_int_equal(x.data_bound, 16384);
    assert_int_equal(x.settings.terminators, 1);
}

static void directions_reverse(void **state) {
    assert_int_equal(ue_direction_reverse(UE_CLIENT_TO_SERVER), UE_SERVER_TO_CLIENT);
    assert_int_equal(ue_direction_reverse(UE_SERVER_TO_CLIENT), UE_CLIENT_TO_SERVER);
    assert_int_equal(ue_direction_reverse(UE_DIRECTION_UNKNOWN), UE_DIRECTION_UNKNOWN);
}

static void handlers_have_names(void **state) {
    for (int i = UE_HANDLER_OODLE; i <= UE_HANDLER_RELIABILITY; i++) {
        const char *name = ue_handler_name((enum ue_handler)i);
        assert_non_null(name);
        assert_int_equal(ue_handler_find(name, strlen(name)), i);
        assert_int_equal(ue_handler_find(name, strlen(name) - 1), UE_HANDLER_NONE);
    }
    assert_int_equal(ue_handler_find("aesgcm-bytes", 6), UE_HANDLER_AESGCM);
    assert_null(ue_handler_name(UE_HANDLER_NONE));
    assert_null(ue_handler_name((enum ue_handler)99));
}

static void lists_of_handlers_read_back(void **state) {
    static const char *const lists[] = {"", "oodle", "oodle,aesgcm",
                                        "reliability,aesgcm-bytes,aesgcm-bytes,aesgcm-bytes"};
    static const char *const bad[] = {"oodle,",       ",",          ",oodle",
                                      "oodle aesgcm", "oodle,none", "dtls,dtls,dtls,dtls,dtls"};
    enum ue_handler handlers[UE_HANDLERS_MAX] = {UE_HANDLER_DTLS, UE_HANDLER_DTLS, UE_HANDLER_DTLS, UE_HANDLER_DTLS};
    char text[UE_HANDLERS_CHARS];
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        assert_true(ue_handlers_parse(lists[i], handlers));
        assert_string_equal(ue_handlers_text(handlers, text), lists[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(ue_handlers_parse(bad[i], handlers));
        assert_string_equal(ue_handlers_text(handlers, text), lists[3]);
    }
}

static uint16_t mask_of(const char *const releases[]) {
    uint16_t mask = 0;
    for (size_t i = 0; releases[i] != NULL; i++) {
        mask |= (uint16_t)(1u << ue_profile_index(ue_profile_find(releases[i])));
    }
    return mask;
}

static void ranges_join_neighbours(void **state) {
    static const struct {
        const char *const releases[5];
        const char *range;
    } rows[] = {
        {{NULL}, ""},
        {{"4.24", NULL}, "4.24"},
        {{"4.22", "4.24", NULL}, "4.22 to 4.24"},
        {{"5.1", "5.4", "5.5", NULL}, "5.1 to 5.7"},
        {{"4.13", "4.20", "5.5", "5.8", NULL}, "4.13, 4.20 to 4.21, 5.5 to 5.8"},
    };
    char text[UE_RANGE_CHARS];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(ue_profile_range(mask_of(rows[i].releases), text), rows[i].range);
    }
    assert_string_equal(ue_profile_range(UE_PROFILE_ALL, text), "4.13 to 5.8");
    for (unsigned mask = 0; mask <= UE_PROFILE_ALL; mask++) {
        assert_true(strlen(ue_profile_range((uint16_t)mask, text)) < sizeof text);
    }
}

static void only_4_22_and_4_24_have_the_same_wire(void **state) {
    for (unsigned one = 0; one < UE_PROFILE_COUNT; one++) {
        for (unsigned other = 0; other < one; other++) {
            bool is_pair =
                strcmp(ue_profile_at(other)->name, "4.22") == 0 && strcmp(ue_profile_at(one)->name, "4.24") == 0;
            assert_int_equal(ue_profile_same_wire((uint16_t)(1u << one | 1u << other)), is_pair);
        }
    }
    assert_true(ue_profile_same_wire(1));
    assert_false(ue_profile_same_wire(0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_join_neighbours),
        cmocka_unit_test(only_4_22_and_4_24_have_the_same_wire),
        cmocka_unit_test(every_release_finds_the_row_that_introduced_its_form),
        cmocka_unit_test(a_profile_with_another_name_has_the_row_of_its_form),
        cmocka_unit_test(a_row_names_the_releases_that_speak_it),
        cmocka_unit_test(other_texts_are_no_release),
        cmocka_unit_test(rows_follow_the_rules_by_network_version),
        cmocka_unit_test(a_context_resolves_settings),
        cmocka_unit_test(directions_reverse),
        cmocka_unit_test(handlers_have_names),
        cmocka_unit_test(lists_of_handlers_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
