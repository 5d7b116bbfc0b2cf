/* SPDX-License-Identifier: MIT */
/* Replays on a known port: what the observer reports of them, how they are found without a setting, and what is no
   replay (protocol.md 14, 17.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "tests/observe/observer_fixture.h"

#define ENOUGH 16
#define DATAGRAMS 100
#define CHANNELS 3u
#define SIZE_BYTES_MAX 40u

static const struct ue_settings internal_ack = {.internal_ack = true};

/* Packets of a replay: in each, a bunch of one of a few channels, the first of which opens it. */
struct replay {
    struct ue_context x;
    unsigned sent;
    unsigned sizes; /* different numbers of data bytes */
};

static struct replay replay_of(const char *release) {
    struct replay replay = {.sizes = SIZE_BYTES_MAX};
    ue_context_init(&replay.x, ue_profile_find(release), &internal_ack);
    return replay;
}

static size_t replay_packet(struct replay *replay, uint8_t *bytes) {
    uint8_t data[SIZE_BYTES_MAX];
    bool has_name = replay->x.profile.packet != UE_PACKET_LEGACY;
    bool opens = replay->sent < CHANNELS;
    struct ue_item item = {.bunch = {.control = opens,
                                     .open = opens,
                                     .reliable = true,
                                     .channel = 2 + replay->sent % CHANNELS,
                                     .ch_type = has_name ? 0 : UE_CHANNEL_ACTOR,
                                     .has_name = has_name}};
    if (has_name) {
        item.bunch.name = (struct ue_name){.hardcoded = true, .index = UE_NAME_ACTOR};
    }
    memset(data, 0x5a, sizeof data);
    item.bunch.data = (struct ue_view){data, 0, 8 * (size_t)(1 + replay->sent * 7 % replay->sizes)};
    struct ue_datagram d = {.items = &item, .item_count = 1};
    struct ue_fault fault;
    size_t size;
    assert_int_equal(ue_datagram_encode(&replay->x, &d, bytes, PACKET_BYTES, &size, &fault), UE_OK);
    replay->sent++;
    return size;
}

static bool feed_replay(struct observer_fixture *f, struct replay *replay) {
    return observer_fixture_feed(f, 0, 1, f->bytes, replay_packet(replay, f->bytes));
}

static bool is_replay(const struct observer_fixture *f) {
    return f->record.connection->detection.settings.internal_ack;
}

/* ---- events ---- */

struct events {
    int64_t packets; /* their ids are counted from 0 on */
    int64_t reliable[2 + CHANNELS];
    unsigned opened;
};

static void on_event(void *user, const struct ue_observed_event *event) {
    struct events *events = user;
    switch (event->type) {
    case UE_OBSERVED_PACKET: assert_int_equal(event->packet_id, events->packets++); break;
    case UE_OBSERVED_BUNCH:
        assert_int_equal(event->bunch.reliable_id, events->reliable[event->bunch.decoded->channel]++);
        assert_int_equal(event->bunch.copy, 1);
        assert_false(event->bunch.is_gap);
        break;
    case UE_OBSERVED_CHANNEL_OPENED: events->opened++; break;
    default: fail_msg("event %d in a replay", (int)event->type);
    }
}

static void drain(struct observer_fixture *f, struct events *events) {
    const struct ue_observer_callbacks callbacks = {.event = on_event, .user = events};
    for (const struct ue_observed_datagram *datagram; (datagram = ue_observer_next(f->observer)) != NULL;) {
        assert_true(ue_observer_track(f->observer, datagram, &callbacks));
    }
}

/* Each packet and each reliable bunch counts once; nothing is acknowledged, lost or sent again. */
static void check_events(const char *release, const struct ue_settings *settings) {
    struct observer_fixture f;
    struct replay replay = replay_of(release);
    struct events events = {.packets = 0};
    uint8_t bytes[DATAGRAMS][PACKET_BYTES]; /* a datagram that waits is read when it is returned */
    observer_fixture_begin_with(&f, &(const struct ue_observer_options){.settings = settings}, SIZE_MAX);
    for (unsigned n = 0; n < DATAGRAMS; n++) {
        size_t size = replay_packet(&replay, bytes[n]);
        assert_true(observer_fixture_feed(&f, 0, 1, bytes[n], size));
        drain(&f, &events);
    }
    ue_observer_flush(f.observer);
    drain(&f, &events);
    assert_true(is_replay(&f));
    assert_true(is_candidate(&f.record.connection->detection.result, release));
    assert_int_equal(events.packets, DATAGRAMS);
    assert_int_equal(events.opened, CHANNELS);
    assert_int_equal(events.reliable[2] + events.reliable[3] + events.reliable[4], DATAGRAMS);
    observer_fixture_end(&f);
}

static void each_packet_counts_once(void **state) {
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        check_events(ue_profile_at(row)->name, &internal_ack);
    }
}

static void each_generation_is_found_without_setting(void **state) {
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        check_events(ue_profile_at(row)->name, NULL);
    }
}

/* ---- what is no replay ---- */

static void few_datagrams_are_no_replay(void **state) {
    struct observer_fixture f;
    struct replay replay = replay_of(RELEASE);
    observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
    for (unsigned n = 1; n <= ENOUGH; n++) {
        feed_replay(&f, &replay);
        assert_int_equal(is_replay(&f), n == ENOUGH);
    }
    observer_fixture_end(&f);
}

static void datagrams_of_few_sizes_are_no_replay(void **state) {
    for (unsigned sizes = 5; sizes <= 6; sizes++) {
        struct observer_fixture f;
        struct replay replay = replay_of(RELEASE);
        replay.sent = CHANNELS; /* the head of those that open a channel is longer */
        replay.sizes = sizes;
        observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
        for (unsigned n = 0; n < DATAGRAMS; n++) {
            feed_replay(&f, &replay);
        }
        assert_int_equal(is_replay(&f), sizes == 6);
        observer_fixture_end(&f);
    }
}

/* At any place among the datagrams that would suffice: an answer, a handshake message, or other content. */
static void other_datagrams_exclude_a_replay(void **state) {
    static const uint8_t other[] = "another protocol";
    for (unsigned place = 0; place < ENOUGH; place++) {
        for (unsigned kind = 0; kind < 3; kind++) {
            struct observer_fixture f;
            struct traffic t;
            struct replay replay = replay_of(RELEASE), answer = replay_of(RELEASE);
            observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
            traffic_init(&t, RELEASE, STOCK, 1);
            for (unsigned n = 0; n < DATAGRAMS; n++) {
                if (n == place && kind == 0) {
                    observer_fixture_feed(&f, 1, 0, f.bytes, replay_packet(&answer, f.bytes));
                } else if (n == place && kind == 1) {
                    observer_fixture_handshake(&f, &t, 1, UE_HANDSHAKE_CHALLENGE, cookie_a);
                } else if (n == place) {
                    observer_fixture_feed(&f, 0, 1, other, sizeof other);
                }
                feed_replay(&f, &replay);
            }
            assert_false(is_replay(&f));
            observer_fixture_end(&f);
        }
    }
}

/* The packets of one side of a game, also of one with bounds or a magic header that the settings lack. */
static void one_side_of_a_game_is_no_replay(void **state) {
    static const struct ue_settings settings[] = {
        {0}, {.max_packet_bytes = 2048}, {.ch_seq_bound = 4096}, {.magic_bits = 8, .magic = 0x5a}};
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
            for (unsigned side = 0; side < 2; side++) {
                struct observer_fixture f;
                struct traffic t;
                observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
                traffic_init(&t, ue_profile_at(row)->name, &settings[i], row + 1);
                for (unsigned n = 0; n < DATAGRAMS; n++) {
                    observer_fixture_packet(&f, &t, side, 1);
                }
                assert_false(is_replay(&f));
                observer_fixture_end(&f);
            }
        }
    }
}

/* On an unknown port nobody says that it is this protocol at all. */
static void unknown_ports_are_left_alone(void **state) {
    struct observer_fixture f;
    struct replay replay = replay_of(RELEASE);
    observer_fixture_begin(&f, UE_OBSERVER_BY_CONNECTION);
    f.is_ours = false;
    for (unsigned n = 0; n < DATAGRAMS; n++) {
        assert_false(feed_replay(&f, &replay));
    }
    observer_fixture_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_packet_counts_once),          cmocka_unit_test(each_generation_is_found_without_setting),
        cmocka_unit_test(few_datagrams_are_no_replay),      cmocka_unit_test(datagrams_of_few_sizes_are_no_replay),
        cmocka_unit_test(other_datagrams_exclude_a_replay), cmocka_unit_test(one_side_of_a_game_is_no_replay),
        cmocka_unit_test(unknown_ports_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
