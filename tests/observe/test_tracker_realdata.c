/* SPDX-License-Identifier: MIT */
/* The tracker with recordings of another implementation, whose recorder logged what both endpoints sent
   (NAME.sent.json): it must find the same acks, reliable bunches and retransmissions. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>
#include <jansson.h>

#include "tools/input/capture_reader.h"

#define FRAMES_MAX 2000
#define SEQ_MASK 16383

struct story {
    GHashTable *nacked[2];   /* packet ids, as text */
    GHashTable *reliable[2]; /* "channel reliable_id" of first transmissions */
    uint64_t resends[2];
    uint64_t packets;
    uint64_t resets;
    uint64_t wrong_frames;      /* acks that name another frame than the packet's */
    int64_t frames[FRAMES_MAX]; /* the packet id that each frame carried */
    unsigned sides[FRAMES_MAX];
};

static struct story emitted;
static struct ue_tracker_counts counts[2];

static void story_begin(struct story *story) {
    memset(story, 0, sizeof *story);
    for (unsigned side = 0; side < 2; side++) {
        story->nacked[side] = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        story->reliable[side] = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    }
}

static void story_end(struct story *story) {
    for (unsigned side = 0; side < 2; side++) {
        g_hash_table_unref(story->nacked[side]);
        g_hash_table_unref(story->reliable[side]);
    }
}

static void check_frame(struct story *story, const struct ue_observed_event *event) {
    uint64_t frame = event->ack.frame;
    bool right = frame != 0 && frame < event->frame && story->frames[frame] == event->ack.packet_id &&
                 story->sides[frame] != event->side;
    story->wrong_frames += !right;
}

static void on_tracker_event(void *user, const struct ue_observed_event *event) {
    struct story *story = user;
    unsigned side = event->side;
    assert_true(event->frame >= 1 && event->frame < FRAMES_MAX);
    switch (event->type) {
    case UE_OBSERVED_PACKET:
        story->frames[event->frame] = event->packet_id;
        story->sides[event->frame] = side;
        story->packets++;
        break;
    case UE_OBSERVED_NAK:
        assert_true(g_hash_table_add(story->nacked[!side], g_strdup_printf("%" PRId64, event->ack.packet_id)));
        check_frame(story, event);
        break;
    case UE_OBSERVED_ACK: check_frame(story, event); break;
    case UE_OBSERVED_BUNCH:
        if (event->bunch.copy == 1) {
            char *key =
                g_strdup_printf("%" PRIu32 " %" PRId64, event->bunch.decoded->channel, event->bunch.reliable_id);
            assert_true(g_hash_table_add(story->reliable[side], key));
        }
        story->resends[side] += event->bunch.copy > 1;
        assert_false(event->bunch.is_partial_error || event->bunch.is_gap || event->bunch.is_jump);
        break;
    case UE_OBSERVED_RESTARTED: story->resets++; break;
    default: break;
    }
}

static char *path_of(const char *name, const char *suffix) {
    return g_strdup_printf("captures/recordings/%s.%s", name, suffix);
}

static void track_capture(const char *name) {
    char *path = path_of(name, "pcap");
    const struct ue_observer_callbacks callbacks = {.event = on_tracker_event, .user = &emitted};
    struct capture_reader reading;
    struct input_datagram seen;
    capture_reader_init(&reading, UE_OBSERVER_IN_CAPTURE_ORDER);
    assert_true(wire_options_resolve(&reading.wire));
    capture_reader_start(&reading, 1, &path);
    while (capture_reader_next(&reading, &seen)) {
        assert_true(ue_observer_track(seen.observer, seen.observed, &callbacks));
        const struct ue_tracker *tracker = ue_observer_tracker(seen.connection);
        counts[0] = *ue_tracker_counts(tracker, 0);
        counts[1] = *ue_tracker_counts(tracker, 1);
    }
    capture_reader_clear(&reading);
    g_free(path);
}

/* ---- the log of the recorder ---- */

static json_t *load(const char *name, const char *suffix) {
    char *path = path_of(name, suffix);
    json_t *json = json_load_file(path, 0, NULL);
    assert_non_null(json);
    g_free(path);
    return json;
}

static bool is_text(const json_t *object, const char *key, const char *text) {
    return strcmp(json_string_value(json_object_get(object, key)), text) == 0;
}

static size_t check_nacked(const json_t *sent, unsigned side) {
    GHashTable *expected = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    size_t i;
    json_t *notice;
    json_array_foreach(json_object_get(sent, "delivery_notifications"), i, notice) {
        if (is_text(notice, "side", side == 0 ? "client" : "server") && json_is_false(json_object_get(notice, "ack"))) {
            json_int_t id = json_integer_value(json_object_get(notice, "packet_id"));
            g_hash_table_add(expected, g_strdup_printf("%" JSON_INTEGER_FORMAT, id));
        }
    }
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, expected);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        assert_true(g_hash_table_contains(emitted.nacked[side], key));
    }
    size_t count = g_hash_table_size(expected);
    assert_int_equal(g_hash_table_size(emitted.nacked[side]), count);
    assert_int_equal(counts[side].nacked, count);
    g_hash_table_unref(expected);
    return count;
}

/* Reliable bunches that the endpoint sent; each must be found. */
static size_t check_reliable(const json_t *sent, unsigned side) {
    size_t count = 0, i, j;
    json_t *message, *ch_seq;
    json_array_foreach(json_object_get(sent, "sent"), i, message) {
        bool is_reliable = json_integer_value(json_object_get(message, "reliable")) != 0;
        if (!is_reliable || !is_text(message, "dir", side == 0 ? "C2S" : "S2C")) {
            continue;
        }
        json_array_foreach(json_object_get(message, "ch_sequence"), j, ch_seq) {
            char *key = g_strdup_printf("%" JSON_INTEGER_FORMAT " %" JSON_INTEGER_FORMAT,
                                        json_integer_value(json_object_get(message, "ch")), json_integer_value(ch_seq));
            assert_true(g_hash_table_contains(emitted.reliable[side], key));
            g_free(key);
            count++;
        }
    }
    assert_int_equal(g_hash_table_size(emitted.reliable[side]), count);
    assert_int_equal(counts[side].reliable, count);
    return count;
}

/* Reliable bunches on the wire, as an independent decoder counted them. */
static size_t count_wire(const json_t *decoded, unsigned side) {
    size_t count = 0, i, j;
    json_t *frame, *bunch;
    json_array_foreach(json_object_get(decoded, "frames"), i, frame) {
        if (is_text(frame, "dir", side == 0 ? "C2S" : "S2C")) {
            json_array_foreach(json_object_get(frame, "bunches"), j, bunch) {
                count += json_integer_value(json_object_get(bunch, "reliable")) != 0;
            }
        }
    }
    return count;
}

static void check_capture(const char *name, size_t client_nacked, size_t server_nacked, unsigned resets) {
    json_t *sent = load(name, "sent.json");
    json_t *decoded = load(name, "expected.json");
    story_begin(&emitted);
    track_capture(name);
    assert_int_equal(check_nacked(sent, 0), client_nacked);
    assert_int_equal(check_nacked(sent, 1), server_nacked);
    assert_int_equal(emitted.wrong_frames, 0);
    assert_int_equal(emitted.resets, resets);
    for (unsigned side = 0; side < 2; side++) {
        size_t resends = count_wire(decoded, side) - check_reliable(sent, side);
        assert_int_equal(emitted.resends[side], resends);
        assert_int_equal(counts[side].resends, resends);
        assert_int_equal(counts[side].missing + counts[side].late + counts[side].duplicates + counts[side].untracked,
                         0);
    }
    story_end(&emitted);
    json_decref(sent);
    json_decref(decoded);
}

static void test_loss(void **state) {
    check_capture("utcp-loss", 40, 44, 0);
}

static void test_legacy_loss(void **state) {
    check_capture("utcp-ue418-loss", 61, 75, 0);
}

static void test_restart(void **state) {
    check_capture("utcp-orig-restart", 1, 0, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loss),
        cmocka_unit_test(test_legacy_loss),
        cmocka_unit_test(test_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
