/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This file defines the functions of Wireshark that capture_end.c calls, and calls what it registers as Wireshark's
   window does: a frame is known from the time on at which it is read, and a file that is dissected again is known
   whole.
 */
#include "plugin/first_pass/capture_end.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <epan/column-info.h>
#include <epan/frame_data.h>
#include <epan/packet.h>

static frame_data frames[8]; /* stays at its address from file to file */
static uint32_t known;       /* frames of the file */
static dissector_t on_frame;
static void (*on_end)(void);

#define PARENT 3
#define NAME 4

/* Wireshark calls a dissector after frames only if it is one of a protocol that is enabled. */
int proto_register_protocol_in_name_only(const char *name, const char *short_name, const char *filter_name, int parent,
                                         enum ftenum type) {
    assert_int_equal(parent, PARENT);
    return NAME;
}

dissector_handle_t create_dissector_handle(dissector_t dissector, const int proto) {
    assert_int_equal(proto, NAME);
    on_frame = dissector;
    return NULL;
}

void register_postdissector(dissector_handle_t handle) {}

void register_postseq_cleanup_routine(void (*routine)(void)) {
    on_end = routine;
}

static int64_t delta_s(const frame_data *frame) {
    uint32_t before = frame->num - 1;
    return before != 0 && before <= known ? (int64_t)(frame->abs_ts.secs - frames[before - 1].abs_ts.secs) : 0;
}

gint frame_data_compare(const struct epan_session *session, const frame_data *a, const frame_data *b, int column) {
    assert_int_equal(column, COL_DELTA_TIME);
    return delta_s(a) < delta_s(b) ? -1 : delta_s(a) > delta_s(b) ? 1 : a->num < b->num ? -1 : a->num > b->num;
}

static void dissect(uint32_t number) {
    frame_data *frame = &frames[number - 1];
    packet_info pinfo = {.fd = frame, .num = number};
    frame->num = number;
    on_frame(NULL, &pinfo, NULL, NULL);
    frame->visited = 1;
}

static void read_frames(uint32_t first, uint32_t last) {
    for (uint32_t i = first; i <= last; i++) {
        known = i;
        frames[i - 1].visited = 0;
        dissect(i);
    }
}

static void read_file(uint32_t count) {
    read_frames(1, count);
    on_end();
}

/* Of all frames, only then does the window show any. */
static void dissect_again(void) {
    for (uint32_t i = 1; i <= known; i++) {
        frames[i - 1].visited = 0;
    }
    for (uint32_t i = 1; i <= known; i++) {
        dissect(i);
    }
}

static int start(void **state) {
    uerudp_capture_end_register(PARENT);
    return 0;
}

static void test_is_kept_when_all_is_dissected_again(void **state) {
    for (uint32_t count = 1; count <= 5; count++) {
        read_file(count);
        assert_true(uerudp_capture_end_was_reached());
        dissect(1); /* is shown */
        assert_true(uerudp_capture_end_was_reached());
        dissect_again();
        assert_true(uerudp_capture_end_was_reached());
        dissect_again();
        assert_true(uerudp_capture_end_was_reached());
    }
}

/* The first frame is equal, and at the same address. */
static void test_file_is_read_again_after_it_grew(void **state) {
    read_file(3);
    read_frames(1, 2);
    assert_false(uerudp_capture_end_was_reached());
    read_frames(3, 5);
    assert_false(uerudp_capture_end_was_reached());
    on_end();
    assert_true(uerudp_capture_end_was_reached());
}

/* While its only frame is dissected, it is no other file yet. */
static void test_file_of_one_frame_grew(void **state) {
    read_file(1);
    read_frames(1, 2);
    assert_false(uerudp_capture_end_was_reached());
}

static void test_live_capture_has_no_end_while_it_is_dissected_again(void **state) {
    read_file(4);
    read_frames(1, 4);
    dissect_again();
    assert_false(uerudp_capture_end_was_reached());
    read_frames(5, 6);
    assert_false(uerudp_capture_end_was_reached());
    on_end();
    dissect_again();
    assert_true(uerudp_capture_end_was_reached());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_kept_when_all_is_dissected_again),
        cmocka_unit_test(test_file_is_read_again_after_it_grew),
        cmocka_unit_test(test_file_of_one_frame_grew),
        cmocka_unit_test(test_live_capture_has_no_end_while_it_is_dissected_again),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
