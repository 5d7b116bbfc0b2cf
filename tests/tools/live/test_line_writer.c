/* SPDX-License-Identifier: MIT */
/* Lines into a pipe whose reader reads everything, reads slowly, reads nothing, or has closed the pipe. */
#define _GNU_SOURCE /* F_SETPIPE_SZ */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
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

#define LINES 20000
#define LINE_BYTES 64

static int ends[2]; /* of the pipe, which holds a page */

static struct line_writer *open_writer(void) {
    assert_int_equal(pipe(ends), 0);
#ifdef F_SETPIPE_SZ
    fcntl(ends[1], F_SETPIPE_SZ, 4096);
#endif
    return line_writer_new(ends[1]);
}

static char *line(unsigned number) {
    static char text[LINE_BYTES + 1];
    snprintf(text, sizeof text, "%0*u\n", LINE_BYTES - 1, number);
    return text;
}

struct reading {
    unsigned pause_us; /* after each read */
    unsigned lines;
    bool is_wrong;
};

/* Reads lines that count from 0. */
static void *read_lines(void *user) {
    struct reading *reading = user;
    char bytes[LINE_BYTES];
    size_t have = 0;
    ssize_t size;
    while (reading->lines < LINES && (size = read(ends[0], bytes + have, sizeof bytes - have)) > 0) {
        have += (size_t)size;
        if (have == sizeof bytes) {
            reading->is_wrong |= memcmp(bytes, line(reading->lines++), sizeof bytes) != 0;
            have = 0;
            g_usleep(reading->lines % 100 == 0 ? reading->pause_us : 0);
        }
    }
    return NULL;
}

static void write_lines_to(unsigned pause_us, int flags) {
    struct line_writer *writer = open_writer();
    fcntl(ends[1], F_SETFL, flags);
    struct reading reading = {.pause_us = pause_us};
    GThread *reader = NULL;
    uint64_t lost;
    char copy[LINE_BYTES + 1];
    for (unsigned i = 0; i < LINES; i++) {
        snprintf(copy, sizeof copy, "%0*u\n", LINE_BYTES - 1, i);
        assert_true(line_writer_write(writer, copy));
        if (i == 10) {
            reader = g_thread_new("reader", read_lines, &reading);
        }
    }
    assert_true(line_writer_close(writer, &lost));
    assert_int_equal(lost, 0);
    close(ends[1]); /* the reader ends when it has read all */
    g_thread_join(reader);
    assert_int_equal(reading.lines, LINES);
    assert_false(reading.is_wrong);
    close(ends[0]);
}

static void all_lines_are_written_in_order(void **state) {
    write_lines_to(0, 0);
}

static void a_slow_reader_loses_nothing(void **state) {
    write_lines_to(5000, 0);
}

/* Another process that shares the descriptor may have set O_NONBLOCK. */
static void a_non_blocking_descriptor_loses_nothing(void **state) {
    write_lines_to(5000, O_NONBLOCK);
}

static void a_reader_that_reads_nothing_does_not_block(void **state) {
    struct line_writer *writer = open_writer();
    uint64_t lost, put = 0;
    gint64 begun_us = g_get_monotonic_time();
    while (line_writer_write(writer, line(0))) {
        put++;
    }
    assert_true(is_within(put * LINE_BYTES, LINE_WRITER_BYTES - LINE_BYTES, LINE_WRITER_BYTES + 65536 + 4096));
    assert_true(line_writer_close(writer, &lost));
    assert_true(is_within(lost, LINE_WRITER_BYTES / LINE_BYTES - 1024, put));
    assert_true(g_get_monotonic_time() - begun_us < 10 * LINE_WRITER_TIMEOUT_US);
    close(ends[0]); /* and the thread ends */
}

static void a_closed_reader_is_an_error(void **state) {
    struct line_writer *writer = open_writer();
    uint64_t lost;
    close(ends[0]);
    line_writer_write(writer, line(0));
    assert_false(line_writer_close(writer, &lost));
    assert_int_equal(errno, EPIPE);
    assert_int_equal(lost, 1);
    close(ends[1]);
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_lines_are_written_in_order),
        cmocka_unit_test(a_slow_reader_loses_nothing),
        cmocka_unit_test(a_non_blocking_descriptor_loses_nothing),
        cmocka_unit_test(a_reader_that_reads_nothing_does_not_block),
        cmocka_unit_test(a_closed_reader_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
