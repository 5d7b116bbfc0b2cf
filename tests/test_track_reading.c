/* SPDX-License-Identifier: MIT */
/* What the tracker read is handed out as a whole, or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/track_stage.h"

static struct track_stage stage;

static int begin(void **state) {
    (void)state;
    stage_begin(&stage, "5.1", SIZE_MAX / 2);
    return 0;
}

static int end(void **state) {
    (void)state;
    stage_end(&stage);
    return 0;
}

static void expect_read(size_t count) {
    assert_true(stage.reading.is_whole);
    assert_int_equal(stage.reading.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(stage.reading.items[i].bunch.channel, i + 1);
    }
}

static void feed_bunches(int64_t id, size_t count) {
    for (size_t i = 0; i < count; i++) {
        stage_bunch(&stage, (uint32_t)(i + 1));
    }
    stage_packet(&stage, CLIENT, id, 0, 0);
}

static void all_items_are_handed_out_or_none(void **state) {
    (void)state;
    feed_bunches(100, 3);
    expect_read(3);
    feed_bunches(101, 0);
    expect_read(0);
    feed_bunches(102, UE_TRACK_ITEMS_MAX);
    expect_read(UE_TRACK_ITEMS_MAX);
    feed_bunches(103, UE_TRACK_ITEMS_MAX + 1);
    assert_false(stage.reading.is_whole);
}

static void what_was_not_read_is_not_handed_out(void **state) {
    (void)state;
    static const uint8_t empty[1];
    const struct ue_links links = {0};
    feed_bunches(100, 2);
    feed_bunches(100, 2); /* seen before */
    assert_false(stage.reading.is_whole);
    feed_bunches(101, 2);
    stage_feed(&stage, CLIENT, &links, empty, sizeof empty);
    assert_false(stage.reading.is_whole);
    feed_bunches(102, 2);
    stage_handshake(&stage, CLIENT, UE_HANDSHAKE_INITIAL, false, 0, 0);
    assert_false(stage.reading.is_whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_items_are_handed_out_or_none, begin, end),
        cmocka_unit_test_setup_teardown(what_was_not_read_is_not_handed_out, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
