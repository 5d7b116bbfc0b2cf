/* SPDX-License-Identifier: MIT */
/* Reports of live programs to a reader that starts late: a line counts the dropped lines where they are missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <glib.h>

#include "tests/support/within.h"
#include "tools/live/line_writer.h"
#include "tools/live/endpoint_report.h"

#define LARGE_BYTES (1u << 20)
#define LARGE_LINES 24       /* of which some 16 are kept */
#define ROOM_BYTES (9 << 20) /* a writer that dropped lines goes on when less than half of its 16 MiB is waiting */

#define READ_MS_MAX 60000

static int ends[2];
static GString *received;
static gint received_bytes; /* of received, for the other thread */

static void *read_all(void *user) {
    char bytes[65536];
    ssize_t size;
    while ((size = read(ends[0], bytes, sizeof bytes)) > 0) {
        g_string_append_len(received, bytes, size);
        g_atomic_int_set(&received_bytes, (gint)received->len);
    }
    return NULL;
}

static void report_number(bool as_json, int number) {
    live_report(as_json, "number", json_pack("{s:i}", "is", number));
}

/* Reports more lines than fit before the reader starts, then one more line. Returns what the reader reads. */
static char **report_too_much(bool as_json) {
    char *large = g_strnfill(LARGE_BYTES, 'x');
    int output = dup(STDOUT_FILENO);
    assert_int_equal(pipe(ends), 0);
    received = g_string_new(NULL);
    g_atomic_int_set(&received_bytes, 0);
    fflush(stdout);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    live_report_start(as_json);
    report_number(as_json, 1);
    for (int i = 0; i < LARGE_LINES; i++) {
        live_report(as_json, "large", json_pack("{s:s}", "text", large));
    }
    GThread *reader = g_thread_new("reader", read_all, NULL);
    for (int ms = 0; g_atomic_int_get(&received_bytes) < ROOM_BYTES && ms < READ_MS_MAX; ms++) {
        g_usleep(1000);
    }
    report_number(as_json, 2);
    bool good = live_report_stop();
    dup2(output, STDOUT_FILENO); /* the reader's end */
    close(output);
    g_thread_join(reader);
    close(ends[0]);
    g_free(large);
    assert_true(good); /* the error was reported */
    char **read_lines = g_strsplit(received->str, "\n", -1);
    g_string_free(received, TRUE);
    return read_lines;
}

static void check(bool as_json, const char *first, const char *dropped_format, const char *last) {
    char **lines = report_too_much(as_json);
    unsigned count = g_strv_length(lines); /* and an empty one */
    int kept = 0;
    assert_string_equal(lines[0], first);
    while (strlen(lines[1 + kept]) > LARGE_BYTES) {
        kept++;
    }
    assert_true(is_within((uint64_t)kept, 14, 18));
    char *dropped = g_strdup_printf(dropped_format, LARGE_LINES - kept);
    assert_string_equal(lines[1 + kept], dropped);
    assert_string_equal(lines[2 + kept], last);
    assert_int_equal(count, 4 + kept);
    g_free(dropped);
    g_strfreev(lines);
}

static void dropped_lines_are_counted_where_they_are_missing(void **state) {
    check(false, "number: is 1", "dropped: lines %d", "number: is 2");
    check(true, "{\"schema\":1,\"event\":\"number\",\"is\":1}", "{\"schema\":1,\"event\":\"dropped\",\"lines\":%d}",
          "{\"schema\":1,\"event\":\"number\",\"is\":2}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dropped_lines_are_counted_where_they_are_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
