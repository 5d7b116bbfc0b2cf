/* SPDX-License-Identifier: MIT */
/* Trackers by stream, and freeing trackers when they exceed the memory limit together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tools/observe/tracker_table.h"

#define STREAMS 50

static void on_event(void *user, const struct ue_tracker_event *event) {
    (void)event;
    ++*(uint64_t *)user;
}

/* A keep-alive of the client. */
static const struct ue_tracker *feed_at(struct tracker_table *tracks, struct observe_connection *connection,
                                        int64_t time_ns, int64_t id, bool is_foreign, bool is_cut) {
    static uint64_t events;
    const struct ue_tracker_callbacks sink = {.event = on_event, .user = &events};
    struct observe_datagram held = {
        .time_ns = time_ns, .connection = connection, .link.packet_ids = {.has_id = true, .packet_id = id}};
    struct input_datagram seen = {.held = &held, .connection = connection, .is_foreign = is_foreign, .is_cut = is_cut};
    struct ue_datagram datagram = {.packet = {.seq = (uint16_t)(id & 16383), .history_words = 1}};
    struct ue_fault fault;
    uint8_t bytes[64];
    ue_context_init(&seen.context, ue_profile_find("5.1"), NULL);
    seen.context.direction = UE_CLIENT_TO_SERVER;
    assert_int_equal(ue_datagram_encode(&seen.context, &datagram, bytes, sizeof bytes, &seen.size_bytes, &fault),
                     UE_OK);
    seen.bytes = bytes;
    return tracker_table_on_datagram(tracks, &seen, &sink);
}

static const struct ue_tracker *feed(struct tracker_table *tracks, uint32_t stream, int64_t id, bool is_foreign,
                                     bool is_cut) {
    struct observe_connection connection = {.stream = stream};
    return feed_at(tracks, &connection, 0, id, is_foreign, is_cut);
}

static uint64_t packets(const struct ue_tracker *track) {
    return ue_tracker_counts(track, 0)->packets;
}

static void each_stream_has_its_own(void **state) {
    (void)state;
    struct tracker_table *tracks = tracker_table_new();
    for (int64_t id = 0; id < 3; id++) {
        for (uint32_t stream = 0; stream < STREAMS; stream++) {
            assert_int_equal(packets(feed(tracks, stream, id, false, false)), id + 1);
        }
    }
    tracker_table_free(tracks);
}

static void foreign_and_cut_datagrams_are_left_out(void **state) {
    (void)state;
    struct tracker_table *tracks = tracker_table_new();
    assert_null(feed(tracks, 0, 1, true, false));
    assert_null(feed(tracks, 0, 1, false, true));
    assert_int_equal(packets(feed(tracks, 0, 1, false, false)), 1);
    tracker_table_free(tracks);
}

static void the_longest_unused_trackers_are_freed(void **state) {
    (void)state;
    struct tracker_table *tracks = tracker_table_new();
    size_t bytes = ue_tracker_bytes(feed(tracks, 0, 1, false, false));
    tracker_table_set_limit(tracks, 3 * bytes);
    feed(tracks, 1, 1, false, false);
    feed(tracks, 2, 1, false, false);
    assert_int_equal(packets(feed(tracks, 0, 2, false, false)), 2); /* now 1 is the oldest */
    feed(tracks, 3, 1, false, false);
    assert_int_equal(packets(feed(tracks, 0, 3, false, false)), 3);
    assert_int_equal(packets(feed(tracks, 2, 2, false, false)), 2);
    assert_int_equal(packets(feed(tracks, 1, 2, false, false)), 1); /* a new tracker */
    tracker_table_free(tracks);
}

/* The tracker in use is not freed, whatever its size. */
static void the_tracker_in_use_may_exceed_the_limit(void **state) {
    (void)state;
    struct tracker_table *tracks = tracker_table_new();
    tracker_table_set_limit(tracks, 1);
    for (int64_t id = 0; id < 100; id++) {
        assert_int_equal(packets(feed(tracks, 0, id, false, false)), id + 1);
    }
    assert_int_equal(packets(feed(tracks, 1, 0, false, false)), 1);
    assert_int_equal(packets(feed(tracks, 0, 100, false, false)), 1);
    tracker_table_free(tracks);
}

static void trackers_of_ended_connections_are_freed(void **state) {
    (void)state;
    struct tracker_table *tracks = tracker_table_new();
    struct observe_connection first = {.stream = 0};
    struct observe_connection second = {.stream = 1};
    struct observe_connection third = {.stream = 2, .has_former = true, .former = 1};
    feed_at(tracks, &first, 0, 1, false, false);
    feed_at(tracks, &second, TRACKER_TABLE_SILENT_NS, 1, false, false);
    assert_int_equal(packets(feed_at(tracks, &first, TRACKER_TABLE_SILENT_NS, 2, false, false)), 2);
    feed_at(tracks, &second, 2 * TRACKER_TABLE_SILENT_NS + 1, 2, false, false);
    assert_int_equal(packets(feed_at(tracks, &first, 2 * TRACKER_TABLE_SILENT_NS + 1, 3, false, false)), 1);
    assert_int_equal(packets(feed_at(tracks, &second, 2 * TRACKER_TABLE_SILENT_NS + 1, 3, false, false)), 3);
    feed_at(tracks, &third, 2 * TRACKER_TABLE_SILENT_NS + 1, 1, false, false);
    assert_int_equal(packets(feed_at(tracks, &second, 2 * TRACKER_TABLE_SILENT_NS + 1, 4, false, false)), 1);
    tracker_table_free(tracks);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_stream_has_its_own),
        cmocka_unit_test(foreign_and_cut_datagrams_are_left_out),
        cmocka_unit_test(the_longest_unused_trackers_are_freed),
        cmocka_unit_test(the_tracker_in_use_may_exceed_the_limit),
        cmocka_unit_test(trackers_of_ended_connections_are_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
