/* SPDX-License-Identifier: MIT */
/* Messages of real engines: each decodes to its last bit, and the number of actor spawns and blocks is that of an
   independent decoder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include <uerudp/datagram.h>
#include <uerudp/guid_map.h>
#include <uerudp/reassembly.h>
#include "tests/support/content_tally.h"
#include "tests/support/guarded.h"
#include "tests/support/heap.h"
#include "tests/support/recordings.h"
#include "tools/input/capture_reader.h"

#define PACKET_BYTES_MAX 2048
#define ITEMS_MAX 64

static json_t *load(const char *name) {
    char path[RECORDING_PATH_BYTES];
    assert_true(recording_path(path, name, ""));
    return json_load_file(path, 0, NULL);
}

static struct ue_content content_of(const struct ue_bunch *bunch) {
    return (struct ue_content){.kind = UE_CONTENT_ACTOR,
                               .open = bunch->open,
                               .close = bunch->close,
                               .has_exports = bunch->has_exports,
                               .has_mapped = bunch->has_mapped,
                               .data = bunch->data};
}

/* A replay has only actor channels, without fragments. */
static struct content_tally tally_replay(const char *name, uint8_t netver) {
    struct content_tally tally = {0};
    const struct ue_settings settings = {.internal_ack = true, .netver = netver};
    struct ue_context x;
    json_t *replay = load(name);
    size_t n;
    const json_t *packet;
    ue_context_init(&x, ue_profile_find("4.22"), &settings);
    x.direction = UE_SERVER_TO_CLIENT;
    json_array_foreach(json_object_get(replay, "packets"), n, packet) {
        uint8_t bytes[PACKET_BYTES_MAX];
        struct ue_item items[ITEMS_MAX];
        struct ue_datagram datagram = {.items = items, .item_capacity = ITEMS_MAX};
        struct ue_decode_result result;
        size_t size = hex_read(json_string_value(json_object_get(packet, "hex")), bytes, sizeof bytes);
        assert_int_equal(ue_datagram_decode(&x, bytes, size, &datagram, NULL, &result), UE_OK);
        for (size_t i = 0; i < datagram.item_count; i++) {
            struct ue_content content = content_of(&items[i].bunch);
            content_tally_add(&tally, &x, &content, NULL);
        }
    }
    json_decref(replay);
    return tally;
}

static void print(const char *name, const struct content_tally *t) {
    printf("%s: %u messages, %u faults, %u opens, %u blocks, %u properties, %u fields; opaque %u, class data %u\n",
           name, t->messages, t->faults, t->groups[UE_GROUP_ACTOR], t->groups[UE_GROUP_BLOCK],
           t->groups[UE_GROUP_PROPERTY], t->groups[UE_GROUP_FIELD], t->fields[UE_F_CONTENT_OPAQUE],
           t->fields[UE_F_ACTOR_CLASS_DATA]);
}

static void assert_exact(const struct content_tally *t, unsigned opens, unsigned blocks) {
    assert_null(t->problem);
    assert_int_equal(t->faults, 0);
    assert_int_equal(t->fields[UE_F_CONTENT_OPAQUE], 0);
    assert_int_equal(t->groups[UE_GROUP_ACTOR], opens);
    assert_int_equal(t->groups[UE_GROUP_BLOCK], blocks);
}

static void test_shooter_game(void **state) {
    struct content_tally t = tally_replay("replay-shootergame-ue423.json", 11);
    print("ShooterGame 4.23", &t);
    assert_exact(&t, 36, 1076);
    assert_int_equal(t.fields[UE_F_ACTOR_CLASS_DATA], 1); /* the player controller */
}

static void test_fortnite(void **state) {
    struct content_tally t = tally_replay("replay-fortnite-demoframes.json", 13);
    print("Fortnite 11", &t);
    assert_exact(&t, 15, 149);
}

/* ---- captures ---- */

struct content_capture {
    struct content_tally tally;
    const struct input_datagram *seen;
};

static void on_event(void *user, const struct ue_observed_event *event) {
    struct content_capture *live = user;
    if (event->type == UE_OBSERVED_MESSAGE && event->message.content.data.bits != 0) {
        const struct input_datagram *seen = live->seen;
        const struct ue_guid_names names = ue_observer_names(seen->observer, seen->connection, seen->observed->frame);
        content_tally_add(&live->tally, &seen->context, &event->message.content, &names);
    }
}

static struct content_tally tally_capture(const char *name, const struct ue_settings *settings) {
    struct content_capture live = {.seen = NULL};
    const struct ue_observer_callbacks callbacks = {.event = on_event, .user = &live, .wants_messages = true};
    char file[RECORDING_PATH_BYTES], *path = file;
    assert_true(recording_path(file, name, ""));
    struct capture_reader reading;
    struct input_datagram seen;
    capture_reader_init(&reading, UE_OBSERVER_IN_CAPTURE_ORDER);
    assert_true(wire_options_resolve(&reading.wire));
    reading.wire.settings = *settings;
    capture_reader_start(&reading, 1, &path);
    while (capture_reader_next(&reading, &seen)) {
        live.seen = &seen;
        ue_observer_track(seen.observer, seen.observed, &callbacks);
    }
    capture_reader_clear(&reading);
    return live.tally;
}

/* A game whose ids have 128 bits. */
static void test_fixed_ids(void **state) {
    const struct ue_settings settings = {
        .magic_bits = 32, .max_packet_bytes = 1028, .extra_bits = 48, .guid_bits = 128};
    struct content_tally t = tally_capture("aoc-ue56-firebolt.pcap", &settings);
    print("5.6 with ids of 128 bits", &t);
    assert_exact(&t, 0, 45);
}

static void test_5_4(void **state) {
    struct content_tally t = tally_capture("supervive-ue54.pcap", &(struct ue_settings){0});
    print("5.4", &t);
    assert_exact(&t, 0, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed_ids),
        cmocka_unit_test(test_5_4),
        cmocka_unit_test(test_shooter_game),
        cmocka_unit_test(test_fortnite),
    };
    return !recordings_have_shared("content of real engines") ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
}
