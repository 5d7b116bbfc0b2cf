/* SPDX-License-Identifier: MIT */
#include "tests/codec/vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/recordings.h"

#define FILE_BYTES_MAX 200000

static char *read_file(const char *path) {
    static char text[FILE_BYTES_MAX];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    assert_true(feof(file));
    fclose(file);
    return text;
}

/* jansson refuses integers beyond 63 bits. */
static void cut_large_numbers(char *text) {
    for (char *at = text; (at = strstr(at, "\":")) != NULL;) {
        at += 2;
        at += strspn(at, " ");
        size_t digits = strspn(at, "0123456789");
        if (digits > 18) {
            memset(at + 1, ' ', digits - 1);
        }
    }
}

/* Appends the entries of a file, except those whose name is already in the array. */
static void append_file(json_t *all, const char *path, const char *key, size_t flags) {
    json_error_t error;
    if (access(path, R_OK) != 0) {
        return;
    }
    char *text = read_file(path);
    if ((flags & JSON_DECODE_INT_AS_REAL) == 0) {
        cut_large_numbers(text);
    }
    json_t *file = json_loads(text, flags, &error);
    if (file == NULL) {
        fail_msg("%s:%d: %s", path, error.line, error.text);
    }
    size_t own_count = json_array_size(all), i;
    json_t *entry;
    json_array_foreach(json_object_get(file, key), i, entry) {
        const json_t *name = json_object_get(entry, "name");
        bool is_known = false;
        for (size_t k = 0; k < own_count && name != NULL; k++) {
            is_known = is_known || json_equal(name, json_object_get(json_array_get(all, k), "name"));
        }
        if (!is_known) {
            json_array_append(all, entry);
        }
    }
    json_decref(file);
}

json_t *vectors_load(const char *file_name, const char *key, size_t flags) {
    char path[RECORDING_PATH_BYTES];
    json_t *all = json_array();
    snprintf(path, sizeof path, "tests/codec/vectors/%s", file_name);
    append_file(all, path, key, flags);
    snprintf(path, sizeof path, "%s/spec/vectors/%s", recordings_shared(), file_name);
    append_file(all, path, key, flags);
    return all;
}
