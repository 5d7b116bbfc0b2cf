/* SPDX-License-Identifier: MIT */
/* Keys: the syntax of a row, key logs that grow, and the keys that a session tries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libcodec/cipher/key_log_file.h"

#define HEX "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F"

static void rows_are_checked(void **state) {
    static const struct {
        struct ue_key_row row;
        bool is_key;
    } cases[] = {
        {{NULL, NULL, NULL, HEX}, true},
        {{"", "", "", HEX}, true},
        {{"*", "*", "a token", HEX}, true},
        {{"192.0.2.1", "7777", NULL, HEX}, true},
        {{"2001:db8::1", "65535", NULL, HEX}, true},
        {{"192.0.2", NULL, NULL, HEX}, false},
        {{"localhost", NULL, NULL, HEX}, false},
        {{NULL, "0", NULL, HEX}, false},
        {{NULL, "65536", NULL, HEX}, false},
        {{NULL, "77x", NULL, HEX}, false},
        {{NULL, "-1", NULL, HEX}, false},
        {{NULL, NULL, NULL, NULL}, false},
        {{NULL, NULL, NULL, ""}, false},
        {{NULL, NULL, NULL, HEX "0"}, false},
        {{NULL, NULL, NULL, "0g" HEX}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ue_key key;
        const char *problem = NULL;
        assert_int_equal(ue_key_parse(&cases[i].row, &key, &problem), cases[i].is_key);
        assert_int_equal(problem == NULL, cases[i].is_key);
    }
}

struct key_log {
    char path[32];
    struct ue_keys *keys;
};

static void write_log(const struct key_log *log, const char *mode, const char *text) {
    FILE *file = fopen(log->path, mode);
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int set_up(void **state) {
    static struct key_log log;
    strcpy(log.path, "/tmp/uerudp_keys_XXXXXX");
    close(mkstemp(log.path));
    log.keys = ue_keys_new();
    *state = &log;
    return log.keys == NULL;
}

static int tear_down(void **state) {
    struct key_log *log = *state;
    remove(log->path);
    ue_keys_free(log->keys);
    return 0;
}

static void lines_name_server_and_token(void **state) {
    struct key_log *log = *state;
    const char *problem = NULL;
    write_log(log, "w",
              "# keys\r\n\r\n" HEX "\r\n" HEX " 192.0.2.1:7777 a b: c \n"
              "  " HEX "\t[2001:db8::1]:80\n" HEX " 2001:db8::2\n" HEX " *:9 t\n" HEX " * t");
    assert_true(ue_keys_add_file(log->keys, log->path, &problem));
    static const struct {
        uint8_t address_bytes;
        uint16_t port;
        const char *token;
        unsigned line;
    } wanted[] = {{0, 0, "", 3},  {4, 7777, "a b: c ", 4}, {16, 80, "", 5},
                  {16, 0, "", 6}, {0, 9, "t", 7},          {0, 0, "t", 8}};
    assert_int_equal(ue_keys_count(log->keys), sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct ue_key *key = ue_keys_at(log->keys, i);
        char origin[UE_KEY_ORIGIN_BYTES];
        snprintf(origin, sizeof origin, "line %u of %s", wanted[i].line, strrchr(log->path, '/') + 1);
        assert_int_equal(key->end.address_bytes, wanted[i].address_bytes);
        assert_int_equal(key->end.port, wanted[i].port);
        assert_string_equal(key->token, wanted[i].token);
        assert_string_equal(key->origin, origin);
        assert_int_equal(key->bytes[31], 0x1f);
    }
    assert_int_equal(ue_keys_at(log->keys, 2)->end.address[15], 1);
}

static void bad_files_are_refused(void **state) {
    struct key_log *log = *state;
    static const char *const texts[] = {"not a key\n", HEX " nowhere\n", HEX " 192.0.2.1:0\n", HEX " [::1\n",
                                        HEX "x\n"};
    const char *problem = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_log(log, "w", texts[i]);
        problem = NULL;
        assert_false(ue_keys_add_file(log->keys, log->path, &problem));
        assert_non_null(problem);
    }
    assert_false(ue_keys_add_file(log->keys, "/nonexistent", &problem));
    assert_false(ue_keys_add_file(log->keys, "/", &problem));
    assert_false(ue_keys_add_file(log->keys, "/dev/zero", &problem));
    assert_int_equal(ue_keys_count(log->keys), 0);
    assert_false(ue_keys_refresh(log->keys));
}

/* An unfinished last line is used, and read again when it is complete; invalid lines are skipped. */
static void logs_grow(void **state) {
    struct key_log *log = *state;
    const char *problem = NULL;
    write_log(log, "w", "");
    assert_true(ue_keys_add_file(log->keys, log->path, &problem));
    assert_false(ue_keys_refresh(log->keys));
    write_log(log, "a", HEX " * one\n" HEX " * tw");
    assert_true(ue_keys_refresh(log->keys));
    assert_int_equal(ue_keys_count(log->keys), 2);
    assert_false(ue_keys_refresh(log->keys));
    write_log(log, "a", "o\nnonsense\n" HEX " * three\n");
    assert_true(ue_keys_refresh(log->keys));
    assert_int_equal(ue_keys_count(log->keys), 4);
    assert_string_equal(ue_keys_at(log->keys, 1)->token, "tw");
    assert_string_equal(ue_keys_at(log->keys, 2)->token, "two");
    assert_string_equal(ue_keys_at(log->keys, 3)->token, "three");
    assert_memory_equal(ue_keys_at(log->keys, 3)->origin, "line 4 of", 9);
    write_log(log, "w", HEX " * new\n");
    assert_true(ue_keys_refresh(log->keys));
    assert_string_equal(ue_keys_at(log->keys, 4)->token, "new");
    ue_keys_clear(log->keys);
    assert_false(ue_keys_refresh(log->keys));
}

static void there_is_an_end(void **state) {
    struct key_log *log = *state;
    const struct ue_key_row row = {.key = HEX};
    const char *problem = NULL;
    for (size_t i = 0; i < UE_KEYS_MAX; i++) {
        assert_true(ue_keys_add_row(log->keys, &row, "here", &problem));
    }
    assert_false(ue_keys_add_row(log->keys, &row, "here", &problem));
    write_log(log, "w", HEX "\n");
    assert_false(ue_keys_add_file(log->keys, log->path, &problem));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_checked),
        cmocka_unit_test_setup_teardown(lines_name_server_and_token, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_files_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(logs_grow, set_up, tear_down),
        cmocka_unit_test_setup_teardown(there_is_an_end, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
